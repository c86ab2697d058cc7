"""Heartbeats that report a lost directory: a known bug explains the whole operation, or nothing."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING
from tests.krafla.audit.old_logs import (
    ELR,
    OldLog,
    elected_by_a_heartbeat,
    leaving,
    without_directory,
)

from krafla.audit.result import Weight
from krafla.audit.run import audit

BUG = "a bug of Kafka 3.7 to 4.1 that has no issue, in KIP-858"


def findings(folder, loading):
    report = audit([folder], loading=loading)
    return report, [f for f in report.clusters[0].all_findings() if f.weight is not Weight.NOTE]


def repeated_at(offset):
    """Return the findings about a repeated change: kind, offset and known bug of each."""
    return [("E7", offset, BUG), ("W4", offset, BUG)]


HEARTBEATS = {
    "its broker led": ((0, 1, 2), {"isr": (1, 2), "leader": 1}),
    "its broker followed": ((1, 2, 0), {"isr": (1, 2)}),
}
"""By what the broker did that a heartbeat takes out of the ISR: the replicas, the change."""


@pytest.mark.parametrize("level", [19, 27])
@pytest.mark.parametrize("shuts_down", [True, False], ids=["it shuts down", "it is fenced"])
@pytest.mark.parametrize("what", HEARTBEATS)
def test_a_heartbeat_that_reports_a_lost_directory_repeats_its_changes(
    tmp_path, loading, what, shuts_down, level
):
    replicas, change = HEARTBEATS[what]
    log = OldLog(level, 27, (ELR,) if level == 27 else ())
    log.topic(replicas)
    once, left = log.change(**change), leaving(log, 0, shuts_down)
    batch = [left, once, once] if shuts_down else [once, left, once]
    offset = log.add(*batch, without_directory(log, 0)) - 1
    last = log.add(NOTHING)
    log.write(tmp_path)
    report, found = findings(tmp_path, loading)
    assert [(f.kind, f.offset, f.known_bug) for f in found] == repeated_at(offset)
    assert report.clusters[0].directories[0].judged_to == last + 1


def test_a_heartbeat_that_unfences_and_reports_a_lost_directory_repeats_its_changes(
    tmp_path, loading
):
    log = OldLog(19, 20)
    log.topic((2, 0, 1))
    log.add(log.change(isr=(2, 1)), log.fence(0))
    log.add(log.change(isr=(1,), leader=1), log.fence(2))
    log.add(log.change(leader=-1), log.fence(1))
    log.add(log.unfence(2))
    # The topic permits unclean elections now, and Kafka 3.7 and 3.8 look for a leader only here.
    once = log.change(leader=2, isr=(2,), leaderRecoveryState=1)
    offset = log.add(log.unfence(0), once, once, without_directory(log, 0)) - 1
    last = log.add(NOTHING)
    log.write(tmp_path)
    report, found = findings(tmp_path, loading)
    assert [(f.kind, f.offset, f.known_bug) for f in found] == repeated_at(offset)
    assert report.clusters[0].directories[0].judged_to == last + 1


def test_an_operation_that_kafka_cuts_is_judged_whole(tmp_path, loading, monkeypatch):
    monkeypatch.setattr("krafla.audit.history.MAX_RECORDS_PER_BATCH", 2)
    log = OldLog(19, 19)
    log.topic((1, 2, 0))
    log.add(NOTHING)
    once = log.change(isr=(1, 2))
    log.add(leaving(log, 0), once)
    offset = log.add(once, without_directory(log, 0)) - 1
    log.add(NOTHING)
    log.write(tmp_path)
    _, found = findings(tmp_path, loading)
    assert [(f.kind, f.offset, f.known_bug) for f in found] == repeated_at(offset)


@pytest.mark.parametrize("what", HEARTBEATS)
def test_without_a_broker_that_leaves_a_repeated_change_is_no_known_bug(tmp_path, loading, what):
    replicas, change = HEARTBEATS[what]
    log = OldLog(19, 19)
    log.topic(replicas)
    offset = log.add(*2 * [log.change(**change)])
    log.write(tmp_path)
    _, (found, *_) = findings(tmp_path, loading)
    assert (found.kind, found.offset, found.known_bug) == ("E7", offset, None)


UNREPEATED = {
    "the broker was fenced before": lambda log, once: [
        [once, log.fence(0)],
        [once, without_directory(log, 0)],
    ],
    "its directory was lost before": lambda log, once: [
        [once, without_directory(log, 0), log.change(isr=(1, 2, 0))],
        [leaving(log, 0), once, once],
    ],
    "its directory is lost later": lambda log, once: [
        [leaving(log, 0), once, once],
        [without_directory(log, 0)],
    ],
    "another broker lost its directory": lambda log, once: [
        [leaving(log, 0), once, once, without_directory(log, 1)]
    ],
    "another broker left": lambda log, once: [
        [leaving(log, 1), once, once, without_directory(log, 0)]
    ],
    "the same change came in an earlier operation": lambda log, once: [
        [once],
        [leaving(log, 0), once, without_directory(log, 0)],
    ],
}
"""By what is missing in the heartbeat's operation: the batches around a repeated change."""


