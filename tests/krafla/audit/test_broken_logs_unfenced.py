"""Partitions without a leader when a broker that may lead them is unfenced."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING, OTHER, TIME, leader_change
from tests.krafla.audit.editing import LOG
from tests.krafla.audit.old_logs import (
    ELECTED_LAST_KNOWN,
    ELR,
    NEW_INCARNATION,
    OldLog,
    restarted_uncleanly,
    without_directory,
)

from krafla.audit.result import Weight
from krafla.audit.run import audit
from kraft.records.builder import metadata_batch
from kraft.records.limits import MAX_RECORDS_PER_BATCH


def violations(folder, loading):
    """Return kind and offset of each violation."""
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.offset) for f in found if f.weight is Weight.VIOLATION]


def leaderless(level=25):
    """Return a log whose partition lost its leader, broker 0, the last in sync; it is fenced."""
    log = OldLog(level, max(level, 7), (ELR,) if level >= 25 else ())
    log.topic((0, 1))
    raised = {"leader": 0} if level < 12 else {}
    log.add(log.change(isr=(0,), **raised), log.fence(1))
    gone = {"leader": -1}
    if level >= 25:
        gone |= {"isr": (), "eligibleLeaderReplicas": (0,), "lastKnownElr": (0,)}
    log.add(log.change(**gone), log.fence(0))
    return log


def elected(log):
    back = {"leader": 0}
    if log.level >= 25:
        back |= {"isr": (0,), "eligibleLeaderReplicas": (), "lastKnownElr": ()}
    return log.change(**back)


@pytest.mark.parametrize("held", [True, False], ids=["it leads", "none leads"])
@pytest.mark.parametrize("level", [6, 7, 19, 25])
def test_the_last_replica_in_sync_leads_when_it_is_unfenced(tmp_path, loading, level, held):
    # Below 7 no record says that a broker is in controlled shutdown.
    log = leaderless(level)
    offset = log.end
    log.add(log.unfence(0), *([elected(log)] if held else []))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held or level < 7 else [("P16", offset)])


@pytest.mark.parametrize("held", [True, False], ids=["it leads", "none leads"])
def test_the_last_known_leader_leads_when_it_is_unfenced(tmp_path, loading, held):
    log = restarted_uncleanly(27)
    offset = log.end
    log.add(log.unfence(0), *([log.change(**ELECTED_LAST_KNOWN)] if held else []))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held else [("P16", offset)])


def restarted_without_its_directory(log):
    again = {"logDirs": (OTHER,), **NEW_INCARNATION}
    log.add(log.register(0, epoch=log.end, **again))
    return [log.unfence(0)]


IDLE = {
    "another broker is unfenced": lambda log: [log.unfence(1)],
    "its heartbeat reports a lost directory": lambda log: [
        log.unfence(0), without_directory(log, 0)
    ],
    "its directory is not online": restarted_without_its_directory,
    "it is fenced again in the batch": lambda log: [
        log.unfence(0), elected(log), log.change(leader=-1), log.fence(0)
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", IDLE)
def test_a_broker_that_may_not_lead_leaves_the_partition_without_a_leader(tmp_path, loading, what):
    log = leaderless(19)
    log.add(*IDLE[what](log))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


@pytest.mark.parametrize("held", [True, False], ids=["a failover", "the same leader"])
def test_a_failover_may_break_off_the_operation_that_unfences(tmp_path, loading, held):
    log = leaderless(19)
    offset = log.end
    log.add(log.unfence(0), *[NOTHING] * (MAX_RECORDS_PER_BATCH - 1))
    end, epoch = log.end, 2 if held else 1
    folder = log.write(tmp_path)
    more = leader_change(end, 2, 3000, (3000,)) if held else b""
    more += metadata_batch(end + held, epoch, TIME, [NOTHING])
    (folder / LOG).write_bytes((folder / LOG).read_bytes() + more)
    assert violations(tmp_path, loading) == ([] if held else [("P16", offset)])
