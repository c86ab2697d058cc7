"""A leader in a lost directory: excused where Kafka leaves it there, and refused elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.krafla.audit.breaking import NOTHING, OTHER, TOPIC, UNASSIGNED
from tests.krafla.audit.old_logs import (
    BROKERS,
    DIRECTORIES,
    ELR,
    OldLog,
    continued,
    without_a_leader,
)

from krafla.audit.result import Weight
from krafla.audit.run import audit
from kraft.ids import uuid_text
from kraft.image.entries import LOST

KAFKA = Path(__file__).parent / "kafka"
THIRD = uuid_text(bytes([9] * 15 + [99]))
BOTH = (DIRECTORIES[0], OTHER)


def violations(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.offset) for f in found if f.kind != "not judged"]


def partition(number=0, where=DIRECTORIES[0], **fields):
    plain = {
        "partitionId": number, "topicId": TOPIC, "replicas": BROKERS, "isr": BROKERS,
        "removingReplicas": (), "addingReplicas": (), "leader": 0, "leaderEpoch": 0,
        "partitionEpoch": 0, "directories": (where, DIRECTORIES[1], DIRECTORIES[2]),
    }  # fmt: skip
    return (3, 1, {**plain, **fields})


def change(number, **fields):
    return (5, 1, {"partitionId": number, "topicId": TOPIC, **fields})


def lost(log, *left):
    """Return the record that leaves broker 0 these directories, and changes no partition."""
    return (17, 2, {"brokerId": 0, "brokerEpoch": log.epochs[0], "logDirs": left})


def restarted(log, *directories):
    incarnation = uuid_text(bytes([8] * 15 + [log.end]))
    log.add(log.register(0, epoch=log.end, logDirs=directories, incarnationId=incarnation))
    log.add(log.unfence(0))


def place(log, *partitions):
    """Create partitions, and let broker 0, which has several directories, name their own."""
    unnamed = {"directories": (UNASSIGNED, DIRECTORIES[1], DIRECTORIES[2])}
    begun = [(*p[:2], {**p[2], **unnamed}) for p in partitions]
    log.add((2, 0, {"name": "old", "topicId": TOPIC}), *begun)
    log.add(*(change(p[2]["partitionId"], directories=p[2]["directories"]) for p in partitions))


def displaced(*partitions, directories=(OTHER,)):
    """Return a log whose leader 0 came back, unfenced, with other directories than it leads in."""
    log = OldLog(19, 19)
    log.add(log.fence(0))
    restarted(log, *BOTH)
    place(log, *(partitions or (partition(),)))
    restarted(log, *directories)
    return log


def test_a_replaced_leader_that_lost_its_directory_leads_there_until_it_is_fenced(
    tmp_path, loading
):
    log = displaced()
    log.write(tmp_path / "unfenced")
    assert violations(tmp_path / "unfenced", loading) == []
    log.add(log.fence(0), log.change(isr=(1, 2), leader=1))
    log.add(log.unfence(0))
    log.add(log.change(isr=(0, 1, 2)))
    offset = log.add(log.change(leader=0))
    log.write(tmp_path / "fenced")
    assert violations(tmp_path / "fenced", loading) == [("P14", offset)]


def test_a_leader_that_only_loses_its_directory_does_not_stay_there(tmp_path, loading):
    log = displaced(directories=BOTH)
    offset = log.add(lost(log, OTHER))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P14", offset)]


def test_a_replaced_leader_does_not_stay_in_the_next_directory_that_it_loses(tmp_path, loading):
    log = displaced(partition(), partition(1, OTHER), directories=(OTHER, THIRD))
    log.write(tmp_path / "once")
    assert violations(tmp_path / "once", loading) == []
    offset = log.add(lost(log, THIRD))
    log.write(tmp_path / "twice")
    assert violations(tmp_path / "twice", loading) == [("P14", offset)]


def test_a_leader_whose_directory_came_back_does_not_stay_there_when_it_is_lost(tmp_path, loading):
    log = displaced()
    restarted(log, *BOTH)
    offset = log.add(lost(log, OTHER))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P14", offset)]


def test_a_replaced_leader_is_replaced_by_the_next_change(tmp_path, loading):
    log = displaced()
    log.add(log.change(isr=(1, 2), leader=1))
    log.write(tmp_path / "elected")
    assert violations(tmp_path / "elected", loading) == []
    log = displaced()
    offset = log.add(log.change(isr=(0, 1)))
    log.write(tmp_path / "kept")
    assert violations(tmp_path / "kept", loading) == [("P14", offset)]


def test_another_partition_that_comes_into_an_excused_state_is_refused(tmp_path, loading):
    log = displaced(partition(), partition(1))
    log.add(change(1, leader=1))
    offset = log.add(change(1, leader=0))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P14", offset)]


def test_a_leader_that_moves_to_an_excused_place_is_replaced_in_the_same_operation(
    tmp_path, loading
):
    log = displaced(partition(), partition(1, OTHER))
    place = (DIRECTORIES[0], DIRECTORIES[1], DIRECTORIES[2])
    log.add(change(1, directories=place), change(1, isr=(1, 2), leader=1))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == []


def checkpointed(directories):
    """Return the records of a checkpoint in which broker 0 leads, and has these directories."""
    log = OldLog(19, 19)
    brokers = [log.register(b, epoch=log.epochs[b], fenced=False) for b in BROKERS]
    brokers[0] = (*brokers[0][:2], {**brokers[0][2], "logDirs": directories})
    return [*log.batches[0], *brokers, (2, 0, {"name": "old", "topicId": TOPIC}), partition()]


@pytest.mark.parametrize(
    ("directories", "batches", "expected"),
    [
        ((OTHER,), [], None),
        ((OTHER,), [[NOTHING], [NOTHING]], None),
        ((OTHER,), [[change(0, leader=1)]], None),
        ((OTHER,), [[NOTHING], [change(0, isr=(0, 1))]], 1),
        (BOTH, [[NOTHING], [lost(OldLog(19, 19), OTHER)]], 1),
        (BOTH, [[change(0, isr=(1, 2), leader=1), lost(OldLog(19, 19), OTHER)]], None),
    ],
    ids=[
        "alone",
        "it stays",
        "it is replaced",
        "it changes",
        "it is lost",
        "it is lost and replaced",
    ],
)
def test_a_checkpoint_excuses_what_it_shows_and_nothing_that_follows(
    tmp_path, loading, directories, batches, expected
):
    start = continued(tmp_path, checkpointed(directories), *batches)
    found = violations(tmp_path, loading)
    assert found == ([] if expected is None else [("P14", start + expected)])


def findings(folder, loading):
    report = audit([folder], loading=loading)
    return report, [f for f in report.clusters[0].all_findings() if f.weight is not Weight.NOTE]


def elected_in_a_lost_directory():
    """Return a log with the known bug of Kafka 3.7 to 4.1, and the offset of its record."""
    log = without_a_leader()
    return log, log.add(log.change(leader=0, directories=(LOST, LOST)))


def test_kafka_4_1_elected_a_leader_in_a_lost_directory(loading):
    report, (one,) = findings(KAFKA / "lost-directory", loading)
    assert (one.kind, one.offset) == ("P14", 16)
    assert one.known_bug == "a bug of Kafka 3.7 to 4.1 that has no issue, in KIP-858"
    assert report.clusters[0].directories[0].judged_to == 20


@pytest.mark.parametrize("lost", [True, False], ids=["another replica moves", "two replicas move"])
def test_an_election_that_its_broker_does_not_ask_for_is_not_the_known_bug(tmp_path, loading, lost):
    log = without_a_leader()
    if lost:
        log.add(log.change(directories=(LOST, LOST)))
    offset = log.add(log.change(leader=0, directories=(LOST, DIRECTORIES[1])))
    log.write(tmp_path)
    first, *_ = findings(tmp_path, loading)[1]
    assert (first.kind, first.offset, first.known_bug) == ("P14" if lost else "T9", offset, None)


def test_an_election_in_a_lost_directory_is_counted_after_a_broker_changed(tmp_path, loading):
    log, offset = elected_in_a_lost_directory()
    log.add(log.change(leader=-1, directories=(DIRECTORIES[0], LOST)))
    log.add(log.fence(2))
    again = log.add(log.change(leader=0, directories=(LOST, LOST)))
    log.write(tmp_path)
    _, (found,) = findings(tmp_path, loading)
    assert (found.kind, found.offset) == ("P14", offset)
    assert found.detail.endswith(f"; so at 1 more offset ({again})")


@pytest.mark.parametrize("name", ["old", ""], ids=["its topic", "every topic"])
def test_a_leader_elected_in_a_lost_directory_stays_there_when_the_elr_is_cleared(
    tmp_path, loading, name
):
    log = OldLog(25, 27, (ELR,))
    log.topic((0, 1))
    log.add(log.change(isr=(0,)))
    emptied = {"isr": (), "leader": -1, "eligibleLeaderReplicas": (0,), "lastKnownElr": (0,)}
    log.add(log.change(directories=(DIRECTORIES[0], LOST)))
    log.add(log.change(directories=(LOST, LOST)), log.change(**emptied))
    log.add(log.change(directories=(DIRECTORIES[0], LOST)))
    moved = {"directories": (LOST, LOST), "eligibleLeaderReplicas": ()}
    offset = log.add(log.change(isr=(0,), leader=0, **moved))
    least = {"resourceType": 2 if name else 4, "resourceName": name, "value": "1"}
    last = log.add((4, 0, {**least, "name": "min.insync.replicas"}), (28, 0, {"topicName": name}))
    log.write(tmp_path)
    report, (found,) = findings(tmp_path, loading)
    assert (found.kind, found.offset, found.known_bug is None) == ("P14", offset, False)
    assert report.clusters[0].directories[0].judged_to == last + 1


LOST_THERE = ("P14", 50, "a bug of Kafka 3.7 to 4.1 that has no issue, in KIP-858")


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        (lambda _: [], []),
        (lambda log: [[NOTHING], [log.fence(2)]], []),
        (lambda log: [[NOTHING], [log.change(isr=(0,))]], [("P14", 51, None)]),
    ],
    ids=["alone", "it stays", "it changes"],
)
def test_with_eligible_leader_replicas_a_checkpoint_shows_the_known_bug(
    tmp_path, loading, batches, expected
):
    log = OldLog(25, 25, (ELR,))
    log.topic((0, 1))
    brokers = [log.register(b, epoch=log.epochs[b], fenced=False) for b in BROKERS]
    brokers[0] = (*brokers[0][:2], {**brokers[0][2], "logDirs": (OTHER,)})
    continued(tmp_path, [*log.batches[0], *brokers, *log.batches[-1]], *batches(log))
    _, found = findings(tmp_path, loading)
    assert sorted((f.kind, f.offset, f.known_bug) for f in found) == [LOST_THERE, *expected]


GONE = {"directories": (LOST, DIRECTORIES[1], DIRECTORIES[2])}
TOOK = {"leader": 1, "isr": (1,), "eligibleLeaderReplicas": (0,)}
UNCLEAN = {"leader": 2, "isr": (2,), "leaderRecoveryState": 1, "eligibleLeaderReplicas": ()}
EMPTIED = {"eligibleLeaderReplicas": ()}
MOVES = {
    "the ELR is emptied, and one of it elected": ((1,), GONE | EMPTIED, TOOK, None),
    "another is elected": ((2,), GONE | EMPTIED, TOOK, "P15"),
    "there is no ELR": ((), GONE, TOOK, "P15"),
    "the ELR is emptied, and then by an unclean election": ((1,), GONE | EMPTIED, UNCLEAN, None),
    "there is no ELR, and an unclean election empties it": ((), GONE, UNCLEAN, "W4"),
}
"""By how a replica moves, alone in sync: the ELR, two records, what the second violates."""


def alone_in_sync(eligible, *more):
    """Return a log of a partition, or two, with broker 0 alone in sync, and this ELR."""
    log = OldLog(25, 27, (ELR,))
    log.topic()
    named, plain = log.batches[-1]
    log.batches[-1] = [named, plain, *((*plain[:2], {**plain[2], **one}) for one in more)]
    log.add(*(
        log.change(isr=(0,), **one, **({"eligibleLeaderReplicas": eligible} if eligible else {}))
        for one in ({}, *more)
    ))  # fmt: skip
    return log


@pytest.mark.parametrize("what", MOVES)
def test_a_replica_that_moves_to_a_lost_directory_empties_the_elr_before_the_election(
    tmp_path, loading, what
):
    eligible, moved, elected, expected = MOVES[what]
    log = alone_in_sync(eligible)
    if expected is None and elected is UNCLEAN:
        log.add(log.fence(1))
    offset = log.add(log.change(**moved), log.change(**elected))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if expected is None else [(expected, offset)])


def test_what_empties_an_elr_is_forgotten_with_its_operation(tmp_path, loading):
    other = {"partitionId": 1}
    log = alone_in_sync((1,), other)
    log.add(log.change(**GONE, **EMPTIED), log.change(**TOOK))
    log.add(log.change(**EMPTIED, **other))
    offset = log.add(log.change(**GONE, **other), log.change(**TOOK, **other))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P15", offset)]


def test_a_replica_that_moves_to_an_online_directory_stays_in_sync(tmp_path, loading):
    log = alone_in_sync((1,))
    moved = {"directories": (UNASSIGNED, DIRECTORIES[1], DIRECTORIES[2])}
    offset = log.add(log.change(**moved, **EMPTIED), log.change(**TOOK))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P15", offset)]
