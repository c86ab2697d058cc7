"""A migration from ZooKeeper writes what it copies, and only in its first state."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import NOTHING, OTHER, TOPIC
from tests.krafla.audit.old_logs import BROKERS, ENDPOINT, OldLog, continued

from krafla.audit.run import audit

PLAIN = {
    "partitionId": 0, "topicId": TOPIC, "replicas": (0, 1, 2), "isr": (0, 1, 2),
    "removingReplicas": (), "addingReplicas": (), "leader": 0, "leaderEpoch": 0,
    "partitionEpoch": 0,
}  # fmt: skip


def state(number):
    return (21, 0, {"zkMigrationState": number})


def partition(number=0, **fields):
    return (3, 0, {**PLAIN, "partitionId": number, **fields})


def setting(node):
    return (4, 0, {"resourceType": 4, "resourceName": node, "name": "a", "value": "b"})


def quota(*kinds, key="producer_byte_rate"):
    entity = tuple({"entityType": kind, "entityName": "a"} for kind in kinds)
    return (14, 0, {"entity": entity, "key": key, "value": 1.0, "remove": False})


CREDENTIAL = (11, 0, {
    "name": "a", "mechanism": 1, "salt": b"s", "storedKey": bytes(32), "serverKey": bytes(32),
    "iterations": 4096,
})  # fmt: skip
TOKEN = (10, 0, {
    "owner": "User:a", "requester": "User:a", "renewers": (), "issueTimestamp": 1,
    "maxTimestamp": 9, "expirationTimestamp": 5, "tokenId": OTHER,
})  # fmt: skip
NAMED = (2, 0, {"name": "copied", "topicId": TOPIC})
PRODUCER = {"brokerId": 0, "brokerEpoch": -1, "nextProducerId": 7000}
COPIED = {
    "a credential": ("L1", 8, [[CREDENTIAL]]),
    "a token": ("L1", 13, [[TOKEN]]),
    "a led partition": ("T7", 14, [[NAMED, partition(isr=(0, 1), leader=1)]]),
    "epochs": ("T7", 14, [[NAMED, partition(leaderEpoch=5, partitionEpoch=9)]]),
    "a reassignment": ("T7", 14, [[NAMED, partition(removingReplicas=(2,))]]),
    "a record without directories": ("L1", 19, [[NAMED, partition()]]),
    "fewer replicas": ("T10", 14, [[NAMED, partition(), partition(1, replicas=(0,), isr=(0,))]]),
    "a topic alone": ("L11", 14, [[NAMED], [partition()]]),
    "partitions in any order": ("T3", 14, [[NAMED, partition(1)], [partition()]]),
    "the next producer id": ("O1", 14, [[(15, 0, {**PRODUCER, "nextProducerId": 7000})]]),
    "no owner of producer ids": ("O2", 14, [[(15, 0, {**PRODUCER, "nextProducerId": 1000})]]),
    "a broker that is gone": ("O5", 14, [[setting("9")]]),
    "a quota by its folder": ("W3", 8, [[quota("users", "clients")]]),
    "a quota by that of addresses": ("W3", 8, [[quota("ips", key="connection_creation_rate")]]),
}  # fmt: skip
"""By what is copied: the invariant that it breaks elsewhere, the metadata version, the batches."""


def violations(log, folder, loading):
    log.write(folder)
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(f.kind, f.offset) for f in found]


def kinds(log, folder, loading):
    return [kind for kind, _ in violations(log, folder, loading)]


def logged(level, states, batches):
    log = OldLog(level, level)
    for number in states:
        log.add(state(number))
    for batch in batches:
        log.add(*batch)
    return log


@pytest.mark.parametrize("what", COPIED)
def test_a_migration_copies_it(tmp_path, loading, what):
    _, level, batches = COPIED[what]
    log = logged(level, (2,), batches)
    log.add(state(1))
    log.add(NOTHING)
    assert kinds(log, tmp_path, loading) == []


@pytest.mark.parametrize("what", COPIED)
def test_kafka_3_4_copies_it_in_state_1(tmp_path, loading, what):
    *_, batches = COPIED[what]
    log = logged(8, (1,), [*batches, [state(1)], [NOTHING]])
    assert kinds(log, tmp_path, loading) == []


@pytest.mark.parametrize(
    ("level", "states", "held"),
    [(8, (1, 1, 3), True), (9, (1,), False), (8, (0, 1), False), (8, (1, 2), False)],
    ids=str,
)
def test_only_kafka_3_4_begins_a_migration_with_state_1(tmp_path, loading, level, states, held):
    log = logged(level, states, [[NOTHING]])
    assert kinds(log, tmp_path, loading) == ([] if held else ["W5"])


def test_state_1_of_a_checkpoint_copies_nothing(tmp_path, loading):
    log = logged(8, (1,), ())
    brokers = [log.register(b, epoch=log.epochs[b], fenced=False) for b in BROKERS]
    records = [*log.batches[0], *brokers, state(1)]
    start = continued(tmp_path, records, [NOTHING], [CREDENTIAL])
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert ("L1", start + 1) in [(f.kind, f.offset) for f in found]


def continued_in_3_4(folder, *batches, level=8, migrates=True, said=()):
    """Write a checkpoint that has no state of a migration but `said`, and batches after it."""
    log = OldLog(level, level)
    more = {"isMigratingZkBroker": migrates, "fenced": False}
    brokers = [log.register(b, epoch=log.epochs[b], **more) for b in BROKERS]
    return continued(folder, [*log.batches[0], *map(state, said), *brokers], *batches)


AS_IN_ZOOKEEPER = [NAMED, partition(isr=(1, 2), leader=1, leaderEpoch=5, partitionEpoch=9)]


@pytest.mark.parametrize(
    ("fields", "before", "held"),
    [
        ({}, [], True), ({}, [state(1)], True), ({"migrates": False}, [], False),
        ({"level": 9}, [], False), ({"said": (0,)}, [], False), ({}, [state(1), state(3)], False),
    ],
    ids=[
        "within the copy", "before the first state", "no broker migrates", "Kafka 3.5",
        "no migration", "after the migration",
    ],
)  # fmt: skip
def test_a_checkpoint_of_kafka_3_4_may_stand_within_the_copy(
    tmp_path, loading, fields, before, held
):
    batches = [[NOTHING], *([one] for one in before), AS_IN_ZOOKEEPER]
    start = continued_in_3_4(tmp_path, *batches, **fields)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    blame = start + len(before) + 2
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("T7", blame)])


def test_a_checkpoint_of_kafka_3_4_does_not_say_that_the_metadata_version_stays(tmp_path, loading):
    continued_in_3_4(tmp_path, [(12, 0, {"name": "metadata.version", "featureLevel": 9})])
    assert [f.kind for f in audit([tmp_path], loading=loading).clusters[0].all_findings()] == ["B8"]


@pytest.mark.parametrize("states", [(0,), (2, 1)], ids=str)
@pytest.mark.parametrize("what", COPIED)
def test_else_it_is_refused(tmp_path, loading, what, states):
    invariant, level, batches = COPIED[what]
    assert invariant in kinds(logged(level, states, batches), tmp_path, loading)


@pytest.mark.parametrize(("level", "batch"), [
    (14, [quota("users")]), (8, [quota("users", "ips", key="connection_creation_rate")]),
    (14, [NAMED, partition(leader=7)]),
    (14, [setting("9"), setting("nine")]),
    (14, [NAMED, (3, 1, {**PLAIN, "directories": (OTHER,) * 3})]),
    (8, [CREDENTIAL, (22, 0, {"name": "a", "mechanism": 1})]),
], ids=["a quota of 3.5 by its folder", "a quota of two folders", "a leader that is no replica",
        "a node that is no number", "a record of a later version",
        "a removed credential"])  # fmt: skip
def test_what_no_release_copies_is_refused(tmp_path, loading, level, batch):
    found = kinds(logged(level, (2,), [batch]), tmp_path, loading)
    assert found
    assert set(found) <= {"W3", "P2", "P3", "L1"}


@pytest.mark.parametrize(
    ("level", "states", "held"),
    [(8, (), True), (11, (), False), (8, (0,), False)],
    ids=["Kafka 3.4, before the first state", "Kafka 3.5", "no migration"],
)
def test_a_broker_of_kafka_3_4_registers_before_the_first_state(
    tmp_path, loading, level, states, held
):
    log = logged(level, states, ())
    log.add(log.fence(0))
    log.add(log.register(0, epoch=log.end, incarnationId=OTHER, isMigratingZkBroker=True))
    assert kinds(log, tmp_path, loading) == ([] if held else ["W5"])


def controller(number, *, ready, most=21):
    versions = {"name": "metadata.version", "minSupportedVersion": 1, "maxSupportedVersion": most}
    fields = {"controllerId": number, "incarnationId": OTHER, "zkMigrationReady": ready}
    return (27, 0, {**fields, "endPoints": (ENDPOINT,), "features": (versions,)})


VOTER = 3000
SAID = {
    "nothing": ([], True),
    "ready": ([(VOTER, True)], True),
    "not ready": ([(VOTER, False)], False),
    "ready, then not": ([(VOTER, True), (VOTER, False)], False),
    "not ready, then ready": ([(VOTER, False), (VOTER, True)], True),
    "another is not ready": ([(VOTER + 1, False)], True),
}
"""By what controllers say after a migration: their registrations, whether a broker may migrate."""


@pytest.mark.parametrize("what", SAID)
@pytest.mark.parametrize("kind", ["W5", "E6"])
def test_after_a_migration_no_broker_migrates_once_no_voter_is_set_to(
    tmp_path, loading, what, kind
):
    said, held = SAID[what]
    log = logged(19, (2, 1, 3), ())
    log.topic()
    log.add(log.change(isr=(0, 1), leader=0), log.change(isr=(0, 1, 2)))
    for number, ready in said:
        log.add(controller(number, ready=ready))
    if kind == "E6":
        offset = log.add(log.change(isr=(0, 1), leader=0))
    else:
        log.add(log.fence(2), log.change(isr=(0, 1), leader=0 if held else -2))
        more = {"incarnationId": OTHER, "isMigratingZkBroker": True}
        offset = log.add(log.register(2, epoch=log.end, **more))
    assert violations(log, tmp_path, loading) == ([] if held else [(kind, offset)])


@pytest.mark.parametrize("ready", [True, False])
def test_within_a_migration_every_broker_may_migrate(tmp_path, loading, ready):
    log = logged(19, (2, 1), ())
    log.add(controller(VOTER, ready=ready))
    log.topic()
    log.add(log.change(isr=(0, 1), leader=0))
    assert violations(log, tmp_path, loading) == []


@pytest.mark.parametrize("states", [(), (0,), (2, 1), (2, 1, 3)], ids=str)
def test_a_standby_may_be_set_to_migrate_in_any_state_until_kafka_4(tmp_path, loading, states):
    log = logged(19, states, [[controller(VOTER + 1, ready=True)]])
    assert violations(log, tmp_path / "3.7", loading) == []
    log = OldLog(22, 25)
    offset = log.add(controller(VOTER + 1, ready=True, most=25))
    assert violations(log, tmp_path / "4.0", loading) == [("W5", offset)]
