"""The value of one metadata record: frame version, api key, version, then the body.

Kafka: AbstractApiMessageSerde, MetadataRecordSerde.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.errors import UnsupportedVersionError
from kraft.profile import KAFKA_4_1, KIP_631
from kraft.records.codec import decode_body
from kraft.records.encoders import encode_message
from kraft.records.kip631_schemas import KIP_631_SCHEMAS
from kraft.records.layouts import layout_of
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.primitives import Reader

if TYPE_CHECKING:
    from kraft.profile import Profile
    from kraft.records.schema import Fields, Schema

FRAME_VERSION: Final = KAFKA_4_1.frame_version
BODY_START: Final = 3
"""Frame version, api key and version take one byte each in every value Kafka writes."""
MAX_INT16: Final = 0x7FFF


class MetadataValue(NamedTuple):
    """A decoded value: which record type, in which version, with which fields."""

    api_key: int
    version: int
    fields: Fields


def schemas_of(profile: Profile) -> dict[int, Schema]:
    """Return the schemas of the records that a profile has, by api key."""
    return KIP_631_SCHEMAS if profile.frame_version == KIP_631.frame_version else METADATA_SCHEMAS


def decode_value(value: bytes, profile: Profile = KAFKA_4_1) -> MetadataValue:
    """Return the decoded value of a metadata record.

    Raises CorruptRecordError for bytes that are not one, UnsupportedVersionError for a frame
    version, record type or record version that the profile does not have. Positions count from the
    start of the value.
    Kafka: AbstractApiMessageSerde.read.
    """
    return read_value(Reader(value), profile)


def read_value(reader: Reader, profile: Profile = KAFKA_4_1) -> MetadataValue:
    """Return the value that fills the reader, decoded; raises as `decode_value`."""
    schema, version = _read_type(reader, profile)
    return MetadataValue(schema.api_key, version, decode_body(layout_of(schema, version), reader))


def encode_value(api_key: int, version: int, fields: Fields, profile: Profile = KAFKA_4_1) -> bytes:
    """Return the value bytes of a metadata record.

    Raises ValueError for an unknown type or version, or fields that do not fit its schema.
    Kafka: AbstractApiMessageSerde.write.
    """
    schema = schemas_of(profile).get(api_key)
    if schema is None or not schema.supports(version):
        raise ValueError(f"no metadata record with api key {api_key} version {version}")
    head = bytes((profile.frame_version, api_key, version))
    return head + encode_message(schema, version, fields)


def _read_type(reader: Reader, profile: Profile) -> tuple[Schema, int]:
    start = reader.position
    frame = reader.uvarint("the frame version")
    if frame != profile.frame_version:
        raise UnsupportedVersionError(
            f"frame version {frame}, only {profile.frame_version} is known",
            position=start,
            field="frame version",
        )
    api_key = _read_int16(reader, "api key")
    schema = schemas_of(profile).get(api_key)
    if schema is None:
        raise UnsupportedVersionError(
            f"unknown record type with api key {api_key}", position=start, field="api key"
        )
    version = _read_int16(reader, "version")
    if not schema.supports(version):
        raise UnsupportedVersionError(
            f"{schema.name} version {version}, the newest known is {schema.newest}",
            position=start,
            field="version",
        )
    return schema, version


def _read_int16(reader: Reader, what: str) -> int:
    start = reader.position
    value = reader.uvarint(f"the {what}")
    if value > MAX_INT16:
        raise reader.corrupt(f"the {what} {value} does not fit 16 bits", start)
    return value
