"""KIP-631 on records: their format, their schemas, and snapshots made of them."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from tests.kips.sentences import sentence
from tests.kraft.controller.partitions import DEFAULTS, KEY, TOPIC_ID, image_of
from tests.kraft.sim.lease.lease_driver import LeaseDriver

from kraft.controller.operations.leadership import fence_broker
from kraft.controller.operations.topics import delete_topics
from kraft.errors import CorruptRecordError, UnsupportedVersionError
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.image.versions import record_version
from kraft.profile import KIP_631
from kraft.records.kip631_schemas import KIP_631_SCHEMAS
from kraft.records.lease import RegisterBrokerRecord
from kraft.records.metadata_records import typed_record
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.primitives import Reader
from kraft.records.record import encode_record, read_metadata_record
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS
from kraft.records.typed_record import TypedRecord
from kraft.records.value import decode_value, encode_value
from kraft.rpc import BrokerHeartbeatRequest

TOPIC_FIELDS = {"name": "bar", "topicId": TOPIC_ID}
TOPIC_VALUE = encode_value(2, 0, TOPIC_FIELDS)


def names(schemas, api_key):
    """Return the fields of a record, by name, with type, array, nullable and tag."""
    return {
        f.name: (f.type.value, f.array, f.nullable, f.tag, f.default)
        for f in schemas[api_key].fields
    }


def published(api_key, *wanted):
    """Check that the text has a record with these fields, and that its bytes can be read."""
    schema = KIP_631_SCHEMAS[api_key]
    assert tuple(f.name for f in schema.fields) == wanted
    assert (schema.api_key, schema.newest) == (api_key, 0)
    values = {f.name: f.default for f in schema.fields}
    raw = encode_value(api_key, 0, values, KIP_631)
    assert raw[:3] == bytes((0, api_key, 0))
    assert decode_value(raw, KIP_631) == (api_key, 0, values)
    with pytest.raises(UnsupportedVersionError):
        decode_value(raw)


def difference(api_key):
    """Return what Kafka's newest version has not of the published fields, and what it adds."""
    before, after = names(KIP_631_SCHEMAS, api_key), names(METADATA_SCHEMAS, api_key)
    lost = {name for name in before if before[name] != after.get(name)}
    return lost, {name for name in after if name not in before or name in lost}


# "Record Formats".


@sentence("631-060")
def test_a_change_is_records_that_are_appended_and_nothing_else():
    controller = LeaseDriver()
    before = controller.state.image
    controller.register()
    assert len(controller.appended) == 1
    assert controller.state.image.log_end == before.log_end + len(controller.appended)


@sentence("631-061")
def test_a_record_with_a_key_is_refused_and_one_without_is_read():
    record = read_metadata_record(Reader(encode_record(0, TOPIC_VALUE)), 0, 0, 0)
    assert record.fields == TOPIC_FIELDS
    with pytest.raises(CorruptRecordError, match="with a key"):
        read_metadata_record(Reader(encode_record(0, TOPIC_VALUE, key=b"k")), 0, 0, 0)


@sentence("631-062")
def test_differs_the_frame_is_one():
    assert TOPIC_VALUE[0] == 1
    as_published = encode_value(2, 0, {"topicName": "bar", "topicId": TOPIC_ID}, KIP_631)
    assert as_published[0] == 0
    with pytest.raises(UnsupportedVersionError, match="frame version 0"):
        decode_value(as_published)


@sentence("631-063")
def test_the_type_is_a_varint_behind_the_frame():
    assert TOPIC_VALUE[1] == 2
    overlong = TOPIC_VALUE[:1] + b"\x82\x00" + TOPIC_VALUE[2:]
    assert decode_value(overlong) == decode_value(TOPIC_VALUE)


@sentence("631-064")
def test_the_version_is_a_varint_behind_the_type():
    assert TOPIC_VALUE[2] == 0
    overlong = TOPIC_VALUE[:2] + b"\x80\x00" + TOPIC_VALUE[3:]
    assert decode_value(overlong) == decode_value(TOPIC_VALUE)


@sentence("631-065")
def test_the_payload_is_that_of_a_flexible_request():
    compact_name, topic_id, no_tags = b"\x04bar", TOPIC_VALUE[7:23], b"\x00"
    assert TOPIC_VALUE[3:] == compact_name + topic_id + no_tags


@sentence("631-066")
def test_differs_a_topic_record_begins_with_frame_one_and_type_two():
    assert TOPIC_VALUE[:3] == b"\x01\x02\x00"
    assert KIP_631_SCHEMAS[2].name == "TOPIC_RECORD"


