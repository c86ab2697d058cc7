"""Histories that break properties of snapshots, listeners, disks and voters."""

from __future__ import annotations

from dataclasses import replace

from tests.krafla.fuzz.raft.breaking import breaks
from tests.krafla.fuzz.raft.by_hand import (
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

from kraft.ids import OffsetAndEpoch
from kraft.log.image import LogImage
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    FlushLog,
    HandleCommit,
    HandleLeaderChange,
    HandleLoadSnapshot,
    TruncateLog,
    TruncateToSnapshot,
    WriteSnapshot,
)
from kraft.raft.roles import Resigned
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.sim.raft.workload import Acknowledged


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
def a_snapshot_holds_uncommitted_records():
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
def a_state_machine_that_leads_loads_a_snapshot():
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
def a_listener_is_told_of_a_commit_twice():
    hand = committed()
    for _ in range(2):
        hand.event(A, HandleCommit(hand.states[A].log.read(0, 2**20)))
    return hand


@breaks("ListenerInOrderInv")
def a_listener_is_told_of_a_commit_that_is_none():
    hand = committed()
    hand.append(A)
    hand.event(A, HandleCommit(hand.states[A].log.read(0, 2**20)))
    return hand


@breaks("ListenerLeaderProp")
def a_listener_is_told_that_it_leads_before_it_has_caught_up():
    hand = committed()
    hand.event(A, HandleLeaderChange(1, A.node_id))
    return hand


@breaks("ListenerLeaderProp")
def a_listener_is_told_of_an_older_epoch_after_a_newer_one():
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
def a_leader_is_elected_again_without_a_fault():
    hand = Hand(stable=True)
    hand.elect(A, 1, B)
    hand.elect(A, 3, B)
    return hand


@breaks("StableLeadershipProp")
def a_sole_voter_resigns_by_itself():
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
def an_acknowledged_value_is_lost():
    hand = committed()
    hand.checks.finish([Acknowledged(7, 1, 2, A, 0)])
    return hand


def changing(*sets, begun=(), **noted):
    """A leads {A, B, C} and has committed; then it appends these voter sets, one in each step.

    Those at offsets in `begun` count as written with the record that begins an epoch.
    """
    hand = committed()
    hand.checks.history.begun_with_voters.update(begun)
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


@breaks("OneUncommittedChangeInv")
def two_changes_of_the_voters_are_uncommitted():
    return changing(voters(A, B), voters(A, B, C), b=2, c=2)


@breaks("OneUncommittedChangeInv")
def the_same_voters_are_written_twice_in_the_middle_of_an_epoch():
    return changing(voters(A, B), voters(A, B), b=2, c=2)


@breaks("OneUncommittedChangeInv")
def a_leader_that_has_moved_writes_other_voters():
    return changing(voters(A, B), voters(A, B, C), begun=(3,), b=2, c=2)


@breaks("OverlappingMajoritiesInv")
def two_voters_are_removed_at_once():
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
def a_replica_uses_another_voter_set_than_its_log_has():
    hand = committed()
    state = hand.states[A]
    hand.event(
        A,
        AppendLog((voters_batch(2, 1, voters(A, B)),)),
        role=replace(state.role, must_flush=True),
        controls=hand.with_voters((2, voters(A, B, C))),
    )
    return hand


@breaks("LatestVotersCountInv")
def a_replica_uses_the_only_voters_of_its_log_after_they_were_truncated():
    hand = changing(voters(A, B), b=2, c=2)
    hand.copy(C, A)
    hand.event(C, TruncateLog(2))
    return hand


@breaks("LatestVotersCountInv")
def a_replica_uses_voters_that_were_truncated():
    hand = changing(voters(A, B, C), b=2, c=2)
    hand.copy(B, A)
    hand.note(A, 3, b=3)
    state = hand.states[A]
    known = ((2, voters(A, B, C)), (3, voters(A, B)))
    role = replace(state.role, must_flush=True)
    controls = hand.with_voters(*known)
    hand.event(A, AppendLog((voters_batch(3, 1, known[1][1]),)), role=role, controls=controls)
    hand.event(A, FlushLog(), role=state.role)
    hand.copy(B, A)
    hand.event(B, TruncateLog(3))
    return hand


@breaks("VoterSetInv")
def the_last_voter_is_removed():
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


def without_the_third_voter():
    """Return a quorum whose leader A has removed C."""
    hand = committed()
    left = voters(A, B)
    batch = voters_batch(2, 1, left)
    controls = hand.with_voters((2, left))
    role = replace(hand.states[A].role, must_flush=True)
    hand.event(A, AppendLog((batch,)), controls=controls, role=role)
    hand.event(A, FlushLog(), role=replace(role, must_flush=False))
    return hand


@breaks("LatestVotersCountInv")
def a_replica_starts_by_voters_that_its_log_does_not_have():
    hand = without_the_third_voter()
    resigned = Resigned(1, A.node_id, frozenset(), (), 0)
    hand.start(A, resigned, hand.states[A].log)
    return hand


@breaks("SnapshotCommittedInv")
def a_snapshot_has_other_voters_than_the_log_has_there():
    hand = without_the_third_voter()
    hand.copy(B, A)
    hand.note(A, 3, b=3)
    snapshot_id = OffsetAndEpoch(3, 1)
    written = snapshot_bytes(snapshot_id, (), voters(A, B, C), 1, 0)
    hand.event(A, WriteSnapshot(snapshot_id, written))
    return hand


@breaks("AcknowledgedStaysProp")
def the_leader_of_the_newest_epoch_lacks_an_acknowledged_value():
    hand = committed()
    replica = hand.checks.history.replica(A)
    replica.state = replace(replica.state, log=replica.state.log.truncate(1))
    hand.checks.finish([Acknowledged(7, 1, 1, A, 0)])
    return hand
