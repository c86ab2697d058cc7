"""A leader in a lost directory: excused where Kafka leaves it there, and refused elsewhere."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING, OTHER, TOPIC
from tests.krafla.audit.old_logs import BROKERS, DIRECTORIES, OldLog, continued

from krafla.audit.run import audit
from kraft.ids import uuid_text

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


def displaced(*partitions, directories=(OTHER,)):
    """Return a log whose leader 0 came back, unfenced, with other directories than it leads in."""
    log = OldLog(19, 19)
    log.add(log.fence(0))
    restarted(log, *BOTH)
    log.add((2, 0, {"name": "old", "topicId": TOPIC}), *(partitions or (partition(),)))
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
    log = displaced(partition(), partition(1, isr=(1, 2), leader=1))
    log.add(change(1, isr=BROKERS))
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
