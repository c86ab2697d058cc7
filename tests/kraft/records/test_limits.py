"""Strings as long as Kafka's serializer has them, in every field of every record and version."""

from __future__ import annotations

import pytest

from kraft.errors import CorruptRecordError
from kraft.records import codec
from kraft.records.codec import decode_body, encode_body
from kraft.records.control_schemas import CONTROL_SCHEMAS
from kraft.records.decoders import Mismatch, body_decoder
from kraft.records.layouts import layout_of
from kraft.records.limits import MAX_STRING_BYTES, is_too_long
from kraft.records.long_strings import LongStringError, check_strings
from kraft.records.metadata_records import RECORD_BY_API_KEY
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.primitives import Reader
from kraft.records.schema import FieldType, fields_of

LONGEST = "é" * (MAX_STRING_BYTES // 2) + "x"
TOO_LONG = LONGEST + "x"
SCHEMAS = [*METADATA_SCHEMAS.values(), *CONTROL_SCHEMAS.values()]


def string_paths(fields, version):
    """Return the path to each string below these fields, as names; an array has one element."""
    found = []
    for field in fields_of(fields, version):
        if field.type is FieldType.STRING:
            found.append((field.name,))
        elif field.type is FieldType.STRUCT:
            found += [(field.name, *path) for path in string_paths(field.members, version)]
    return found


def filled(fields, version, path, text):
    """Return the least fields of a version, with the text at the end of a path."""
    values = {}
    for field in fields_of(fields, version):
        value = field.default
        is_on = bool(path) and field.name == path[0]
        if is_on and field.type is FieldType.STRING:
            value = (text,) if field.array else text
        elif is_on:
            inner = filled(field.members, version, path[1:], text)
            value = (inner,) if field.array else inner
        elif field.type is FieldType.STRUCT and not field.array:
            value = filled(field.members, version, (), text)
        values[field.name] = value
    return values


CASES = [
    pytest.param(schema, version, path, id=f"{schema.name}-{version}-{'.'.join(path)}")
    for schema in SCHEMAS
    for version in range(schema.newest + 1)
    for path in string_paths(schema.fields, version)
]


def test_there_are_strings_in_records_of_most_kinds():
    names = {case.values[0].name for case in CASES}
    assert {"CONFIG_RECORD", "CLIENT_QUOTA_RECORD", "REGISTER_BROKER_RECORD"} <= names
    assert len(CASES) == 42


@pytest.mark.parametrize(("schema", "version", "path"), CASES)
def test_a_string_is_written_and_read_up_to_32767_bytes(schema, version, path, monkeypatch):
    whole = filled(schema.fields, version, path, LONGEST)
    raw = encode_body(layout_of(schema, version), schema.name, whole)
    assert decode_body(layout_of(schema, version), Reader(raw)) == whole
    is_metadata = schema in METADATA_SCHEMAS.values()
    if is_metadata:
        assert body_decoder(schema, version)(raw, 0) == whole

    longer = filled(schema.fields, version, path, TOO_LONG)
    with pytest.raises(ValueError, match="32768 bytes is too long to be serialized") as refused:
        encode_body(layout_of(schema, version), schema.name, longer)
    assert path[-1] in str(refused.value)

    monkeypatch.setattr(codec, "MAX_STRING_BYTES", len(TOO_LONG.encode()))
    raw = encode_body(layout_of(schema, version), schema.name, longer)
    monkeypatch.undo()
    with pytest.raises(CorruptRecordError, match="a string of 32768 bytes, Kafka reads") as bad:
        decode_body(layout_of(schema, version), Reader(raw))
    assert path[-1] in bad.value.field
    if is_metadata:
        with pytest.raises(Mismatch):
            body_decoder(schema, version)(raw, 0)
        record = RECORD_BY_API_KEY[schema.api_key]
        check_strings((record.from_fields(whole),))
        with pytest.raises(LongStringError, match="too long to be serialized"):
            check_strings((record.from_fields(longer),))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("x" * 32_767, False),
        ("x" * 32_768, True),
        ("é" * 16_383, False),
        ("é" * 16_384, True),
        ("\U0001f600" * 8_191, False),
        ("\U0001f600" * 8_192, True),
        ("\ud83d" * 32_767, False),
        ("\ud83d" * 32_768, True),
    ],
)
def test_strings_are_counted_in_bytes_of_utf_8(text, answer):
    assert is_too_long(text) == answer