@sentence("631-067")
def test_frame_type_and_version_take_a_byte_each_in_every_record():
    for schema in (*METADATA_SCHEMAS.values(), *KIP_631_SCHEMAS.values()):
        assert max(schema.api_key, schema.newest) < 0x80


# "Record Format Versions".


@sentence("631-070")
def test_a_tagged_field_that_nobody_knows_is_passed_over():
    raw = TOPIC_VALUE[:-1] + b"\x01\x09\x02hi"
    fields_ = decode_value(raw).fields
    assert fields_.pop(UNKNOWN_TAGGED_FIELDS) == ((9, b"hi"),)
    assert fields_ == TOPIC_FIELDS
    assert typed_record(2, decode_value(raw).fields) == typed_record(2, TOPIC_FIELDS)


@sentence("631-071")
def test_a_later_version_of_a_record_has_what_the_earlier_cannot_say():
    record = RegisterBrokerRecord(1, "I" * 21 + "A", 7, in_controlled_shutdown=True)
    assert record.to_fields(1)["inControlledShutdown"]
    with pytest.raises(ValueError, match="version 0"):
        record.to_fields(0)


@sentence("631-072")
def test_differs_the_feature_metadata_version_says_the_versions_of_records():
    image = image_of((1,), metadata_version=7)
    assert list(image.features.items()) == [("metadata.version", 7)]
    levels = (6, 7, 8, 17)
    assert [record_version(RegisterBrokerRecord, level) for level in levels] == [0, 1, 2, 3]


# "Snapshot Implementation".


def log_of_an_image():
    """Return records in the order of a log, some of which undo others."""
    image = image_of((1, 2, 3))
    records = [*snapshot_records(image)]
    for broker in (1, 2):
        records += fence_broker(replay(EMPTY_IMAGE, records), DEFAULTS, broker)
    return records


@sentence("631-081")
def test_a_snapshot_is_records():
    snapshot = list(snapshot_records(image_of((1, 2, 3))))
    assert snapshot
    assert all(isinstance(record, TypedRecord) for record in snapshot)


@sentence("631-082")
def test_a_snapshot_has_one_record_for_each_entity():
    records = log_of_an_image()
    image = replay(EMPTY_IMAGE, records)
    snapshot = list(snapshot_records(image))
    entities = (image.features, image.brokers, image.topics, image.partitions)
    assert len(snapshot) == sum(len(one) for one in entities)
    assert len(snapshot) < len(records)


@sentence("631-083")
def test_two_replicas_with_snapshots_at_different_offsets_have_one_state():
    records = log_of_an_image()
    states = []
    for end in range(len(records) + 1):
        snapshot = snapshot_records(replay(EMPTY_IMAGE, records[:end]))
        states.append(replay(replay(EMPTY_IMAGE, snapshot), records[end:]))
    assert all(state == states[0] for state in states)


@sentence("631-084")
def test_a_snapshot_alone_gives_all_of_the_state():
    image = replay(EMPTY_IMAGE, log_of_an_image())
    assert replay(EMPTY_IMAGE, snapshot_records(image)) == image


@sentence("631-085")
def test_who_loads_a_snapshot_and_applies_what_follows_is_up_to_date():
    image = image_of((1, 2, 3))
    following = fence_broker(image, DEFAULTS, 1)
    loaded = replay(EMPTY_IMAGE, snapshot_records(image))
    assert replay(loaded, following) == replay(image, following)


@sentence("631-086")
def test_differs_the_controller_keeps_no_offsets_of_the_snapshots_of_others():
    controller = LeaseDriver()
    controller.unfenced()
    kept = {field.name for field in fields(controller.soft())}
    assert kept == {"contact_time_ms", "metadata_offset", "controlled_shutdown_offset"}


@sentence("631-087")
def test_differs_heartbeats_tell_of_no_snapshot():
    assert not [one.name for one in fields(BrokerHeartbeatRequest) if "snapshot" in one.name]


# "Record Formats", the schemas.


@sentence("631-330")
def test_differs_register_broker_says_more():
    published(0, "brokerId", "incarnationId", "brokerEpoch", "endPoints", "features", "rack")
    lost, added = difference(0)
    assert lost == {"endPoints", "features"}  # null no more
    assert added - lost == {"fenced", "inControlledShutdown", "isMigratingZkBroker", "logDirs"}


@sentence("631-331")
def test_unregister_broker_has_broker_and_epoch():
    published(1, "brokerId", "brokerEpoch")
    assert difference(1) == (set(), set())


@sentence("631-332")
def test_differs_a_topic_has_a_name():
    published(2, "topicName", "topicId")
    assert difference(2) == ({"topicName"}, {"name"})


