"""Every property can be broken: each has a history by hand that breaks it, and no other."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.fuzz.quorum import (  # noqa: F401 - they note their histories
    breaking_commits,
    breaking_elections,
    breaking_leading,
    breaking_listener,
    breaking_logs,
    breaking_voters,
)
from tests.krafla.fuzz.quorum.breaking import HISTORIES
from tests.krafla.fuzz.quorum.by_hand import (
    A,
    B,
    C,
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
)

from krafla.fuzz.quorum.checks import DAMAGING, PROPERTIES
from kraft.ids import DirectoryId, OffsetAndEpoch
from kraft.log.image import LogImage
from kraft.raft.effects import (
    AppendLog,
    Fatal,
    HandleCommit,
    HandleLeaderChange,
    TruncateLog,
    TruncateToSnapshot,
    WriteSnapshot,
)
from kraft.raft.roles import Resigned
from kraft.sim.quorum.kinds import KINDS

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


def test_a_leader_that_has_moved_may_write_the_same_voters_again():
    hand = breaking_voters.changing(voters(A, B), voters(A, B), begun=(3,), b=2, c=2)
    assert hand.checks.violation is None


def test_only_the_first_violation_is_kept():
    hand = breaking_elections.two_replicas_of_an_epoch_know_two_leaders()
    first = hand.checks.violation
    hand.event(B, Fatal("later"))
    assert hand.checks.violation is first
    assert "node 3 has node 1 lead epoch 1" in str(first)


def test_a_node_that_has_had_two_disks_may_end():
    hand = committed()
    hand.start(B._replace(directory_id=DirectoryId("another")), unattached(0))
    hand.event(B, Fatal("two leaders"))
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
def test_a_cut_in_which_a_crash_came_may_be_done_or_not_and_no_more_is_lost(found, broken):
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


def test_a_snapshot_whose_loading_a_crash_cut_short_may_have_taken_the_place_of_the_log():
    hand = committed()
    hand.append(A, b"two")
    hand.copy(C, A)
    hand.crash(C, unfinished=(TruncateToSnapshot(OffsetAndEpoch(2, 1)),))
    hand.start(C, follower(1, A), LogImage().begin_at(snapshot(2, 1)))
    assert hand.checks.violation is None


def test_a_cut_that_is_not_allowed_is_noticed_though_a_crash_came_in_it():
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


def test_a_start_on_a_full_disk_breaks_no_promise_and_another_refusal_does():
    for number, broken in ((errno.ENOSPC, None), (errno.EIO, "AlwaysRestartsInv")):
        hand = committed()
        hand.step("start", B, error=OSError(number, "no"))
        assert hand.broken == broken


def test_once_all_faults_end_another_leader_may_come_though_nothing_went_wrong():
    for healed in (True, False):
        hand = committed(stable=True)
        if healed:
            hand.step("fault", B, fault="heal")
        hand.elect(C, 2, B)
        assert hand.broken == (None if healed else "StableLeadershipProp")


def test_a_disk_that_was_damaged_owes_nothing():
    hand = committed()
    hand.step("fault", B, fault="old-image")
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
