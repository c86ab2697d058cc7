"""Hypothesis strategies for the fields of a message, and the messages there are."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from tests.kraft.wire.kio_messages import kafka_type, kio_class, nested

from kraft.ids import uuid_text
from kraft.records.layouts import layout_of
from kraft.records.schema import FieldType
from kraft.wire.apis import CONTROLLER_APIS

SCHEMAS = [schema for api in CONTROLLER_APIS.values() for schema in (api.request, api.response)]
MESSAGES = [
    (schema, version) for schema in SCHEMAS for version in range(schema.oldest, schema.newest + 1)
]
MESSAGE_IDS = [f"{schema.name}-{version}" for schema, version in MESSAGES]

_TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["größe", "漢字🌋", "\x00\x1b[31m", "a" * 126, "a" * 127, "a" * 128, "é" * 9000]
    ),
)
_VALUES = {
    FieldType.BOOL: st.booleans(),
    FieldType.INT8: st.integers(-(2**7), 2**7 - 1),
    FieldType.INT16: st.integers(-(2**15), 2**15 - 1),
    FieldType.UINT16: st.integers(0, 2**16 - 1),
    FieldType.INT32: st.integers(-(2**31), 2**31 - 1),
    FieldType.INT64: st.integers(-(2**63), 2**63 - 1),
    FieldType.FLOAT64: st.floats(allow_nan=False, allow_infinity=False),
    FieldType.UUID: st.one_of(st.just(bytes(16)), st.binary(min_size=16, max_size=16)).map(
        uuid_text
    ),
    FieldType.STRING: _TEXTS,
    FieldType.BYTES: st.one_of(st.binary(max_size=12), st.just(b"\xff" * 300)),
}
# Kio has only errors that Kafka has, and times that Python has.
_OF_KIO = {
    "datetime_i64": st.integers(0, 2**42),
    "error_code": st.sampled_from([int(code) for code in ErrorCode]),
    "timedelta_i64": st.integers(-(2**42), 2**42),
}


def message_fields(schema, version):
    """Return a strategy for fields of a message that kio can write, too."""
    return _struct(layout_of(schema, version), kio_class(schema, version))


def _struct(layout, kind):
    names = [f.name for f in layout.fields]
    theirs = dataclasses.fields(kind)
    values = [_field(f, layout, one) for f, one in zip(layout.fields, theirs, strict=True)]
    return st.tuples(*values).map(lambda drawn: dict(zip(names, drawn, strict=True)))


def _field(f, layout, one):
    if f.type is FieldType.STRUCT:
        value = _struct(layout.inner[f.name], nested(one))
    else:
        value = _OF_KIO.get(kafka_type(one), _VALUES[f.type])
    if f.array:
        value = st.lists(value, max_size=3).map(tuple)
    if f.nullable:
        value = st.one_of(st.none(), value)
    if f.tag is not None:
        value = st.one_of(st.just(layout.default_of(f)), value)
    return value
