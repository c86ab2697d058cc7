"""A broker that is fenced and keeps its partitions: it may, but it gains none."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING, OTHER, TOPIC
from tests.krafla.audit.old_logs import BROKERS, NEW_INCARNATION, OldLog, continued

from krafla.audit.run import audit
from kraft.ids import uuid_text


def violations(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.offset) for f in found if f.kind != "not judged"]


def incarnation(number):
    return {"incarnationId": uuid_text(bytes([8] * 15 + [number]))}


def displaced(level=11, shrunk=None, **partition):
    """Return a log whose broker 0 was replaced while it was unfenced, and is fenced since."""
    log = OldLog(level, level)
    log.topic(**partition)
    if shrunk is not None:
        log.add(log.change(isr=shrunk, leader=shrunk[0]))
    log.add(log.register(0, epoch=log.end, **NEW_INCARNATION))
    return log


@pytest.mark.parametrize("level", [7, 14, 19])
def test_a_replaced_leader_may_be_replaced_again_before_it_is_unfenced(tmp_path, loading, level):
    log = displaced(level)
    for number in range(2):
        log.add(log.register(0, epoch=log.end, **incarnation(number)))
    log.write(tmp_path / "again")
    assert violations(tmp_path / "again", loading) == []
    offset = log.add(log.fence(0))
    log.write(tmp_path / "fenced")
    assert violations(tmp_path / "fenced", loading) == [("P11", offset), ("P12", offset)]


def test_a_fenced_broker_is_not_displaced_by_its_next_incarnation(tmp_path, loading):
    log = displaced()
    log.add(log.change(isr=(1, 2), leader=1), log.fence(0))
    log.add(log.register(0, epoch=log.end, **incarnation(0)))
    offset = log.add(log.change(isr=(1, 2, 0)))
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P12", offset)]


GAINS = {
    "the lead": (None, {"leader": 0}, "P11"),
    "a place in the ISR": ((1, 2), {"isr": (1, 2, 0)}, "P12"),
    "nothing": (None, {"isr": (1, 2), "leader": 1}, None),
}


@pytest.mark.parametrize("what", GAINS)
def test_a_displaced_broker_gains_nothing(tmp_path, loading, what):
    shrunk, change, expected = GAINS[what]
    log = displaced(shrunk=shrunk, replicas=(1, 2, 0), leader=1)
    offset = log.add(log.change(**change))
    log.write(tmp_path)
    found = violations(tmp_path, loading)
    assert found[:1] == ([] if expected is None else [(expected, offset)])


@pytest.mark.parametrize(("isr", "held"), [((1, 2), True), ((1, 2, 0), False)])
def test_a_displaced_broker_is_in_no_isr_of_a_new_partition(tmp_path, loading, isr, held):
    log = displaced()
    other = {"partitionId": 1, "replicas": (1, 2, 0), "isr": isr, "leader": 1}
    record = (3, 0, {**log.batches[-2][1][2], **other})
    offset = log.add(record)
    log.write(tmp_path)
    assert violations(tmp_path, loading) == ([] if held else [("P12", offset)])


def checkpointed(**partition):
    """Return a checkpoint of Kafka 3.5 whose broker 2 is fenced."""
    log = OldLog(11, 11)
    brokers = [log.register(b, epoch=log.epochs[b], fenced=b == 2) for b in BROKERS]
    log.topic(**partition)
    return log, [*log.batches[0], *brokers, *log.batches[-1]]


def test_a_fenced_broker_of_a_checkpoint_may_keep_what_it_has(tmp_path, loading):
    log, records = checkpointed(leader=2)
    continued(tmp_path, records, [NOTHING], [log.unfence(2)], [log.change(isr=(2, 1), leader=2)])
    assert violations(tmp_path, loading) == []


@pytest.mark.parametrize(
    ("partition", "change", "kind"),
    [
        ({"isr": BROKERS}, {"leader": 2}, "P11"),
        ({"isr": (0, 1)}, {"isr": BROKERS}, "P12"),
        ({"isr": (0, 1)}, {"isr": (2,), "leader": 2, "leaderRecoveryState": 1}, "P11"),
    ],
)
def test_a_fenced_broker_of_a_checkpoint_gains_nothing(tmp_path, loading, partition, change, kind):
    log, records = checkpointed(**partition)
    start = continued(tmp_path, records, [NOTHING], [log.change(**change)])
    assert (kind, start + 1) in violations(tmp_path, loading)


def copied(state, isr=BROKERS):
    """Return a log at a state of a migration: broker 2 is registered, and has not caught up."""
    log = OldLog(14, 14)
    log.add((21, 0, {"zkMigrationState": state}))
    log.add(log.fence(2))
    log.add(log.register(2, epoch=log.end, isMigratingZkBroker=state == 2, incarnationId=OTHER))
    fields = {
        "partitionId": 0, "topicId": TOPIC, "replicas": BROKERS, "isr": isr, "leader": isr[0],
        "removingReplicas": (), "addingReplicas": (), "leaderEpoch": 0, "partitionEpoch": 0,
    }  # fmt: skip
    return log, log.add((2, 0, {"name": "old", "topicId": TOPIC}), (3, 0, fields))


@pytest.mark.parametrize("isr", [(0, 1, 2), (2, 1), (2,)], ids=str)
def test_a_migration_copies_partitions_of_brokers_that_have_not_caught_up(tmp_path, loading, isr):
    log, _ = copied(2, isr)
    log.add((21, 0, {"zkMigrationState": 1}))
    log.add(log.unfence(2))
    log.write(tmp_path / "unfenced")
    assert violations(tmp_path / "unfenced", loading) == []
    offset = log.add(log.fence(2))
    log.write(tmp_path / "fenced")
    assert set(violations(tmp_path / "fenced", loading)) & {("P12", offset), ("P13", offset)}


def test_only_a_migration_does(tmp_path, loading):
    log, offset = copied(0)
    log.write(tmp_path)
    assert violations(tmp_path, loading) == [("P12", offset)]


CANCELLED = {"replicas": (0, 2), "addingReplicas": (), "isr": (0,), "leader": -1}
CANCELLATIONS = {
    "an unclean revert, without a leader": ((1,), CANCELLED, None),
    "an unclean revert, with it as the leader": ((1,), CANCELLED | {"leader": 0}, "P11"),
    "an unclean revert, with it as the last replica": (
        (1,),
        CANCELLED | {"replicas": (2, 0)},
        "P12",
    ),
    "with another old replica in sync": ((1, 2), CANCELLED, "P12"),
    "none": ((1,), {"isr": (0,), "leader": -1}, "P12"),
}
"""By how a reassignment is cancelled: the ISR before, the change, what is violated."""


@pytest.mark.parametrize("level", [14, 19])
@pytest.mark.parametrize("what", CANCELLATIONS)
def test_only_an_unclean_revert_takes_a_displaced_broker_into_the_isr(
    tmp_path, loading, what, level
):
    isr, change, expected = CANCELLATIONS[what]
    log = OldLog(level, 21)
    log.topic((0, 2))
    log.add(log.change(replicas=(0, 1, 2), addingReplicas=(1,)), log.change(isr=(0,)))
    log.add(log.change(isr=(0, 1)))
    log.add(log.change(isr=(1,), leader=1), log.fence(0))
    log.add(log.unfence(0))
    log.add(log.fence(2) if isr == (1,) else log.change(isr=isr))
    log.add(log.register(0, epoch=log.end, **NEW_INCARNATION))
    offset = log.add(log.change(**change))
    log.write(tmp_path)
    found = violations(tmp_path, loading)
    assert (found == []) if expected is None else ((expected, offset) in found)
