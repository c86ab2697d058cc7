"""Records as values of their own types: nothing of a record is lost on the way there and back."""

from __future__ import annotations

import random
from typing import ClassVar

import msgspec
import pytest
from tests.kraft.records.samples import ALL_TYPES, random_fields

from kraft.records.lease import FenceBrokerRecord, RegisterBrokerRecord, UnfenceBrokerRecord
from kraft.records.metadata_records import RECORD_CLASSES, typed_record
from kraft.records.metadata_schemas import FENCE_BROKER, METADATA_SCHEMAS, REGISTER_BROKER
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS, fields_of
from kraft.records.typed_record import Message, TypedRecord, attributes_of
from kraft.records.value import decode_value, encode_value


def test_every_record_of_the_metadata_log_has_a_class_in_the_order_of_the_keys():
    assert [one.SCHEMA.api_key for one in RECORD_CLASSES] == sorted(METADATA_SCHEMAS)
    assert [one.SCHEMA for one in RECORD_CLASSES] == [
        METADATA_SCHEMAS[key] for key in sorted(METADATA_SCHEMAS)
    ]


@pytest.mark.parametrize(("api_key", "version"), ALL_TYPES)
def test_a_record_of_whatever_version_becomes_a_value_and_comes_back(api_key, version):
    schema = METADATA_SCHEMAS[api_key]
    choose = random.Random(f"{api_key}.{version}")
    for _ in range(20):
        given = random_fields(schema.fields, version, choose)
        fields = decode_value(encode_value(api_key, version, given)).fields
        record = typed_record(api_key, fields)
        written = record.to_fields()
        assert list(written) == [f.name for f in schema.fields]
        assert {name: written[name] for name in fields} == fields
        newer = {f.name for f in schema.fields} - {
            f.name for f in fields_of(schema.fields, version)
        }
        for f in schema.fields:
            if f.name in newer:
                assert written[f.name] == f.default
        assert typed_record(api_key, written) == record
        assert record.to_fields(version) == fields


def test_what_a_version_cannot_say_is_not_left_out_in_silence():
    record = RegisterBrokerRecord(1, "A" * 22, 5, log_dirs=("B" * 22,))
    assert record.to_fields(3)["logDirs"] == ("B" * 22,)
    with pytest.raises(ValueError, match="version 2 of RegisterBrokerRecord has no logDirs"):
        record.to_fields(2)


def test_records_of_two_types_are_never_equal():
    assert FenceBrokerRecord(1, 2) != UnfenceBrokerRecord(1, 2)
    assert hash(FenceBrokerRecord(1, 2)) == hash(FenceBrokerRecord(1, 2))


def test_a_record_is_not_changed():
    with pytest.raises(AttributeError):
        FenceBrokerRecord(1, 2).broker_id = 3


def test_tagged_fields_that_no_schema_names_are_left_out():
    fields = {"id": 1, "epoch": 2, UNKNOWN_TAGGED_FIELDS: ((9, b"x"),)}
    assert typed_record(7, fields) == FenceBrokerRecord(1, 2)


def test_a_field_that_every_version_has_is_missed():
    with pytest.raises(TypeError, match="broker_epoch"):
        FenceBrokerRecord.from_fields({"id": 1})


def test_a_class_that_is_not_its_schema_is_refused_with_what_differs():
    class Odd(TypedRecord, frozen=True):
        SCHEMA: ClassVar = FENCE_BROKER
        NAMES: ClassVar = {"broker_id": "id"}

        broker_id: int
        broker_epoch: int

    with pytest.raises(TypeError, match="Odd and its schema differ in brokerEpoch, epoch"):
        Odd(1, 2).to_fields()


def test_no_two_attributes_have_one_field():
    class Twice(Message, frozen=True):
        NAMES: ClassVar = {"one": "id", "other": "id"}

        one: int
        other: int

    with pytest.raises(TypeError, match="Twice and its schema differ in epoch"):
        attributes_of(Twice, FENCE_BROKER.fields)


def test_every_array_of_structs_has_a_class_for_its_elements():
    for record in RECORD_CLASSES:
        attributes = attributes_of(record, record.SCHEMA.fields)
        structs = {attribute for attribute, f in attributes.items() if f.members}
        assert structs == set(record.ELEMENTS)
        assert all(issubclass(one, msgspec.Struct) for one in record.ELEMENTS.values())
    assert REGISTER_BROKER.fields[4].members
