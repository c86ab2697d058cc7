"""The judge of our bytes: kio, which has the protocol from Kafka's definitions by another way.

Its classes have the fields of a version in the order of ours, under names of its own.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import typing
import uuid

from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer
from kio.static.primitive import Records, i32Timedelta, i64Timedelta

from kraft.ids import ZERO_UUID, uuid_bytes

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_FROM_OURS = {
    "datetime_i64": lambda ms: _EPOCH + datetime.timedelta(milliseconds=ms),
    "error_code": ErrorCode,
    "records": Records,
    "timedelta_i32": lambda ms: i32Timedelta.parse(datetime.timedelta(milliseconds=ms)),
    "timedelta_i64": lambda ms: i64Timedelta.parse(datetime.timedelta(milliseconds=ms)),
    "uuid": lambda text: None if text == ZERO_UUID else uuid.UUID(bytes=uuid_bytes(text)),
}


def kio_class(schema, version):
    """Return kio's class of a message in a version."""
    load = load_request_schema if schema.name.endswith("Request") else load_response_schema
    return load(schema.api_key, version)


def kio_bytes(kind, fields):
    """Return the bytes that kio writes for our fields."""
    out = io.BytesIO()
    entity_writer(kind)(out, entity(kind, fields))
    return out.getvalue()


def entity(kind, fields):
    """Return the value of kio's class that our fields are."""
    theirs = dataclasses.fields(kind)
    assert [kio_name(one.name) for one in theirs] == [
        our_name(name, one) for name, one in zip(fields, theirs, strict=True)
    ]
    values = zip(theirs, fields.values(), strict=True)
    return kind(**{one.name: _value(one, value) for one, value in values})


def kio_name(name):
    """Return the name of kio's field without what is Python's in it."""
    return name.removesuffix("_").replace("_", "")


def our_name(name, one):
    """Return the name of our field as kio would have it: a time does not say its unit."""
    is_time = str(kafka_type(one)).startswith(("timedelta", "datetime"))
    return name.lower().removesuffix("ms") if is_time else name.lower()


def kafka_type(one):
    """Return the type that kio notes for a field; None for a struct."""
    return one.metadata.get("kafka_type")


def nested(one):
    """Return kio's class of a field that is a struct or an array of structs."""
    kind = one.type
    while typing.get_args(kind):
        kind = next(arg for arg in typing.get_args(kind) if arg not in (type(None), ...))
    return kind


def _value(one, value):
    if value is None:
        return None
    convert = _FROM_OURS.get(kafka_type(one), lambda same: same)
    if kafka_type(one) is None:
        convert = lambda fields: entity(nested(one), fields)  # noqa: E731 - one of two converters
    return tuple(map(convert, value)) if isinstance(value, tuple) else convert(value)
