"""Every property can be broken: each has a history by hand that breaks it, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.krafla.fuzz.quorum.by_hand import (
    A,
    B,
    C,
    D,
    E,
    Hand,
    candidate,
    change,
    committed,
    data,
    file,
    follower,
    leader,
    prospective,
    snapshot,
    unattached,
    voters,
    voters_batch,
)

from krafla.fuzz.quorum.checks import PROPERTIES
from kraft.errors import ErrorCode
from kraft.ids import OffsetAndEpoch
from kraft.log.image import LogImage
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    Fatal,
    FlushLog,
    HandleCommit,
    HandleLeaderChange,
    HandleLoadSnapshot,
    SendRequest,
    SendResponse,
    TruncateLog,
    TruncateToSnapshot,
    WriteSnapshot,
)
from kraft.raft.events import RequestReceived, Source
from kraft.raft.roles import Resigned
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest
from kraft.rpc.vote import VoteRequest, VoteResponse
from kraft.sim.quorum.workload import Acknowledged

HISTORIES = {}


def breaks(name):
    """The decorated history breaks this property; several histories may break one."""

    def note(history):
        HISTORIES[history.__name__] = (name, history)
        return history

    return note


def vote_request(by, epoch, end=(0, 0), pre_vote=False):
    return VoteRequest("c", B.node_id, None, epoch, by.node_id, None, end[1], end[0], pre_vote)


def asked(request):
    return RequestReceived(0, 0, Source(A.node_id, 0), request)


@breaks("ElectionSafetyInv")
def two_replicas_of_an_epoch_know_two_leaders():
    hand = committed()
    hand.event(D, file(1, B), role=follower(1, B))
    return hand


@breaks("OneLeaderPerEpochInv")
def a_leader_takes_the_lead_of_its_epoch_again():
    hand = committed()
    hand.states[A] = replace(hand.states[A], role=candidate(1, A))
    hand.event(A, file(1, A), role=leader(1, A))
    return hand


@breaks("OneLeaderPerEpochInv")
def an_epoch_begins_twice():
    hand = committed()
    batch = change(2, 1, A)
    hand.event(A, AppendLog((batch,)), role=replace(leader(1, A), must_flush=True))
    return hand


@breaks("VoteOncePerEpochProp")
def a_voter_votes_for_two():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.event(B, file(1, None, C), role=unattached(1, C))
    return hand


@breaks("VoteOncePerEpochProp")
def a_voter_votes_for_two_with_an_epoch_in_between():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.checks.history.replica(B).file = hand.checks.history.replica(C).file
    hand.event(B, file(1, None, C), role=unattached(1, C))
    return hand


@breaks("VoteOncePerEpochProp")
def a_voter_votes_in_an_epoch_whose_leader_it_knows():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.event(B, file(1, A, C), role=follower(1, A, C))
    return hand


@breaks("VoteOncePerEpochProp")
def a_prospective_voter_drops_its_vote():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.event(B, file(1), role=unattached(1))
    return hand


@breaks("VoteOncePerEpochProp")
def a_start_forgets_a_vote():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.start(B, unattached(1))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_vote_is_sent_before_it_is_written():
    hand = Hand()
    answer = SendResponse(Source(A.node_id, 0), VoteResponse(ErrorCode.NONE, 1, None, True))
    written = file(1, None, A)
    event = asked(vote_request(A, 1))
    hand.event(B, answer, written, event=event, role=unattached(1, A))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_vote_is_sent_and_another_is_written():
    hand = Hand()
    answer = SendResponse(Source(A.node_id, 0), VoteResponse(ErrorCode.NONE, 1, None, True))
    event = asked(vote_request(A, 1))
    hand.event(B, file(1, None, C), answer, event=event, role=unattached(1, C))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def an_epoch_is_told_before_it_is_written():
    hand = Hand()
    answer = SendResponse(Source(A.node_id, 0), VoteResponse(ErrorCode.NONE, 1, None, False))
    hand.event(B, answer, file(1), event=asked(vote_request(A, 1)), role=unattached(1))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_candidate_asks_before_its_own_vote_is_written():
    hand = Hand()
    hand.event(B, role=prospective(0, B))
    asks = SendRequest(A.node_id, 0, vote_request(B, 1))
    hand.event(B, asks, file(1, None, B), role=candidate(1, B))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_leader_says_so_before_it_is_written():
    hand = Hand()
    hand.event(A, role=prospective(0, A))
    hand.event(A, file(1, None, A), role=candidate(1, A))
    says = SendRequest(
        B.node_id, 0, BeginQuorumEpochRequest("c", B.node_id, None, 1, A.node_id, ())
    )
    hand.event(A, says, file(1, A), role=leader(1, A))
    return hand


@breaks("VoteWrittenBeforeAnsweredInv")
def a_follower_fetches_in_an_epoch_that_it_has_not_written():
    hand = Hand()
    asks = SendRequest(A.node_id, 0, FetchRequest("c", B.node_id, None, 1, 0, 0))
    hand.event(B, asks, file(1, A), role=follower(1, A))
    return hand


@breaks("LeaderCompletenessInv")
def a_candidate_boasts_of_a_longer_log():
    hand = Hand()
    hand.event(B, role=prospective(0, B))
    asks = SendRequest(A.node_id, 0, vote_request(B, 1, (5, 0)))
    hand.event(B, file(1, None, B), asks, role=candidate(1, B))
    return hand


@breaks("RoleMatchesStateInv")
def a_role_is_taken_that_is_not_in_the_file():
    hand = Hand()
    hand.event(B, role=unattached(1))
    return hand


@breaks("RoleMatchesStateInv")
def a_follower_follows_itself():
    hand = Hand()
    hand.event(B, file(1, B), role=follower(1, B))
    return hand


@breaks("OnlyVotersStandInv")
def an_observer_stands():
    hand = Hand()
    hand.event(D, role=prospective(0, D))
    return hand


@breaks("MonotonicEpochProp")
def an_epoch_goes_back():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    hand.event(B, file(1), role=unattached(1))
    return hand


@breaks("MonotonicEpochProp")
def a_start_forgets_the_epoch():
    hand = Hand()
    hand.event(B, file(2), role=unattached(2))
    hand.start(B, unattached(0))
    return hand


@breaks("LeaderRememberedProp")
def a_leader_is_forgotten():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.event(B, file(1), role=unattached(1))
    return hand


@breaks("LeaderRememberedProp")
def a_start_forgets_the_leader():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.start(B, unattached(1))
    return hand


@breaks("StateTransitionsProp")
def a_follower_becomes_a_candidate_without_asking():
    hand = Hand()
    hand.event(B, file(1, A), role=follower(1, A))
    hand.event(B, file(2, None, B), role=candidate(2, B))
    return hand


@breaks("RestartProp")
def a_leader_starts_as_a_leader():
    hand = committed()
    hand.start(A, leader(1, A), hand.states[A].log)
    return hand


@breaks("RestartProp")
def a_leader_starts_unattached():
    hand = committed()
    hand.start(A, unattached(1, leader_id=A.node_id), hand.states[A].log)
    return hand


@breaks("RestartProp")
def a_candidate_starts_without_standing():
    hand = Hand()
    hand.event(B, role=prospective(0, B))
    hand.event(B, file(1, None, B), role=candidate(1, B))
    hand.start(B, unattached(1, B))
    return hand


@breaks("NoIllegalStateInv")
def a_replica_must_end():
    hand = committed()
    hand.event(B, Fatal("two leaders"))
    return hand


@breaks("OneRequestPerConnectionInv")
def a_correlation_id_is_used_twice():
    hand = committed()
    asks = SendRequest(A.node_id, 3, FetchRequest("c", B.node_id, None, 1, 2, 1))
    hand.event(B, asks)
    hand.event(B, asks)
    return hand


@breaks("LogMatchingInv")
def two_batches_of_one_epoch_stand_at_one_offset():
    hand = committed()
    hand.append(A, b"two")
    hand.event(B, AppendLog((data(2, 1, b"another"),)), FlushLog())
    return hand


@breaks("EpochsAscendInv")
def an_older_epoch_follows_a_newer_one():
    hand = Hand()
    hand.elect(A, 2, B)
    hand.event(A, file(3, None, A), log=hand.states[A].log, role=unattached(3, A))
    hand.event(A, AppendLog((data(1, 1),)), log=hand.states[A].log)
    return hand


@breaks("EpochsAscendInv")
def a_record_is_newer_than_its_replicas_epoch():
    hand = Hand()
    hand.elect(A, 2, B)
    hand.event(C, file(1, B), role=follower(1, B))
    hand.event(C, AppendLog((change(0, 2, A),)), FlushLog())
    return hand


@breaks("PermittedLogChangesProp")
def a_batch_leaves_a_gap():
    hand = committed()
    hand.event(A, AppendLog((data(5, 1),)), log=hand.states[A].log)
    return hand


@breaks("PermittedLogChangesProp")
def a_follower_writes_what_no_leader_wrote():
    hand = committed()
    hand.event(B, AppendLog((data(2, 1),)), FlushLog())
    return hand


@breaks("PermittedLogChangesProp")
def a_leader_appends_to_an_old_epoch():
    hand = committed()
    hand.elect(A, 3, C)
    batch = data(3, 1)
    hand.checks.history.replica(A).last_epoch = 1
    hand.event(A, AppendLog((batch,)), log=hand.states[A].log)
    return hand


@breaks("PermittedLogChangesProp")
def memory_and_disk_have_different_logs():
    hand = committed()
    hand.event(B, log=LogImage())
    return hand


@breaks("OnlyLeaderOwesFlushInv")
def a_follower_does_not_flush():
    hand = committed()
    hand.append(A, b"two")
    hand.event(B, AppendLog(hand.states[A].log.read(2, 2**20)))
    return hand


@breaks("OnlyLeaderOwesFlushInv")
def a_fetch_acknowledges_what_is_not_flushed():
    hand = committed()
    hand.append(A, b"two")
    asks = SendRequest(A.node_id, 0, FetchRequest("c", B.node_id, None, 1, 3, 1))
    hand.event(B, AppendLog(hand.states[A].log.read(2, 2**20)), asks, FlushLog())
    return hand


@breaks("NotedIsDurableInv")
def a_leader_notes_more_than_the_other_has():
    hand = committed()
    hand.append(A, b"two")
    hand.note(A, 2, b=3)
    return hand


@breaks("NotedIsDurableInv")
def a_leader_notes_a_log_that_is_not_its_own():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.append(A, b"lost")
    hand.elect(B, 2, C)
    hand.append(B, b"kept")
    hand.follow(A, B, 2)
    hand.note(B, None, a=2)
    return hand


@breaks("LeaderAppendOnlyProp")
def a_leader_cuts_its_log():
    hand = committed()
    hand.event(A, TruncateLog(1))
    return hand


@breaks("StateMachineSafetyInv")
def a_follower_takes_a_record_for_committed_that_is_not():
    hand = committed()
    hand.elect(C, 2, B)
    hand.event(C, AppendLog((data(3, 2),)), role=replace(leader(2, C, 2), must_flush=True))
    hand.event(C, FlushLog(), role=leader(2, C, 2))
    hand.follow(B, C, 2)
    hand.copy(B, C, 4)
    return hand


@breaks("StateMachineSafetyInv")
def a_replica_commits_another_record():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.append(A, b"lost")
    hand.elect(B, 2, C)
    hand.append(B, b"kept")
    hand.follow(C, B, 2)
    hand.copy(C, B)
    hand.note(B, 2, c=2)
    hand.event(A, file(2), role=unattached(2))
    hand.event(A, high_watermark=2)
    return hand


@breaks("StateMachineSafetyInv")
def an_answer_tells_more_than_the_leader_knows():
    hand = committed()
    answer = FetchResponse(ErrorCode.NONE, 1, A.node_id, 3)
    hand.event(A, SendResponse(Source(B.node_id, 0), answer))
    return hand


@breaks("LeaderCompletenessInv")
def a_leader_lacks_what_is_committed():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.follow(B, A, 1)
    hand.append(A)
    hand.copy(B, A)
    hand.note(A, 2, b=2)
    hand.elect(C, 2, B)
    return hand


@breaks("LeaderCompletenessInv")
def a_leader_has_another_record_where_one_is_committed():
    hand = Hand()
    hand.elect(C, 1, B)
    hand.append(C, b"lost")
    hand.append(C, b"lost, too")
    hand.elect(A, 2, B)
    hand.append(A)
    hand.follow(B, A, 2)
    hand.copy(B, A)
    hand.note(A, 2, b=2)
    hand.event(C, file(2), role=unattached(2))
    hand.elect(C, 3)
    return hand


@breaks("CommittedOnMajorityInv")
def a_leader_commits_what_it_has_alone():
    hand = committed()
    hand.append(A)
    hand.note(A, 3, b=2, c=2)
    return hand


@breaks("CommittedOnMajorityInv")
def a_leader_counts_an_observer():
    hand = committed()
    hand.append(A)
    hand.follow(D, A, 1)
    hand.copy(D, A)
    hand.note(A, 3, d=3)
    return hand


@breaks("CommittedOnlyGrowsProp")
def a_leader_commits_behind_a_gap():
    hand = committed()
    hand.append(A)
    hand.append(A)
    hand.copy(B, A)
    hand.checks.history.replica(A).verified = 3
    hand.note(A, 4, b=4)
    return hand


@breaks("HighWatermarkWithinLogInv")
def a_high_watermark_is_beyond_the_log():
    hand = committed()
    hand.event(B, high_watermark=7)
    return hand


@breaks("NoTruncationBelowHighWatermarkProp")
def a_follower_cuts_what_it_knows_to_be_committed():
    hand = committed()
    hand.event(B, high_watermark=2)
    hand.event(B, TruncateLog(1))
    return hand


@breaks("HighWatermarkMonotonicProp")
def a_high_watermark_goes_back():
    hand = committed()
    hand.event(B, high_watermark=2)
    hand.event(B, high_watermark=1)
    return hand


@breaks("NewLeaderForgetsHighWatermarkProp")
def a_new_leader_keeps_its_high_watermark():
    hand = committed()
    hand.event(B, high_watermark=2)
    hand.ask(B)
    hand.event(B, file(2, None, B), role=candidate(2, B))
    hand.event(B, file(2, B), role=leader(2, B, 2))
    return hand


@breaks("NeverCommitOldEpochDirectlyProp")
def a_leader_commits_records_of_an_old_epoch():
    hand = Hand()
    hand.elect(A, 1, B)
    hand.follow(B, A, 1)
    hand.copy(B, A)
    hand.elect(A, 3, C)
    hand.follow(B, A, 3)
    hand.note(A, 1, b=1)
    return hand


@breaks("SnapshotAtLogStartInv")
def a_log_begins_where_no_snapshot_ends():
    hand = committed()
    hand.event(B, high_watermark=2)
    log = hand.states[B].log
    hand.snapshots[OffsetAndEpoch(1, 1)] = snapshot(1, 1)
    cleaned = log.with_snapshot(snapshot(1, 1)).clean_to(OffsetAndEpoch(1, 1))
    hand.event(B, CleanLog(OffsetAndEpoch(1, 1)), log=replace(cleaned, snapshots=()))
    return hand


@breaks("SnapshotCommittedInv")
def a_snapshot_holds_what_is_not_committed():
    hand = committed()
    hand.append(A)
    hand.event(A, WriteSnapshot(OffsetAndEpoch(3, 1), snapshot(3, 1).data))
    return hand


@breaks("SnapshotCommittedInv")
def a_snapshots_id_is_one_off():
    hand = committed()
    hand.append(A, b"x", b"y")
    hand.copy(B, A)
    hand.note(A, 4, b=4)
    hand.event(A, WriteSnapshot(OffsetAndEpoch(3, 1), snapshot(3, 1).data))
    return hand


@breaks("SnapshotCommittedInv")
def two_snapshots_of_one_id_differ():
    hand = committed()
    for key, value in ((A, b"1"), (B, b"2")):
        hand.event(key, WriteSnapshot(OffsetAndEpoch(2, 1), snapshot(2, 1, value).data))
    return hand


@breaks("LeaderNeverLoadsSnapshotProp")
def a_leader_loads_a_snapshot():
    hand = committed()
    hand.snapshots[OffsetAndEpoch(2, 1)] = snapshot(2, 1)
    hand.event(A, TruncateToSnapshot(OffsetAndEpoch(2, 1)))
    return hand


@breaks("LeaderNeverLoadsSnapshotProp")
def a_state_machine_that_leads_is_given_a_snapshot():
    hand = committed()
    log = hand.states[A].log
    hand.event(A, HandleCommit(log.read(0, 2**20)), HandleLeaderChange(1, A.node_id))
    hand.event(A, HandleLoadSnapshot(OffsetAndEpoch(2, 1)))
    return hand


@breaks("ListenerInOrderInv")
def commits_leave_a_gap():
    hand = committed()
    hand.event(A, HandleCommit(hand.states[A].log.read(1, 2**20)))
    return hand


@breaks("ListenerInOrderInv")
def a_commit_is_told_twice():
    hand = committed()
    for _ in range(2):
        hand.event(A, HandleCommit(hand.states[A].log.read(0, 2**20)))
    return hand


@breaks("ListenerInOrderInv")
def a_commit_is_told_that_is_none():
    hand = committed()
    hand.append(A)
    hand.event(A, HandleCommit(hand.states[A].log.read(0, 2**20)))
    return hand


@breaks("ListenerLeaderProp")
def a_leader_is_told_so_before_it_has_caught_up():
    hand = committed()
    hand.event(A, HandleLeaderChange(1, A.node_id))
    return hand


@breaks("ListenerLeaderProp")
def an_older_epoch_is_told_after_a_newer_one():
    hand = committed()
    hand.event(B, HandleLeaderChange(1, A.node_id))
    hand.event(B, HandleLeaderChange(0, None))
    return hand


@breaks("FlushedSurvivesInv")
def a_start_finds_less_than_was_flushed():
    hand = committed()
    hand.start(B, follower(1, A), hand.states[B].log.truncate(1))
    return hand


@breaks("FlushedSurvivesInv")
def a_start_finds_other_records():
    hand = committed()
    log = LogImage().append((change(0, 1, A), data(1, 2)))
    hand.start(B, follower(1, A), log)
    return hand


@breaks("AlwaysRestartsInv")
def a_replica_does_not_start():
    hand = committed()
    hand.step("start", B, detail="quorum-state is empty")
    return hand


@breaks("StableLeadershipProp")
def the_leader_changes_without_a_fault():
    hand = committed(stable=True)
    hand.ask(B)
    hand.event(B, file(2, None, B), role=candidate(2, B))
    hand.event(B, file(2, B), role=leader(2, B, 2))
    return hand


@breaks("StableLeadershipProp")
def a_sole_voter_steps_down_by_itself():
    hand = Hand(A)
    hand.event(A, role=prospective(0, A))
    hand.event(A, file(1, None, A), role=candidate(1, A))
    hand.event(A, file(1, A), role=leader(1, A))
    hand.event(A, role=Resigned(1, A.node_id, frozenset(), (), 0))
    return hand


@breaks("VoteOncePerEpochProp")
def a_start_forgets_which_disk_got_the_vote():
    hand = Hand()
    hand.event(B, file(1, None, A), role=unattached(1, A))
    hand.checks.history.replica(B).voters.append((-1, frozenset({A, B, C})))
    hand.start(B, unattached(1, A._replace(directory_id=None)))
    return hand


@breaks("AcknowledgedStaysProp")
def an_acknowledged_value_is_gone():
    hand = committed()
    hand.checks.finish([Acknowledged(7, 1, 2, A, 0)])
    return hand


def changing(*sets, **noted):
    """A leads {A, B, C} and has committed; then it appends these voter sets, one a step."""
    hand = committed()
    if noted:
        hand.note(A, 2, **noted)
    known = []
    for each in sets:
        state = hand.states[A]
        offset = state.log.end_offset
        known.append((offset, each))
        controls = hand.with_voters(*known)
        role = replace(state.role, must_flush=True)
        hand.event(A, AppendLog((voters_batch(offset, 1, each),)), role=role, controls=controls)
        hand.event(A, FlushLog(), role=state.role)
    return hand


@breaks("OneUncommittedVoterSetInv")
def two_voter_sets_are_uncommitted():
    return changing(voters(A, B), voters(A, B, C), b=2, c=2)


@breaks("OverlappingMajoritiesInv")
def two_voters_go_at_once():
    hand = committed()
    first = changing(voters(A, B, C), b=2, c=2)
    first.copy(B, A)
    first.note(A, 3, b=3)
    state = first.states[A]
    known = ((2, voters(A, B, C)), (3, voters(A, D, E)))
    first.event(
        A,
        AppendLog((voters_batch(3, 1, voters(A, D, E)),)),
        role=replace(state.role, must_flush=True),
        controls=first.with_voters(*known),
    )
    assert hand.broken is None
    return first


@breaks("LatestVotersCountInv")
def a_replica_goes_by_another_voter_set_than_its_log_says():
    hand = committed()
    state = hand.states[A]
    hand.event(
        A,
        AppendLog((voters_batch(2, 1, voters(A, B)),)),
        role=replace(state.role, must_flush=True),
        controls=hand.with_voters((2, voters(A, B, C))),
    )
    return hand


@breaks("VoterSetInv")
def the_last_voter_goes():
    hand = committed()
    state = hand.states[A]
    hand.event(
        A,
        AppendLog((voters_batch(2, 1, voters()),)),
        role=replace(state.role, must_flush=True),
        controls=hand.with_voters((2, voters())),
    )
    return hand


@breaks("ChangeOnlyAfterOwnEpochCommitProp")
def voters_change_before_anything_of_the_epoch_is_committed():
    hand = Hand()
    hand.elect(A, 1, B)
    state = hand.states[A]
    hand.event(
        A,
        AppendLog((voters_batch(1, 1, voters(A, B)),)),
        role=replace(state.role, must_flush=True),
        controls=hand.with_voters((1, voters(A, B))),
    )
    return hand


@breaks("AddedHasFetchedProp")
def a_voter_is_added_that_has_never_fetched():
    hand = changing(voters(A, B, C), b=2, c=2)
    hand.copy(B, A)
    hand.note(A, 3, b=3)
    state = hand.states[A]
    known = ((2, voters(A, B, C)), (3, voters(A, B, C, D)))
    hand.event(
        A,
        AppendLog((voters_batch(3, 1, voters(A, B, C, D)),)),
        role=replace(state.role, must_flush=True),
        controls=hand.with_voters(*known),
    )
    return hand


@pytest.mark.parametrize(("name", "history"), HISTORIES.values(), ids=list(HISTORIES))
def test_a_history_that_breaks_a_property_is_caught_by_that_property(name, history):
    hand = history()
    assert hand.broken == name, hand.checks.violation


def test_every_property_has_a_history_that_breaks_it():
    assert {name for name, _ in HISTORIES.values()} == set(PROPERTIES)


def test_a_good_history_breaks_nothing():
    hand = committed(stable=True)
    hand.event(B, high_watermark=2)
    hand.event(A, HandleCommit(hand.states[A].log.read(0, 2**20)), HandleLeaderChange(1, A.node_id))
    hand.event(A, WriteSnapshot(OffsetAndEpoch(2, 1), snapshot(2, 1).data))
    assert hand.checks.violation is None
    assert hand.checks.history.committed.end == 2


def test_a_voter_set_that_is_committed_may_be_followed_by_another():
    hand = changing(voters(A, B), b=2, c=2)
    hand.copy(B, A)
    hand.note(A, 3, b=3)
    assert hand.checks.violation is None


def test_only_the_first_violation_is_kept():
    hand = two_replicas_of_an_epoch_know_two_leaders()
    first = hand.checks.violation
    hand.event(B, Fatal("later"))
    assert hand.checks.violation is first
    assert "node 3 has node 1 lead epoch 1" in str(first)


def test_a_crash_may_take_what_was_not_flushed_and_may_leave_it():
    for kept in (1, 2, 3):
        hand = committed()
        batch = data(2, 1, b"tail")
        hand.crash(A, AppendLog((batch,)))
        log = hand.states[A].log.append((batch,)) if kept == 3 else hand.states[A].log
        log = log.truncate(1) if kept == 1 else log
        hand.start(A, Resigned(1, A.node_id, frozenset(), (), 0), log)
        assert hand.broken == ("FlushedSurvivesInv" if kept == 1 else None)


def test_a_disk_that_was_damaged_owes_nothing():
    hand = committed()
    hand.step("fault", B, detail="old-image")
    hand.start(B, unattached(0))
    assert hand.checks.violation is None


def test_a_sole_voter_may_lose_what_it_had_not_flushed_and_then_nothing_is_known():
    hand = Hand(A)
    hand.event(A, role=prospective(0, A))
    hand.event(A, file(1, None, A), role=candidate(1, A))
    batch = change(0, 1, A)
    role = replace(leader(1, A), must_flush=True)
    hand.event(A, file(1, A), AppendLog((batch,)), role=role, high_watermark=1)
    hand.step("crash", A)
    hand.start(A, Resigned(1, A.node_id, frozenset(), (), 0))
    assert hand.checks.violation is None
    assert "sole voter" in hand.checks.history.suspended
