"""Every property can be broken: a history by hand breaks each of them, and no other."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest
from immutables import Map
from tests.krafla.fuzz.raft import breaking_elections, breaking_logs, breaking_voters
from tests.krafla.fuzz.raft.by_hand import (
    A,
    B,
    C,
    D,
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
from tests.krafla.fuzz.raft.histories import HISTORIES

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.checks import DAMAGING, PROPERTIES
from krafla.fuzz.raft.election_checks import check_role, file_of
from kraft.ids import DirectoryId, OffsetAndEpoch
from kraft.log.image import LogImage
from kraft.raft.effects import (
    AppendLog,
    Fatal,
    FlushLog,
    HandleCommit,
    HandleLeaderChange,
    TruncateLog,
    TruncateToSnapshot,
    WriteSnapshot,
)
from kraft.raft.events import RequestReceived, Source
from kraft.raft.roles import Resigned
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest
from kraft.sim.raft.kinds import KINDS

REPOSITORY = Path(__file__).parents[4]


@pytest.mark.parametrize(("name", "history"), HISTORIES.values(), ids=list(HISTORIES))
def test_a_history_that_breaks_a_property_is_caught_by_that_property(name, history):
    hand = history()
    assert hand.broken == name, hand.checks.violation


def test_every_property_has_a_history_that_breaks_it():
    assert {name for name, _ in HISTORIES.values()} == set(PROPERTIES)


def test_every_property_is_in_the_documentation():
    text = (REPOSITORY / "docs/internals/raft-fuzzing.md").read_text(encoding="utf-8")
    assert [name for name in PROPERTIES if f"`{name}`" not in text] == []


# From the table of roles: the roles it may take within its epoch, and with a higher epoch.
WITHIN = {
    "Unattached": {"Unattached", "Prospective", "Follower"},
    "Prospective": {"Prospective", "Unattached", "Follower"},
    "Candidate": {"Candidate", "Prospective", "Leader", "Follower"},
    "Leader": {"Leader", "Resigned"},
    "Follower": {"Follower", "Prospective"},
    "Resigned": {"Resigned"},
}
HIGHER = {name: {"Unattached", "Follower"} for name in WITHIN} | {
    "Prospective": {"Unattached", "Follower", "Candidate"}
}


def role_of(name, epoch):
    """Return a role of A in an epoch in which it voted for itself."""
    return {
        "Unattached": unattached(epoch, A, A.node_id),
        "Prospective": replace(prospective(epoch, A, A), leader_id=A.node_id),
        "Candidate": candidate(epoch, A),
        "Leader": leader(epoch, A),
        "Follower": follower(epoch, B, A),
        "Resigned": Resigned(epoch, A.node_id, frozenset(), (), 0),
    }[name]


@pytest.mark.parametrize("rises", [False, True])
@pytest.mark.parametrize("new", WITHIN)
@pytest.mark.parametrize("old", WITHIN)
def test_a_replica_changes_its_role_as_the_table_says(old, new, rises):
    hand = Hand()
    before, after = (hand.state(A, role_of(*each)) for each in ((old, 1), (new, 1 + rises)))
    history, replica = hand.checks.history, hand.checks.history.replica(A)
    replica.file = file_of(after.role)

    def move():
        check_role(history, replica, before, after)

    if new in (HIGHER if rises else WITHIN)[old]:
        move()
    else:
        with pytest.raises(Violated, match=f"goes from {old} in epoch 1 to {new} in epoch"):
            move()


@pytest.mark.parametrize("loaded", [False, True])
def test_records_written_after_a_truncation_are_compared_with_the_committed_ones(loaded):
    hand = Hand()
    hand.elect(C, 1, B)
    hand.append(C, b"lost")
    hand.elect(A, 2, B)
    hand.append(A, b"kept")
    hand.follow(B, A, 2)
    hand.copy(B, A)
    hand.note(A, 2, b=2)
    hand.event(B, high_watermark=2)
    hand.start(B, follower(2, A, A), hand.states[B].log)
    hand.follow(B, C, 3)
    hand.snapshots[OffsetAndEpoch(1, 1)] = snapshot(1, 1)
    hand.event(B, TruncateToSnapshot(OffsetAndEpoch(1, 1)) if loaded else TruncateLog(0))
    hand.copy(B, C)
    assert hand.broken is None, hand.checks.violation
    hand.event(B, high_watermark=2)
    assert hand.broken == "StateMachineSafetyInv"


def test_a_good_history_breaks_nothing():
    hand = committed(stable=True)
    hand.event(B, high_watermark=2)
    hand.event(A, HandleCommit(hand.states[A].log.read(0, 2**20)), HandleLeaderChange(1, A.node_id))
    hand.event(A, WriteSnapshot(OffsetAndEpoch(2, 1), snapshot(2, 1).data))
    assert hand.checks.violation is None
    assert hand.checks.history.committed.end == 2


def test_a_voter_set_that_is_committed_may_be_followed_by_another():
    hand = breaking_voters.changing(voters(A, B), b=2, c=2)
    hand.copy(B, A)
    hand.note(A, 3, b=3)
    assert hand.checks.violation is None


@pytest.mark.parametrize(
    ("commits_to", "broken"), [(3, None), (4, "CommittedOnMajorityInv")], ids=["before", "with"]
)
def test_a_sole_voter_commits_what_it_appends_before_it_adds_another(commits_to, broken):
    hand = Hand(A)
    hand.elect(A, 1)
    hand.append(A)
    hand.note(A, 2, b=2)
    added = voters(A, B)
    hand.event(
        A, AppendLog((data(2, 1),)), FlushLog(), AppendLog((voters_batch(3, 1, added),)),
        role=replace(leader(1, A, b=2), must_flush=True), high_watermark=commits_to,
        controls=hand.with_voters((3, added)),
    )  # fmt: skip
    assert hand.broken == broken, hand.checks.violation


def test_voters_that_are_in_force_already_commit_what_stands_before_them():
    hand = breaking_voters.changing(voters(A, B, C, D), b=2, c=2, d=2)
    hand.append(A)
    hand.follow(B, A, 1)
    hand.copy(B, A)
    hand.note(A, 3, b=3, c=2, d=2)
    assert hand.broken == "CommittedOnMajorityInv"


def test_a_leader_that_has_moved_may_write_the_same_voters_again():
    hand = breaking_voters.changing(voters(A, B), voters(A, B), begun=(3,), b=2, c=2)
    assert hand.checks.violation is None


@pytest.mark.parametrize(("end", "epoch", "leaves"), [(2, 1, 1), (1, 3, 1), (9, 2, 1), (0, 2, 1)])
def test_a_diverging_follower_may_keep_records_before_the_end_it_is_told(end, epoch, leaves):
    assert breaking_logs.diverging(end, epoch, leaves).broken is None


def test_a_follower_that_would_truncate_committed_records_may_end_instead():
    hand = breaking_logs.told_to_diverge()
    hand.checks.history.replica(C).damaged = True
    hand.event(C, Fatal("cut"), event=breaking_logs.told(OffsetAndEpoch(1, 1)), connections=Map())
    assert hand.broken is None


def test_only_the_first_violation_is_kept():
    hand = breaking_elections.two_replicas_know_different_leaders_of_one_epoch()
    first = hand.checks.violation
    hand.event(B, Fatal("later"))
    assert hand.checks.violation is first
    assert "node 3 believes that node 1 leads epoch 1" in str(first)


def test_a_node_that_has_had_two_disks_may_end():
    hand = committed()
    hand.start(B._replace(directory_id=DirectoryId("another")), unattached(0))
    told = BeginQuorumEpochRequest("cluster", B.node_id, None, 1, B.node_id, ())
    hand.event(B, Fatal("two leaders"), event=RequestReceived(0, 0, Source(A.node_id, 0), told))
    assert hand.checks.violation is None


def test_a_crash_may_take_what_was_not_flushed_and_may_leave_it():
    for kept in (1, 2, 3):
        hand = committed()
        batch = data(2, 1, b"tail")
        hand.crash(A, AppendLog((batch,)))
        log = hand.states[A].log.append((batch,)) if kept == 3 else hand.states[A].log
        log = log.truncate(1) if kept == 1 else log
        hand.start(A, Resigned(1, A.node_id, frozenset(), (), 0), log)
        assert hand.broken == ("FlushedSurvivesInv" if kept == 1 else None)


@pytest.mark.parametrize(("found", "broken"), [(2, None), (3, None), (1, "FlushedSurvivesInv")])
def test_an_interrupted_truncation_may_be_done_or_not_and_loses_no_more(found, broken):
    hand = committed()
    hand.append(A, b"two")
    hand.copy(C, A)
    log = hand.states[C].log
    assert log.end_offset == 3
    hand.crash(C, unfinished=(TruncateLog(2),))
    hand.start(C, follower(1, A), log.truncate(found))
    assert hand.broken == broken
    if broken is None:
        hand.start(C, follower(1, A), log.truncate(1))
        assert hand.broken == "FlushedSurvivesInv"


def test_a_snapshot_whose_loading_was_interrupted_may_have_replaced_the_log():
    hand = committed()
    hand.append(A, b"two")
    hand.copy(C, A)
    hand.crash(C, unfinished=(TruncateToSnapshot(OffsetAndEpoch(2, 1)),))
    hand.start(C, follower(1, A), LogImage().begin_at(snapshot(2, 1)))
    assert hand.checks.violation is None


def test_a_forbidden_truncation_is_noticed_even_if_a_crash_interrupts_it():
    hand = committed()
    hand.event(C, high_watermark=2)
    hand.crash(C, unfinished=(TruncateLog(1),))
    assert hand.broken == "NoTruncationBelowHighWatermarkProp"


def test_only_a_fault_that_damages_a_disk_ends_the_promises():
    assert {"bit-rot", "cloned-disk", "lost-disk", "misdirected-write", "old-image"} == DAMAGING
    for kind in sorted(KINDS):
        hand = committed()
        hand.step("fault", B, fault=kind)
        hand.event(A, high_watermark=1)
        excused = kind in DAMAGING and kind != "lost-disk"
        assert (hand.broken is None) == excused, kind
        assert bool(hand.checks.hazards) == excused, kind


def test_a_start_may_fail_on_a_full_disk_and_for_no_other_reason():
    for number, broken in ((errno.ENOSPC, None), (errno.EIO, "AlwaysRestartsInv")):
        hand = committed()
        hand.step("start", B, error=OSError(number, "no"))
        assert hand.broken == broken


def test_a_new_leader_may_be_elected_once_all_faults_end():
    for healed in (True, False):
        hand = committed(stable=True)
        if healed:
            hand.step("fault", B, fault="heal")
        hand.elect(C, 2, B)
        assert hand.broken == (None if healed else "StableLeadershipProp")


def test_a_voter_may_succeed_a_leader_that_it_has_not_heard_of():
    hand = Hand(stable=True)
    hand.elect(A, 1, B)
    hand.follow(C, A, 1)
    hand.elect(B, 2, C)
    assert hand.broken is None


def test_nothing_is_expected_of_a_damaged_disk():
    hand = committed()
    hand.step("fault", B, fault="old-image")
    hand.start(B, unattached(0))
    assert hand.checks.violation is None


def test_a_sole_voter_may_lose_what_it_had_not_flushed_and_ends_the_checks_of_commits():
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
    assert hand.checks.unpromised == 0
    hand.event(A)
    assert hand.checks.unpromised == 1


def test_several_voters_may_not_lose_what_one_of_them_has_committed():
    hand = committed()
    hand.start(A, Resigned(1, A.node_id, frozenset(), (), 0), hand.states[A].log.truncate(1))
    assert not hand.checks.history.suspended
    assert hand.broken == "FlushedSurvivesInv"
