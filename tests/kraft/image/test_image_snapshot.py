"""An image and its records: one says all of the other, however a log is cut into pieces."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.image.logs import TOPIC_A, TOPIC_B, partition, register, topic
from tests.kraft.records.samples import random_fields

from kraft.image.errors import RefusedRecordError
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.image.versions import record_version
from kraft.records.cluster import ClientQuotaRecord, QuotaEntity, RegisterControllerRecord
from kraft.records.lease import BrokerRegistrationChangeRecord, NoOpRecord, RegisterBrokerRecord
from kraft.records.metadata_records import RECORD_CLASSES, typed_record
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.topics import PartitionChangeRecord, PartitionRecord, TopicRecord
from kraft.records.value import decode_value, encode_value

# Few of each, so that records meet: names, ids, epochs.
SMALL = {
    "brokerId": (1, 2),
    "controllerId": (1, 2),
    "id": (1, 2),
    "brokerEpoch": (0, 1),
    "epoch": (0, 1),
    "partitionId": (0, 1),
    "topicId": (TOPIC_A, TOPIC_B),
    "name": ("x", "y"),
    "topicName": ("", "x", "y"),
    "resourceName": ("x", "y"),
    "resourceType": (2, 4),
    "tokenId": ("t", "u"),
    "mechanism": (1, 2),
    "replicas": ((1, 2), (3, 1)),
    "directories": ((), ("C" + "A" * 21, "D" + "A" * 21)),
    "leaderRecoveryState": (0, 1),
    "fenced": (0, 1, -1),
    "inControlledShutdown": (0, 1),
    "featureLevel": (0, 1, 2),
    "remove": (False, True),
    "key": ("k", "l"),
}

OFTEN = (TopicRecord, PartitionRecord, PartitionChangeRecord, PartitionChangeRecord) * 3


def drawn(seed: int, count: int) -> list:
    """Return records that can be replayed one after the other, out of what chance gives."""
    choose = random.Random(seed)
    image, records = EMPTY_IMAGE, []
    while len(records) < count:
        cls = choose.choice((*RECORD_CLASSES, *OFTEN))
        schema = METADATA_SCHEMAS[cls.SCHEMA.api_key]
        fields = random_fields(schema.fields, schema.newest, choose)
        for name in fields:
            if name == "id" and "Access" in cls.__name__:
                fields[name] = choose.choice(("E" + "A" * 21, "F" + "A" * 21))
            elif name in SMALL and fields[name] is not None:
                fields[name] = choose.choice(SMALL[name])
        if cls is RegisterBrokerRecord:
            fields["fenced"] = choose.random() < 0.5
            fields["inControlledShutdown"] = choose.random() < 0.5
        record = typed_record(schema.api_key, fields)
        try:
            image = replay(image, [record])
        except RefusedRecordError:
            continue
        records.append(record)
    return records


@given(st.integers(0, 2**32), st.integers(1, 120))
def test_the_records_of_an_image_give_that_image_and_no_record_is_too_many(seed, count):
    image = replay(EMPTY_IMAGE, drawn(seed, count))
    records = list(snapshot_records(image))
    assert replay(EMPTY_IMAGE, records) == image
    assert list(snapshot_records(replay(EMPTY_IMAGE, records))) == records
    for index in range(len(records)):
        try:
            less = replay(EMPTY_IMAGE, records[:index] + records[index + 1 :])
        except RefusedRecordError:
            continue
        assert less != image


@given(st.integers(0, 2**32), st.lists(st.integers(0, 60), max_size=8))
def test_it_does_not_matter_how_a_log_is_cut_into_pieces(seed, cuts):
    records = drawn(seed, 60)
    image = EMPTY_IMAGE
    for start, end in pairwise((0, *sorted(cuts), 60)):
        image = replay(image, records[start:end])
    assert image == replay(EMPTY_IMAGE, records)


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_a_log_goes_on_from_a_snapshot_as_from_its_beginning(seed, cut):
    records = drawn(seed, 60)
    snapshot = snapshot_records(replay(EMPTY_IMAGE, records[:cut]))
    assert replay(EMPTY_IMAGE, [*snapshot, *records[cut:]]) == replay(EMPTY_IMAGE, records)


@given(st.integers(0, 2**32))
def test_the_records_of_an_image_survive_their_bytes(seed):
    for record in snapshot_records(replay(EMPTY_IMAGE, drawn(seed, 40))):
        key, version = record.SCHEMA.api_key, record.SCHEMA.newest
        fields = decode_value(encode_value(key, version, record.to_fields())).fields
        assert typed_record(key, fields) == record


def test_an_earlier_image_stays_what_it_was():
    records = drawn(7, 200)
    images = [EMPTY_IMAGE]
    for record in records:
        images.append(replay(images[-1], [record]))
    for end in (0, 1, 50, 120, 200):
        assert images[end] == replay(EMPTY_IMAGE, records[:end])


def test_chance_draws_every_part_of_an_image():
    logs = [drawn(seed, 100) for seed in range(10)]
    images = [replay(EMPTY_IMAGE, log) for log in logs]
    for name in MetadataImage.__struct_fields__:
        assert len({getattr(image, name) for image in images}) > 1, name
    assert {type(one) for log in logs for one in log} == set(RECORD_CLASSES)


def test_what_comes_first_in_a_snapshot():
    level = typed_record(12, {"name": "metadata.version", "featureLevel": 27})
    other = typed_record(12, {"name": "group.version", "featureLevel": 1})
    records = [other, register(2, 5), topic("b", TOPIC_B), partition(0, TOPIC_B), topic("a")]
    names = [type(one).__name__ for one in snapshot_records(replay(EMPTY_IMAGE, [*records, level]))]
    assert names == [
        *["FeatureLevelRecord"] * 2, "RegisterBrokerRecord",
        *["TopicRecord"] * 2, "PartitionRecord",
    ]  # fmt: skip
    assert next(snapshot_records(replay(EMPTY_IMAGE, [other, level]))) == level


def test_the_default_of_a_quota_comes_before_those_with_names():
    def quota(*who):
        entity = tuple(QuotaEntity("user", name) for name in who)
        return ClientQuotaRecord(entity, "rate", 1.0, remove=False)

    image = replay(EMPTY_IMAGE, [quota("b"), quota(None), quota("a")])
    assert [one.entity[0].entity_name for one in snapshot_records(image)] == [None, "a", "b"]


@pytest.mark.parametrize(
    ("record", "versions"),
    [
        (RegisterBrokerRecord, {6: 0, 7: 1, 8: 2, 16: 2, 17: 3, 27: 3}),
        (PartitionRecord, {16: 0, 17: 1, 22: 1, 23: 2}),
        (PartitionChangeRecord, {16: 0, 17: 1, 22: 1, 23: 2}),
        (BrokerRegistrationChangeRecord, {6: 0, 7: 1, 16: 1, 17: 2}),
        (RegisterControllerRecord, {15: 0}),
        (NoOpRecord, {1: 0, 27: 0}),
    ],
)
def test_the_metadata_version_says_in_which_version_a_record_is_written(record, versions):
    assert {level: record_version(record, level) for level in versions} == versions
    assert record_version(record, 27) == record.SCHEMA.newest


def test_a_record_that_a_metadata_version_does_not_have_is_refused():
    with pytest.raises(ValueError, match="metadata version 14 has no RegisterControllerRecord"):
        record_version(RegisterControllerRecord, 14)
