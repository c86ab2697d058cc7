"""Logs that Kafka has not written: fields of records, flags of a migration."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    OTHER,
    Broken,
    change,
    checkpoint,
    checkpoint_name,
    first_refusal,
    folded,
    partition,
    prefix,
    register,
    topic,
    written,
)
from tests.krafla.audit.editing import METADATA
from tests.krafla.audit.old_logs import OldLog

from krafla.audit.broker_registrations import listeners_normalised
from krafla.audit.invariants_written import FIELDS
from krafla.audit.run import audit
from kraft.ids import uuid_text
from kraft.records.metadata_schemas import METADATA_SCHEMAS

SETUP = [topic(), partition()]
ZERO, ONE = uuid_text(bytes(16)), uuid_text(bytes(15) + b"\x01")
ENDPOINT = {"name": "P", "host": "h", "port": 1, "securityProtocol": 0}
VERSIONS = {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 27}


def first(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    refusal = first_refusal(found, "a refusal")
    return refusal.kind, refusal.offset


def acl(**fields):
    plain = {"id": OTHER, "resourceType": 2, "resourceName": "t", "patternType": 3,
             "principal": "User:a", "host": "*", "operation": 3, "permissionType": 3}  # fmt: skip
    return (18, 0, {**plain, **fields})


def quota(**fields):
    entity = ({"entityType": "user", "entityName": "a"},)
    plain = {"entity": entity, "key": "producer_byte_rate", "value": 1.0, "remove": False}
    return (14, 0, {**plain, **fields})


def scram(**fields):
    plain = {"name": "a", "mechanism": 1, "salt": b"s", "storedKey": bytes(32),
             "serverKey": bytes(32), "iterations": 4096}  # fmt: skip
    return (11, 0, {**plain, **fields})


def token(**fields):
    plain = {"owner": "User:a", "requester": "User:a", "renewers": (), "issueTimestamp": 1,
             "maxTimestamp": 9, "expirationTimestamp": 5, "tokenId": OTHER}  # fmt: skip
    return (10, 0, {**plain, **fields})


def config(**fields):
    plain = {"resourceType": 4, "resourceName": "", "name": "a", "value": "b"}
    return (4, 0, {**plain, **fields})


def controller(**fields):
    plain = {"controllerId": 3000, "incarnationId": OTHER, "zkMigrationReady": False,
             "endPoints": (ENDPOINT,), "features": (VERSIONS,)}  # fmt: skip
    return (27, 0, {**plain, **fields})


def entity(*kinds):
    return quota(entity=tuple({"entityType": kind, "entityName": "a"} for kind in kinds))


WRONG = {
    "an ACL of any resource": acl(resourceType=1),
    "an ACL of an unknown resource": acl(resourceType=8),
    "an ACL of another cluster": acl(resourceType=4),
    "an ACL without an id": acl(id=ZERO),
    "an ACL with the id of the metadata topic": acl(id=ONE),
    "an ACL of an unknown operation": acl(operation=16),
    "an ACL of a resource without a name": acl(resourceName=""),
    "an ACL that matches": acl(patternType=2),
    "an ACL of any operation": acl(operation=1),
    "an ACL that neither allows nor denies": acl(permissionType=1),
    "a quota without an entity": entity(),
    "a quota of a group": entity("group"),
    "a quota of two users": entity("user", "user"),
    "a quota of nothing": quota(value=0.0),
    "a quota below nothing": quota(value=-5.0),
    "a quota of nothing of a fraction": quota(key="request_percentage", value=0.0),
    "a quota of no whole number": quota(value=1.5),
    "a quota above all numbers": quota(value=float("inf")),
    "an unknown quota": quota(key="bogus"),
    "a user's quota of connections": quota(key="connection_creation_rate"),
    "a quota of bytes of an address": entity("ip"),
    "a quota of a user at an address": quota(
        entity=entity("user", "ip")[2]["entity"], key="connection_creation_rate"
    ),
    "a quota of a user without a name": quota(entity=({"entityType": "user", "entityName": ""},)),
    "a removed quota with a value": quota(remove=True),
    "a credential of an unknown mechanism": scram(mechanism=3),
    "a credential of few iterations": scram(iterations=4095),
    "a credential of many iterations": scram(iterations=16385),
    "a credential of a short stored key": scram(storedKey=bytes(31)),
    "a credential of a short server key": scram(mechanism=2, storedKey=bytes(64)),
    "a credential of a user without a name": scram(name=""),
    "a removed credential of a user without a name": (22, 0, {"name": "", "mechanism": 1}),
    "a token without an owner": token(owner=""),
    "a token whose requester has no type": token(requester="a"),
    "a token without an id": token(tokenId=""),
    "a token with the id of the metadata topic": token(tokenId=ONE),
    "a token with a long id": token(tokenId=OTHER + "A"),
    "an ACL of a principal without a type": acl(principal="a"),
    "a token that outlives itself": token(expirationTimestamp=10),
    "a token issued after its end": token(issueTimestamp=10),
    "a token that a group renews": token(renewers=("User:a", "Group:b")),
    "a configured logger": config(resourceType=8),
    "a configured node that is no number": config(resourceName="n1"),
    "a configured topic without a name": config(resourceType=2),
    "a configuration without a name": config(name=""),
    "an unknown configuration of a group": config(
        resourceType=32, resourceName="g", name="retention.ms", value="1"
    ),
    "an unknown configuration of client metrics": config(
        resourceType=16, resourceName="m", name="interval", value="100"
    ),
    "a short interval of client metrics": config(
        resourceType=16, resourceName="m", name="interval.ms", value="99"
    ),
    "a minimum of one node": config(resourceName="0", name="min.insync.replicas", value="1"),
    "no minimum of all nodes": config(name="min.insync.replicas", value=None),
    "a controller without an incarnation": controller(incarnationId=ZERO),
    "a broker without an incarnation": register(
        0, incarnationId=ZERO, brokerEpoch=prefix()[1] + 1, fenced=True
    ),
    "a controller with an unknown protocol": controller(
        endPoints=({**ENDPOINT, "securityProtocol": 4},)
    ),
    "a controller without a host": controller(endPoints=({**ENDPOINT, "host": ""},)),
    "a controller with a blank host": controller(endPoints=({**ENDPOINT, "host": " \t"},)),
    "a controller without a port": controller(endPoints=({**ENDPOINT, "port": 0},)),
    "a controller without an endpoint": controller(endPoints=()),
    "a broker with a listener in lower case": register(
        0, fenced=False, endPoints=({**ENDPOINT, "name": "P1p"},)
    ),
    "a broker with a blank listener": register(
        0, fenced=False, endPoints=({**ENDPOINT, "name": " "},)
    ),
    "a controller with a listener in lower case": controller(
        endPoints=({**ENDPOINT, "name": "controller"},)
    ),
    "a controller with a listener without a name": controller(
        endPoints=({**ENDPOINT, "name": ""},)
    ),
    "a broker with a blank host": register(0, fenced=False, endPoints=({**ENDPOINT, "host": " "},)),
    "a controller with a listener twice": controller(endPoints=(ENDPOINT, ENDPOINT)),
    "a controller with a feature twice": controller(features=(VERSIONS, VERSIONS)),
    "a controller that supports nothing": controller(
        features=(VERSIONS, {"name": "a", "minSupportedVersion": 2, "maxSupportedVersion": 1})
    ),
    "a broker with a listener twice": register(0, fenced=False, endPoints=(ENDPOINT, ENDPOINT)),
    "a transaction of another name": (23, 0, {"name": "mine"}),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_field_that_kafka_does_not_write_is_refused_at_its_record(tmp_path, loading, what):
    log, offset = written(tmp_path, Broken([[NOTHING, WRONG[what]]], (0, 1)))
    found = audit([log], loading=loading).clusters[0].all_findings()
    assert ("W3", offset) in {(f.kind, f.offset) for f in found}


REMOVED = (26, 0, {"tokenId": OTHER})


@pytest.mark.parametrize("removals", [0, 1, 2])
def test_a_token_may_be_removed_twice_but_not_before_it_is_created(tmp_path, loading, removals):
    made = [[token()]] if removals else []
    batches = [*made, *[[REMOVED]] * max(removals, 1)]
    log, offset = written(tmp_path, Broken(batches, (len(batches) - 1, 0)))
    found = audit([log], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if removals else [("L9", offset)])


HELD = {
    "a credential of a user with a blank name": scram(name=" "),
    "a quota of NaN": quota(value=float("nan")),
    "a quota of a fraction": quota(key="request_percentage", value=0.5),
    "a quota of connections": quota(
        entity=entity("ip")[2]["entity"], key="connection_creation_rate"
    ),
    "a quota of all users": quota(entity=({"entityType": "user", "entityName": None},)),
    "an ACL of the cluster": acl(resourceType=4, resourceName="kafka-cluster"),
    "an ACL of a commit in two phases": acl(operation=15),
    "a credential of the longer hash": scram(
        mechanism=2, storedKey=bytes(64), serverKey=bytes(64), iterations=16384
    ),
    "a token that users renew": token(renewers=("User:a", "User:b")),
    "a configuration of a group": config(
        resourceType=32, resourceName="g", name="share.session.timeout.ms", value="1"
    ),
    "client metrics": config(resourceType=16, resourceName="m", name="interval.ms", value=" 100 "),
}


@pytest.mark.parametrize(("newest", "held"), [(11, True), (14, False)])
def test_before_3_6_a_listener_may_have_a_blank_name(newest, held):
    supported = ({**VERSIONS, "maxSupportedVersion": newest},)
    assert listeners_normalised({"endPoints": ({"name": ""},), "features": supported}) is held


@pytest.mark.parametrize("what", HELD)
def test_a_field_that_kafka_writes_is_held(tmp_path, loading, what):
    log, _ = written(tmp_path, Broken([[NOTHING, HELD[what]]], (0, 1)))
    assert audit([log], loading=loading).clusters[0].all_findings() == ()


@pytest.mark.parametrize(
    "field", [{"leaderRecoveryState": 7}, {"eligibleLeaderReplicas": ()}, {"lastKnownElr": ()}]
)
def test_a_partition_that_kafka_does_not_write_is_refused(tmp_path, loading, field):
    log, offset = written(tmp_path, Broken([[topic(), partition(**field)]], (0, 1)))
    found = audit([log], loading=loading).clusters[0].all_findings()
    assert ("W3", offset) in {(f.kind, f.offset) for f in found}


SAME = {
    "the ISR": {"isr": (0, 1, 2), "leader": 1},
    "the replicas": {"replicas": (0, 1, 2), "isr": (0, 1)},
    "the adding replicas": {"addingReplicas": (), "isr": (0, 1)},
    "the removing replicas": {"removingReplicas": (), "isr": (0, 1)},
    "the ELR": {"eligibleLeaderReplicas": (), "isr": (0, 1)},
    "the last known leaders": {"lastKnownElr": (), "isr": (0, 1)},
    "the recovery state": {"leaderRecoveryState": 0, "isr": (0, 1)},
}


@pytest.mark.parametrize("what", SAME)
def test_a_change_that_names_what_it_leaves_is_refused(tmp_path, loading, what):
    log, offset = written(tmp_path, Broken([SETUP, [change(**SAME[what])]], (1, 0)))
    found = audit([log], loading=loading).clusters[0].all_findings()
    assert ("W4", offset) in {(f.kind, f.offset) for f in found}


def migrated(*states):
    log = OldLog(14, 14)
    return log, [log.add((21, 0, {"zkMigrationState": state})) for state in states]


@pytest.mark.parametrize(
    "states", [(1,), (3,), (0, 2), (2, 3), (2, 0), (2, 1, 2), (2, 1, 3, 1), (4,), (-1,)], ids=str
)
def test_a_migration_that_leaves_its_course_is_refused(tmp_path, loading, states):
    log, offsets = migrated(*states)
    log.write(tmp_path)
    assert first(tmp_path, loading) == ("W5", offsets[-1])


@pytest.mark.parametrize("states", [(0, 0), (2, 1, 1, 3), (2, 2, 1)], ids=str)
def test_a_migration_on_its_course_is_held(tmp_path, loading, states):
    log, _ = migrated(*states)
    log.write(tmp_path)
    assert audit([tmp_path], loading=loading).clusters[0].all_findings() == ()


@pytest.mark.parametrize(
    ("states", "held"), [((2,), True), ((2, 1), True), ((2, 1, 3), True), ((0,), False)]
)
def test_a_broker_migrates_while_a_controller_may_be_configured_to(tmp_path, loading, states, held):
    log, _ = migrated(*states)
    more = {"incarnationId": OTHER, "isMigratingZkBroker": True}
    log.add(log.fence(0))
    offset = log.add(log.register(0, epoch=log.end, **more))
    log.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("W5", offset)])


@pytest.mark.parametrize(("states", "held"), [((0,), False), ((2, 1), True), ((2, 1, 3), False)])
def test_a_migrated_credential_may_have_many_iterations(tmp_path, loading, states, held):
    log, _ = migrated(*states)
    offset = log.add(scram(iterations=16385))
    log.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("W3", offset)])


@pytest.mark.parametrize(("level", "held"), [(25, True), (26, False)])
def test_old_releases_take_a_principal_without_a_type(tmp_path, loading, level, held):
    log = OldLog(level, level)
    offset = log.add(acl(principal="a"))
    log.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("W3", offset)])


@pytest.mark.parametrize("record", [acl(principal="a"), scram(iterations=16385)])
def test_a_checkpoint_may_have_a_field_from_before(tmp_path, loading, record):
    target = tmp_path / METADATA
    target.mkdir()
    (target / checkpoint_name(50)).write_bytes(checkpoint(folded(record)))
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert "W3" not in {one.kind for one in found}


def test_no_migration_begins_in_a_release_without_migrations(tmp_path, loading):
    log, offset = written(tmp_path, Broken([[(21, 0, {"zkMigrationState": 2})]], (0, 0)))
    assert first(log, loading) == ("W5", offset)


@pytest.mark.parametrize(
    ("before", "level", "states", "held"),
    [(14, 15, (2, 1), False), (14, 14, (2,), False), (8, 8, (2, 1), True), (14, 15, (0,), True)],
)
def test_the_metadata_version_stays_while_a_migration_is_in_progress(
    tmp_path, loading, before, level, states, held
):
    log = OldLog(before, level)
    for state in states:
        log.add((21, 0, {"zkMigrationState": state}))
    offset = log.add((12, 0, {"name": "metadata.version", "featureLevel": level}))
    log.write(tmp_path)
    found = audit([tmp_path], loading=loading).clusters[0].all_findings()
    assert [(f.kind, f.offset) for f in found] == ([] if held else [("W5", offset)])


@pytest.mark.parametrize("record", [
    register(0, fenced=False, isMigratingZkBroker=True), controller(zkMigrationReady=True),
], ids=["a broker", "a controller"])  # fmt: skip
def test_nothing_migrates_in_a_new_cluster(tmp_path, loading, record):
    log, offset = written(tmp_path, Broken([[record]], (0, 0)))
    found = audit([log], loading=loading).clusters[0].all_findings()
    assert ("W5", offset) in {(f.kind, f.offset) for f in found}


def test_a_checkpoint_with_a_field_that_kafka_does_not_write_is_refused(tmp_path, loading):
    target = tmp_path / METADATA
    target.mkdir()
    (target / checkpoint_name(50)).write_bytes(checkpoint(folded(acl(operation=1))))
    assert first(tmp_path, loading) == ("W3", 50)


def test_every_field_in_the_table_is_one_of_its_record():
    for api_key, rules in FIELDS.items():
        names = {one.name for one in METADATA_SCHEMAS[api_key].fields}
        assert {rule.field for rule in rules} <= names
