"""Replicas that stay in the ISR when the directory that they are in goes offline."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import OTHER, UNASSIGNED
from tests.krafla.audit.old_logs import (
    DIRECTORIES,
    ELR,
    NEW_INCARNATION,
    OldLog,
    elected_by_a_heartbeat,
)

from krafla.audit.result import Weight
from krafla.audit.run import audit


def violations(folder, loading):
    """Return kind, offset and known bug of each violation."""
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [
        (f.kind, f.offset, f.known_bug is not None) for f in found if f.weight is Weight.VIOLATION
    ]


def log_of_two_directories(level, replicas=(0, 1, 2)):
    """Return a log in which broker 1 has two directories, and its replica is in one of them."""
    log = OldLog(level, max(level, 25), (ELR,) if level >= 25 else ())
    log.add(log.fence(1))
    again = {"logDirs": (DIRECTORIES[1], OTHER), **NEW_INCARNATION}
    log.add(log.register(1, epoch=log.end, **again))
    log.add(log.unfence(1))
    log.topic(
        replicas, directories=tuple(UNASSIGNED if b == 1 else DIRECTORIES[b] for b in replicas)
    )
    log.add(log.change(directories=tuple(DIRECTORIES[b] for b in replicas)))
    return log


def lost(log, *left):
    """Return the record that leaves broker 1 these directories."""
    return (17, 2, {"brokerId": 1, "brokerEpoch": log.epochs[1], "logDirs": left})


@pytest.mark.parametrize("held", [True, False], ids=["it leaves", "it stays"])
@pytest.mark.parametrize("left", [(OTHER,), ()], ids=["one of two", "the last"])
@pytest.mark.parametrize("level", [17, 19, 25])
def test_a_replica_leaves_the_isr_with_its_directory(tmp_path, loading, level, left, held):
    log = log_of_two_directories(level)
    leaves = [log.change(isr=(0, 2))] if held else []
    offset = log.add(*leaves, lost(log, *left))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held else [("P14", offset, False)])


def test_a_replica_in_another_directory_stays(tmp_path, loading):
    log = log_of_two_directories(25)
    log.add(lost(log, DIRECTORIES[1]))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


def alone(level):
    """Return a log in which broker 1 alone is in sync."""
    log = log_of_two_directories(level, (1, 0))
    log.add(log.change(isr=(1,)))
    return log


def test_without_the_feature_the_last_replica_in_sync_stays(tmp_path, loading):
    log = alone(19)
    log.add(log.change(leader=-1), lost(log, OTHER))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


@pytest.mark.parametrize("held", [True, False], ids=["it leaves", "it stays"])
def test_with_the_feature_the_last_replica_in_sync_leaves_too(tmp_path, loading, held):
    log = alone(25)
    gone = {"isr": (), "eligibleLeaderReplicas": (1,), "lastKnownElr": (1,)} if held else {}
    log.add(log.change(leader=-1, **gone), lost(log, OTHER), log.fence(0))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held else [("P14", log.end - 2, False)])


def test_a_replica_may_join_after_its_directory_was_lost(tmp_path, loading):
    # A leader asks for an ISR by the partition epoch, which the loss need not change.
    log = log_of_two_directories(19)
    log.add(log.change(isr=(0, 2)))
    log.add(lost(log, OTHER), log.change(isr=(0, 1, 2)))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


@pytest.mark.parametrize("level", [19, 27])
def test_what_a_heartbeat_elects_in_a_lost_directory_is_the_known_bug(tmp_path, loading, level):
    log, batch = elected_by_a_heartbeat(level)
    offset = log.add(*batch) - 1
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P14", offset, True)]
