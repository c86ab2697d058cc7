"""A log that breaks each invariant of a record, a batch or an operation."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    OTHER,
    TOPIC,
    Broken,
    broker_change,
    change,
    directory,
    feature,
    first_refusal,
    partition,
    place,
    prefix,
    register,
    registrations,
    topic,
    written,
)

from krafla.audit.registry import REGISTRY
from krafla.audit.run import audit
from kraft.ids import uuid_text

SETUP = [topic(), partition(), partition(1)]
MOVING = [topic(), partition(0, (0, 1))]
START = [change(replicas=(2, 1, 0), addingReplicas=(2,), removingReplicas=(0,))]
ENDED = {"addingReplicas": (), "removingReplicas": ()}
ALONE = [change(isr=(0,))]
"""Broker 0 alone is in sync; then it shuts down uncleanly, and the partition is lost."""
LOST = [
    change(isr=(), leader=-1, lastKnownElr=(0,)),
    change(1, isr=(1, 2), leader=1),
    register(0, incarnationId=OTHER, brokerEpoch=prefix()[1] + 4),
]
UNCLEAN = [change(isr=(1,), leader=1, leaderRecoveryState=1, lastKnownElr=())]
NEW = OTHER
LOST_DIRECTORY, NO_DIRECTORY = (uuid_text(bytes(15) + bytes([last])) for last in (2, 1))
BEGIN = (23, 0, {"name": "Bootstrap records"})


def after(*batches):
    """Return a log whose last batch has one record, which is to blame."""
    return Broken([*batches[:-1], [batches[-1]]], (len(batches) - 1, 0))


def of_logs_and_brokers():
    yield "L1", after(SETUP, (5, 1, change(leader=1)[2]))
    yield "L3", after((24, 0, {}))
    yield "L9", after((9, 0, {"topicId": OTHER}))
    yield "L11", Broken([[topic(), NOTHING], [partition()]], (0, 0))
    yield "F2", after(feature("metadata.version", 22))
    yield "F3", after(feature("kraft.version", 1))
    yield "B2", after(register(0, incarnationId=NEW, brokerEpoch=18))
    yield "B3", after(register(7, brokerId=7, incarnationId=NEW, brokerEpoch=17, logDirs=(NEW,)))
    yield "B4", after(register(0, fenced=True, inControlledShutdown=True))
    yield (
        "B5",
        Broken([[register(0, incarnationId=NEW, brokerEpoch=prefix()[1], fenced=False)]], (0, 0)),
    )
    yield "B6", after((17, 0, {"brokerId": 0, "brokerEpoch": 16, "fenced": 1}))
    yield "B7", after(broker_change(0, 1, inControlledShutdown=-1))
    yield "B8", after((12, 0, {"name": "transaction.version", "featureLevel": 9}))
    yield "B9", after(broker_change(0, 2, logDirs=(directory(1),)))
    yield "B10", after(broker_change(0, 2, logDirs=(*registrations()[0]["logDirs"], NEW)))
    yield "B15", after(register(0, fenced=False, endPoints=()))


def of_topics_and_partitions():
    yield "T1", Broken([SETUP, [topic("broken", OTHER), NOTHING]], (1, 0))
    yield "T2", Broken([[topic("not valid"), partition()]], (0, 0))
    yield "T3", Broken([[topic(), partition(0), partition(2)]], (0, 2))
    yield "T5", after(SETUP, change(2, isr=(0,)))
    yield "T6", after(SETUP, [(9, 0, {"topicId": TOPIC})], change(isr=(0,)))
    yield "T7", Broken([[topic(), partition(leader=1)]], (0, 1))
    yield "T8", Broken([[topic(), partition(0, (0, 5))]], (0, 1))
    yield "T9", Broken([[topic(), partition(directories=(directory(0),))]], (0, 1))
    yield "T10", Broken([[topic(), partition(), partition(1, (0, 1))]], (0, 2))
    yield "P1", after(SETUP, change(isr=(0, 1, 2, 7)))
    yield "P2", after(SETUP, change(isr=(1, 2)))
    yield "P3", after(SETUP, change(leader=7))
    no_elr = [(12, 0, {"name": "eligible.leader.replicas.version", "featureLevel": 0})]
    yield "P4", after(SETUP, no_elr, change(isr=(), leader=-1))
    yield "P5", after(SETUP, ALONE, change(isr=()))
    yield "P6", after(SETUP, change(isr=(0, 1), eligibleLeaderReplicas=(1, 2)))
    yield "P7", after(SETUP, change(isr=(0, 1), eligibleLeaderReplicas=(2,)))
    yield "P8", after(SETUP, ALONE, change(isr=(), leader=-1, lastKnownElr=(0, 1)))
    yield "P9", after(SETUP, ALONE, LOST, UNCLEAN, change(isr=(1, 2)))
    yield "P10", after(SETUP, change(leaderRecoveryState=1))
    yield "P11", after(SETUP, broker_change(0, fenced=1))
    yield "P12", after(SETUP, broker_change(2, fenced=1))
    alone = [change(0, isr=(0,)), change(1, replicas=(1, 2), isr=(1, 2), leader=1)]
    yield "P13", after(SETUP, alone, broker_change(0, fenced=1))
    yield "P14", after(SETUP, change(directories=(NEW, place(1), directory(2))))
    yield "P15", after(SETUP, ALONE, LOST, change(isr=(1,), leader=1, lastKnownElr=()))
    yield "P16", after(SETUP, ALONE, change(leader=-1))


def of_epochs_and_moves():
    yield "E1", after(SETUP, partition())
    yield "E3", Broken([[topic(), partition(leaderEpoch=1)]], (0, 1))
    yield "E4", after(SETUP, partition(isr=(1, 0, 2), leader=1))
    yield "E5", after(SETUP, change(replicas=(0, 1), isr=(0, 1)))
    yield "E6", after(SETUP, change(isr=(0, 1), leader=0))
    yield "E7", after(SETUP, change(leader=0))
    yield "X1", after(SETUP, [change(isr=(0, 1))], change(addingReplicas=(7,)))
    both = change(addingReplicas=(2,), removingReplicas=(2,))
    yield "X2", after(SETUP, [change(isr=(0, 1))], both)
    yield "X3", after(SETUP, change(removingReplicas=(0, 1, 2)))
    yield "X4", after(MOVING, START, change(replicas=(1, 2), isr=(1, 2), leader=1, **ENDED))
    yield "X5", after(MOVING, START, change(replicas=(2, 1), isr=(1,), leader=1, **ENDED))
    yield "X6", after(MOVING, START, change(isr=(0, 1, 2)))
    half = change(replicas=(2, 1), isr=(1,), leader=1, removingReplicas=())
    yield "X7", after(MOVING, START, half)
    adding = [change(replicas=(0, 1, 2), addingReplicas=(2,))]
    gone = change(replicas=(1,), isr=(), leader=-1, eligibleLeaderReplicas=(1,), addingReplicas=())
    yield "X8", after(MOVING, adding, gone)
    yield "X9", after(MOVING, START, change(replicas=(2, 1), isr=(2, 1), **ENDED))


def of_the_rest():
    ids = {"brokerId": 0, "brokerEpoch": 17, "nextProducerId": 1000}
    yield "O1", after((15, 0, {**ids, "nextProducerId": 999}))
    yield "O2", after((15, 0, {**ids, "brokerEpoch": 16}))
    yield "O3", after((27, 0, controller()))
    yield "O4", after((19, 0, {"id": OTHER}))
    setting = {"resourceType": 2, "resourceName": "nowhere", "name": "a", "value": "b"}
    yield "O5", after((4, 0, setting))
    yield "W3", after((14, 0, {"entity": (), "key": "a", "value": 1.0, "remove": False}))
    yield "W4", after(SETUP, change(isr=(0, 1), addingReplicas=()))
    yield "W5", after((21, 0, {"zkMigrationState": 1}))
    yield "O6", after((22, 0, {"name": "nobody", "mechanism": 1}))


def controller():
    endpoint = {"name": "C", "host": "h", "port": 1, "securityProtocol": 0}
    return {
        "controllerId": 3000, "incarnationId": OTHER, "zkMigrationReady": False,
        "endPoints": (endpoint,), "features": (),
    }  # fmt: skip


BROKEN_LOGS = dict(
    [*of_logs_and_brokers(), *of_topics_and_partitions(), *of_epochs_and_moves(), *of_the_rest()]
)


BESIDE = {
    "another order of an ISR without its leader": (
        "P4", Broken([[topic(), partition()],
                      [change(isr=(2, 1), leader=1), broker_change(0, fenced=1)]], (1, 0)),
    ),
    "adding replicas out of order": (
        "X2", after([topic(), partition(replicas=(0,))],
                    change(replicas=(0, 2, 1), addingReplicas=(2, 1))),
    ),
    "removing replicas out of order": (
        "X2", after(SETUP, change(replicas=(2, 0, 1), removingReplicas=(1, 0))),
    ),
    "an election out of sync": (
        "P15", after(SETUP, [change(isr=(0, 1))], change(isr=(2,), leader=2)),
    ),
    "a completion that loses a replica": (
        "X4", after(MOVING, START, change(replicas=(2,), isr=(2,), leader=2, **ENDED)),
    ),
    "a topic whose name collides": (
        "T2", after([topic("a.b"), partition()], topic("a_b", OTHER)),
    ),
    "a new partition in another broker's directory": (
        "T7", Broken([[topic(), partition(directories=(*map(directory, (0, 0, 2)),))]], (0, 1)),
    ),
    "a new partition in a directory that was lost": (
        "T7", Broken([[topic(), partition(directories=(LOST_DIRECTORY,) * 3)]], (0, 1)),
    ),
    "a new replica in another broker's directory": (
        "T9", after(MOVING, change(replicas=(0, 1, 2), addingReplicas=(2,),
                                   directories=(*map(directory, (0, 1, 1)),))),
    ),
    "a change of a broker that changes nothing": ("B7", after(broker_change(0))),
    "a change of a broker's directories that names none": ("B7", after(broker_change(0, 1))),
    "directories that are not named": ("T9", after(SETUP, change(isr=(0, 1), directories=()))),
}  # fmt: skip


@pytest.mark.parametrize("what", BESIDE)
def test_cases_outside_the_exceptions_are_rejected(tmp_path, loading, what):
    invariant, broken = BESIDE[what]
    log, offset = written(tmp_path, broken)
    found = audit([log], loading=loading).clusters[0].all_findings()
    assert {(kind, offset) for kind in REGISTRY[invariant].kinds} & {
        (one.kind, one.offset) for one in found
    }


def test_a_name_collides_no_more_once_its_topic_is_removed(tmp_path, loading):
    again = [topic("a_b", OTHER), partition(topicId=OTHER)]
    batches = [[topic("a.b"), partition()], [(9, 0, {"topicId": TOPIC})], again]
    log, _ = written(tmp_path, Broken(batches, (0, 0)))
    assert audit([log], loading=loading).clusters[0].all_findings() == ()


@pytest.mark.parametrize("invariant", BROKEN_LOGS)
def test_a_log_that_breaks_an_invariant_is_rejected_by_it_at_the_record(
    tmp_path, loading, invariant
):
    log, offset = written(tmp_path, BROKEN_LOGS[invariant])
    found = audit([log], loading=loading).clusters[0].all_findings()
    first = first_refusal(found, invariant)
    assert (first.kind, first.offset) in {(kind, offset) for kind in REGISTRY[invariant].kinds}, (
        found
    )
    assert first.path is not None
    assert first.path.is_relative_to(tmp_path)


@pytest.mark.parametrize(
    "batches",
    [
        [SETUP],
        [SETUP, ALONE, LOST, UNCLEAN],
        [MOVING, START],
        [[topic(), partition(replicas=(0,))], [change(replicas=(0, 2, 1), addingReplicas=(1, 2))]],
        [SETUP, [change(isr=(0, 1))], [change(replicas=(2, 0, 1), removingReplicas=(0, 1))]],
        [
            [topic(), partition()],
            [change(isr=(0, 1))],
            [change(isr=(2, 1, 0))],
            [change(isr=(2, 1), leader=1), broker_change(0, fenced=1)],
        ],
        [SETUP, [change(directories=(directory(0), NO_DIRECTORY, directory(0)))]],
        [SETUP, [*(change(n, isr=(1, 2), leader=1) for n in (0, 1)), broker_change(0, 2)]],
    ],
    ids=[
        "set up",
        "an unclean election",
        "a reassignment",
        "a reassignment that adds two replicas",
        "a reassignment that removes two replicas",
        "an ISR that its leader leaves",
        "a replica that its broker moves",
        "no directory is left",
    ],
)
def test_the_common_part_of_the_broken_logs_breaks_no_invariant(tmp_path, loading, batches):
    log, _ = written(tmp_path, Broken(batches, (0, 0)))
    assert audit([log], loading=loading).clusters[0].all_findings() == ()


@pytest.mark.parametrize(
    ("invariant", "conjunct"),
    [
        ("B2", "epoch_floor"),
        ("B3", "epoch_floor"),
        ("B4", "fenced"),
        ("B5", "fenced"),
        ("B6", "epoch"),
    ],
)
def test_the_spec_names_the_conjunct_that_is_false(tmp_path, loading, invariant, conjunct):
    log, _ = written(tmp_path, BROKEN_LOGS[invariant])
    found = audit([log], loading=loading).clusters[0].all_findings()[0]
    assert [conjunct in one.text for one in found.evidence.false] == [True], found.evidence.false