@sentence("631-333")
def test_differs_a_partition_says_more():
    published(
        3, "partitionId", "topicId", "replicas", "isr", "removingReplicas", "addingReplicas",
        "leader", "leaderEpoch",
    )  # fmt: skip
    lost, added = difference(3)
    assert lost == set()
    assert added == {
        "partitionEpoch",
        "leaderRecoveryState",
        "directories",
        "eligibleLeaderReplicas",
        "lastKnownElr",
    }


@sentence("631-334")
def test_differs_the_value_of_a_configuration_may_be_null():
    published(4, "resourceType", "resourceName", "name", "value")
    assert difference(4) == ({"value"}, {"value"})
    assert names(METADATA_SCHEMAS, 4)["value"][2]


@sentence("631-335")
def test_differs_a_change_of_a_partition_says_more_under_further_tags():
    published(
        5, "partitionId", "topicId", "isr", "leader", "replicas", "removingReplicas",
        "addingReplicas",
    )  # fmt: skip
    lost, added = difference(5)
    assert lost == set()
    assert {names(METADATA_SCHEMAS, 5)[name][3] for name in added} == {5, 6, 7, 8}


@sentence("631-336")
def test_differs_access_control_has_records_eighteen_and_nineteen():
    published(
        6, "resourceType", "resourceName", "patternType", "principal", "host", "operation",
        "permissionType",
    )  # fmt: skip
    assert 6 not in METADATA_SCHEMAS
    assert set(names(METADATA_SCHEMAS, 18)) == {"id", *names(KIP_631_SCHEMAS, 6)}
    assert set(names(METADATA_SCHEMAS, 19)) == {"id"}


@sentence("631-337")
def test_differs_a_fence_names_id_and_epoch():
    published(7, "brokerId", "brokerEpoch")
    assert difference(7) == ({"brokerId", "brokerEpoch"}, {"id", "epoch"})


@sentence("631-338")
def test_differs_an_unfence_names_id_and_epoch():
    published(8, "brokerId", "brokerEpoch")
    assert difference(8) == ({"brokerId", "brokerEpoch"}, {"id", "epoch"})


@sentence("631-339")
def test_remove_topic_has_the_topic():
    published(9, "topicId")
    assert difference(9) == (set(), set())


@sentence("631-340")
def test_differs_a_delegation_token_has_a_requester():
    published(
        10, "owner", "renewers", "issueTimestamp", "maxTimestamp", "expirationTimestamp",
        "tokenId",
    )  # fmt: skip
    assert difference(10) == (set(), {"requester"})


@sentence("631-341")
def test_differs_a_credential_is_a_record_of_its_own_and_has_no_password():
    published(11, "userName", "credentialInfos")
    (_, infos) = KIP_631_SCHEMAS[11].fields
    assert [f.name for f in infos.members] == ["mechanism", "salt", "saltedPassword", "iterations"]
    assert set(names(METADATA_SCHEMAS, 11)) == {
        "name",
        "mechanism",
        "salt",
        "storedKey",
        "serverKey",
        "iterations",
    }


@sentence("631-342")
def test_differs_a_feature_has_one_level():
    published(12, "name", "minFeatureLevel", "maxFeatureLevel")
    assert difference(12) == ({"minFeatureLevel", "maxFeatureLevel"}, {"featureLevel"})


@sentence("631-343")
def test_differs_failed_replicas_have_no_record():
    published(13, "brokerId", "topics")
    assert 13 not in METADATA_SCHEMAS


@sentence("631-344")
def test_differs_a_quota_is_called_a_client_quota():
    published(14, "entity", "key", "value", "remove")
    assert KIP_631_SCHEMAS[14].name == "QUOTA_RECORD"
    assert METADATA_SCHEMAS[14].name == "CLIENT_QUOTA_RECORD"
    assert difference(14) == (set(), set())


# "Topic Identifiers".


@sentence("631-283")
def test_a_snapshot_after_a_deletion_has_nothing_of_the_topic():
    image = image_of((1, 2, 3))
    records = delete_topics(image, (TOPIC_ID,)).records
    snapshot = snapshot_records(replay(image, records))
    assert not [one for one in snapshot if TOPIC_ID in one.to_fields().values()]


@sentence("631-350")
def test_a_topic_that_is_removed_takes_its_partitions_along():
    image = image_of((1, 2, 3))
    records = delete_topics(image, (TOPIC_ID,)).records
    assert KEY in image.partitions
    assert not replay(image, records).partitions


def test_a_profile_with_kafkas_frame_has_kafkas_records():
    halfway = replace(KIP_631, frame_version=1)
    assert decode_value(TOPIC_VALUE, halfway) == decode_value(TOPIC_VALUE)
