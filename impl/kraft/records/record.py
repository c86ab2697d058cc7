"""Records inside a batch: length, attributes, deltas, key, value, headers.

`read_metadata_record` and `read_control_record` check everything and name the place of a fault.
`scan` reads the same records faster and leaves every refusal to this module.

A metadata record has no key, a value and no headers; a control record has a four byte key. Offsets
in a metadata log are dense: the n-th record of a batch has offset delta n.

Kafka: DefaultRecord, RecordsIterator (raft).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.errors import CorruptRecordError
from kraft.records.control import read_control_key, read_control_value
from kraft.records.primitives import Reader, encode_varint
from kraft.records.value import read_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.records.schema import Fields


class MetadataRecord(NamedTuple):
    """One record of the metadata log, decoded.

    `timestamp` is in milliseconds; `value` the raw bytes with frame, type and version; `position`
    the byte where the record starts: in the file, or in the decompressed records of its batch.
    """

    offset: int
    timestamp: int
    api_key: int
    version: int
    fields: Fields
    value: bytes
    position: int


class ControlRecord(NamedTuple):
    """One control record, decoded; `control_type` as in `kraft.records.control_schemas`."""

    offset: int
    timestamp: int
    control_type: int
    version: int
    fields: Fields
    key: bytes
    value: bytes
    position: int


class Frame(NamedTuple):
    """The parts of a record before its key and value are looked into: where they lie."""

    timestamp_delta: int
    key: tuple[int, int] | None
    value: tuple[int, int] | None
    headers: int
    end: int


def read_frame(reader: Reader, index: int) -> Frame:
    """Return the frame of the record at the reader's position and move the reader past it.

    `index` is the record's place in its batch. Raises CorruptRecordError.
    Kafka: DefaultRecord.readFrom.
    """
    start = reader.position
    size = reader.varint("the record's length")
    if size < 0:
        raise reader.corrupt(f"negative record length {size}", start)
    reader.require(size, "the record")
    end = reader.position + size
    inner = Reader(reader.data, reader.position, end)
    inner.raw(1, "the record's attributes")
    timestamp_delta = inner.varlong("the timestamp delta")
    delta_start = inner.position
    delta = inner.varint("the offset delta")
    if delta != index:
        raise inner.corrupt(f"offset delta {delta} in record {index} of the batch", delta_start)
    key = _read_span(inner, "key")
    value = _read_span(inner, "value")
    header_start = inner.position
    headers = inner.varint("the number of headers")
    if headers < 0:
        raise inner.corrupt(f"{headers} headers", header_start)
    if headers == 0 and inner.position != end:
        raise inner.corrupt(f"{end - inner.position} bytes left over in the record")
    reader.position = end
    return Frame(timestamp_delta, key, value, headers, end)


def _read_span(reader: Reader, what: str) -> tuple[int, int] | None:
    start = reader.position
    length = reader.varint(f"the {what} length")
    if length < -1:
        raise reader.corrupt(f"{what} length {length}", start)
    if length == -1:
        return None
    reader.require(length, f"the {what}")
    span = (reader.position, reader.position + length)
    reader.position += length
    return span


def read_metadata_record(
    reader: Reader, index: int, base_offset: int, base_timestamp: int
) -> MetadataRecord:
    """Return the metadata record at the reader's position and move the reader past it.

    Raises CorruptRecordError and its kinds, positions counting from the start of the records.
    """
    start = reader.position
    try:
        frame = read_frame(reader, index)
        decoded = read_value(Reader(reader.data, *_plain_value(frame, start)))
    except CorruptRecordError as error:
        raise error.located(offset=base_offset + index) from None
    return MetadataRecord(
        base_offset + index,
        base_timestamp + frame.timestamp_delta,
        decoded.api_key,
        decoded.version,
        decoded.fields,
        reader.data[slice(*_plain_value(frame, start))],
        start,
    )


def _plain_value(frame: Frame, start: int) -> tuple[int, int]:
    if frame.key is not None:
        raise CorruptRecordError("a metadata record with a key", position=start)
    if frame.headers:
        raise CorruptRecordError(f"a metadata record with {frame.headers} headers", position=start)
    if frame.value is None:
        raise CorruptRecordError("a metadata record without a value", position=start)
    return frame.value


def _keyed_value(frame: Frame, start: int) -> tuple[tuple[int, int], tuple[int, int]]:
    if frame.key is None or frame.value is None:
        raise CorruptRecordError("a control record without key or value", position=start)
    if frame.headers:
        raise CorruptRecordError(f"a control record with {frame.headers} headers", position=start)
    return frame.key, frame.value


def read_control_record(
    reader: Reader, index: int, base_offset: int, base_timestamp: int
) -> ControlRecord:
    """Return the control record at the reader's position and move the reader past it.

    Raises CorruptRecordError and its kinds, positions counting from the start of the records.
    """
    start = reader.position
    try:
        frame = read_frame(reader, index)
        key, value = _keyed_value(frame, start)
        schema = read_control_key(Reader(reader.data, *key))
        version, fields = read_control_value(schema, Reader(reader.data, *value))
    except CorruptRecordError as error:
        raise error.located(offset=base_offset + index) from None
    return ControlRecord(
        base_offset + index,
        base_timestamp + frame.timestamp_delta,
        schema.api_key,
        version,
        fields,
        reader.data[slice(*key)],
        reader.data[slice(*value)],
        start,
    )


def encode_record(index: int, value: bytes, *, key: bytes | None = None) -> bytes:
    """Return the bytes of one record without headers at place `index` of its batch."""
    body = (
        b"\x00\x00"  # no attributes, and the time of the batch
        + encode_varint(index)
        + (b"\x01" if key is None else encode_varint(len(key)) + key)
        + encode_varint(len(value))
        + value
        + b"\x00"
    )
    return encode_varint(len(body)) + body


_PLAIN_BYTES: Final = 4
"""Bytes of a record besides its value and three varints: attributes, time, no key, no headers."""


def records_bytes(values: Sequence[bytes], first: int = 0) -> int:
    """Return the size in bytes of these values as the records of a batch from number `first` on.

    Kafka: BatchBuilder.bytesNeeded, DefaultRecord.sizeInBytes.
    """
    total = 0
    for index, value in enumerate(values, first):
        length = len(value)
        body = _PLAIN_BYTES + _varint_bytes(index) + _varint_bytes(length) + length
        total += _varint_bytes(body) + body
    return total


def _varint_bytes(number: int) -> int:
    """Return the bytes of a non-negative number as a zigzag varint."""
    return max(1, ((number << 1).bit_length() + 6) // 7)