@pytest.mark.parametrize("what", UNREPEATED)
def test_only_the_whole_operation_of_a_heartbeat_explains_a_repeated_change(
    tmp_path, loading, what
):
    log = OldLog(27, 27, (ELR,))
    log.topic((1, 2, 0))
    once, offset = log.change(isr=(1, 2)), 0
    for batch in UNREPEATED[what](log, once):
        first = log.end
        log.add(*batch)
        offset = max((first + n for n, one in enumerate(batch) if one is once), default=0) or offset
    log.add(NOTHING)
    log.write(tmp_path)
    _, found = findings(tmp_path, loading)
    assert [(f.kind, f.offset, f.known_bug) for f in found] == [("E7", offset, None)]


def test_each_partition_with_an_equal_repeated_change_needs_its_own_reason(tmp_path, loading):
    log = OldLog(19, 19)
    log.topic((1, 2, 0))
    named, plain = log.batches[-1]
    log.batches[-1] = [named, plain, (*plain[:2], {**plain[2], "partitionId": 1})]
    once, other = log.change(isr=(1, 2)), log.change(isr=(1, 2), partitionId=1)
    log.add(other)
    batch = [leaving(log, 0), once, once, other, without_directory(log, 0)]
    offset = log.add(*batch) - 1
    log.add(NOTHING)
    log.write(tmp_path)
    _, found = findings(tmp_path, loading)
    assert ("E7", offset, None) in [(f.kind, f.offset, f.known_bug) for f in found]


@pytest.mark.parametrize("level", [19, 27])
def test_a_heartbeat_may_elect_a_leader_in_the_directory_that_it_reports(tmp_path, loading, level):
    log, batch = elected_by_a_heartbeat(level)
    offset = log.add(*batch) - 1
    last = log.add(NOTHING)
    log.write(tmp_path)
    report, (found,) = findings(tmp_path, loading)
    assert (found.kind, found.offset, found.known_bug) == ("P14", offset, BUG)
    assert report.clusters[0].directories[0].judged_to == last + 1


UNELECTED = {
    "the broker was unfenced before": lambda unfenced, elected, lost: [
        [unfenced, elected],
        [lost],
    ],
    "it is elected after its directory is lost": lambda unfenced, elected, lost: [
        [unfenced, lost, elected]
    ],
}
"""By what is missing in the heartbeat's operation: the batches of an election."""


@pytest.mark.parametrize("level", [19, 27])
@pytest.mark.parametrize("what", UNELECTED)
def test_only_the_whole_operation_of_a_heartbeat_explains_its_election(
    tmp_path, loading, what, level
):
    log, batch = elected_by_a_heartbeat(level)
    for records in UNELECTED[what](*batch):
        last = log.add(*records)
    log.write(tmp_path)
    _, (found, *_) = findings(tmp_path, loading)
    assert (found.kind, found.offset, found.known_bug) == ("P14", last, None)


def test_a_leader_that_a_heartbeat_elected_is_replaced_by_the_next_change(tmp_path, loading):
    log, batch = elected_by_a_heartbeat(19, replicas=(0, 1))
    log.add(*batch)
    offset = log.add(log.change(isr=(0, 1)))
    log.write(tmp_path)
    _, found = findings(tmp_path, loading)
    assert ("P14", offset, None) in [(f.kind, f.offset, f.known_bug) for f in found]


def test_every_partition_that_a_heartbeat_elects_for_is_counted(tmp_path, loading):
    log, (unfenced, elected, lost) = elected_by_a_heartbeat(19, partitions=2)
    second = (*elected[:2], {**elected[2], "partitionId": 1})
    offset = log.add(unfenced, elected, second, lost) - 2
    log.write(tmp_path)
    _, (found,) = findings(tmp_path, loading)
    assert (found.offset, found.known_bug) == (offset, BUG)
    assert found.detail.endswith(f"; so at 1 more offset ({offset + 1})")
