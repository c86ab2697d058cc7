"""Control records, which the Raft layer writes into the log and into snapshots.

Kafka: ControlRecordType, ControlRecordUtils.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from kraft.errors import UnsupportedVersionError
from kraft.records.codec import decode_body
from kraft.records.control_schemas import CONTROL_SCHEMAS
from kraft.records.encoders import encode_message
from kraft.records.layouts import layout_of

if TYPE_CHECKING:
    from kraft.records.primitives import Reader
    from kraft.records.schema import Fields, Schema

_KEY: Final = struct.Struct(">hh")
_KEY_VERSION: Final = 0
_VERSION_BYTES: Final = 2


def read_control_key(reader: Reader) -> Schema:
    """Return the schema a control record's key names; `reader` must cover the key exactly.

    Raises CorruptRecordError for a key that is not four bytes, UnsupportedVersionError for a key
    version or control type that does not belong in a metadata log.
    Kafka: ControlRecordType.parse.
    """
    if reader.end - reader.position != _KEY.size:
        raise reader.corrupt(
            f"the key of a control record has {reader.end - reader.position} bytes, not 4"
        )
    start = reader.position
    version, kind = _KEY.unpack(reader.raw(_KEY.size, "key"))
    if version < 0:
        raise reader.corrupt(f"control record key version {version}", start)
    if version != _KEY_VERSION:
        raise UnsupportedVersionError(f"control record key version {version}", position=start)
    schema = CONTROL_SCHEMAS.get(kind)
    if schema is None:
        raise UnsupportedVersionError(f"unknown control record type {kind}", position=start)
    return schema


def read_control_value(schema: Schema, reader: Reader) -> tuple[int, Fields]:
    """Return the version and fields of a control record's value, which `reader` covers exactly.

    The version is the first field of the value, so it is looked at before the schema is applied.
    """
    start = reader.position
    reader.require(_VERSION_BYTES, "the version of a control record")
    raw = reader.data[start : start + _VERSION_BYTES]
    version = int.from_bytes(raw, "big", signed=True)
    if version < 0:
        raise reader.corrupt(f"{schema.name} version {version}")
    if not schema.supports(version):
        raise UnsupportedVersionError(
            f"{schema.name} version {version}, the newest known is {schema.newest}", position=start
        )
    return version, decode_body(layout_of(schema, version), reader)


def encode_control_key(control_type: int) -> bytes:
    """Return the four key bytes of a control record."""
    return _KEY.pack(_KEY_VERSION, control_type)


def encode_control_value(control_type: int, fields: Fields) -> bytes:
    """Return the value bytes of a control record; its version is `fields["version"]`.

    Raises ValueError for an unknown type, version or field.
    """
    schema = CONTROL_SCHEMAS.get(control_type)
    version = fields.get("version", 0)
    if schema is None or not schema.supports(version):
        raise ValueError(f"no control record of type {control_type} version {version}")
    return encode_message(schema, version, fields)
