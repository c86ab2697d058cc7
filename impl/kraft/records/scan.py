"""The fast way through a batch's records: it checks every record, and decodes only the wanted ones.

The loop recognises records of a known shape. It gives other records to `decoders` if they have the
form that Kafka writes (no attributes, timestamp delta 0, no key, no headers), and the rest to
`record`, which accepts a record or names its fault. So this module refuses nothing by itself: it
may be slow for a strange log, never lenient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError, UnsupportedVersionError
from kraft.records.decoders import DECODE_FAILURES, Mismatch, body_decoder, uvarint
from kraft.records.metadata_records import typed_record
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.primitives import Reader
from kraft.records.record import MetadataRecord, read_metadata_record
from kraft.records.shape import Shape, ShapeMemo, kind_of, ordinary_start
from kraft.records.value import BODY_START, FRAME_VERSION, decode_value

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.records.typed_record import TypedRecord

_SHAPES: Final = ShapeMemo()


def scan_metadata_records(
    data: bytes,
    start: int,
    count: int,
    base_offset: int,
    base_timestamp: int,
    *,
    position_shift: int = 0,
    wanted: frozenset[int] | None = None,
    counts: dict[tuple[int, int], int] | None = None,
) -> list[MetadataRecord]:
    """Return the wanted records of `data[start:]` after checking that it is `count` records.

    `wanted` holds api keys, None stands for all. With `counts`, adds to it by (api key, version).
    Raises CorruptRecordError and its kinds, positions counting from the start of `data`.
    """
    tally: dict[tuple[int, int], int] = {} if counts is None else counts
    records: list[MetadataRecord] = []
    position = start
    for index in range(count):
        body, end, shape = _match(data, position, index)
        if shape is not None:
            type_ = shape.type
            if wanted is None or type_[0] in wanted:
                value = data[body + shape.value_start : end - 1]
                place = (base_offset + index, base_timestamp)
                fields = _fields(type_, value)
                records.append(
                    MetadataRecord(*place, *type_, fields, value, position + position_shift)
                )
        else:
            timestamp = base_timestamp
            record = _ordinary_record(data, (position, body, end), index)
            if record is None:
                reader = Reader(data, position)
                record = read_metadata_record(reader, index, base_offset, base_timestamp)
                timestamp, end = record.timestamp, reader.position
            _SHAPES.learn(data[body:end], index)
            type_ = (record.api_key, record.version)
            if wanted is None or type_[0] in wanted:
                offset, at = base_offset + index, position + position_shift
                records.append(record._replace(offset=offset, timestamp=timestamp, position=at))
        tally[type_] = tally.get(type_, 0) + 1
        position = end
    _check_end(data, position)
    return records


def scan_typed_records(data: bytes, start: int, count: int, base_offset: int) -> list[TypedRecord]:
    """Return all records of `data[start:]` as values after checking that it is `count` records.

    Raises as `scan_metadata_records`.
    """
    records: list[TypedRecord] = []
    position = start
    for index in range(count):
        body, end, shape = _match(data, position, index)
        if shape is not None and (read := shape.read) is not None:
            records.append(read(data, body))
        else:
            reader = Reader(data, position)
            record = read_metadata_record(reader, index, base_offset, 0)
            end = reader.position
            if shape is None:
                _SHAPES.learn(data[body:end], index)
            records.append(typed_record(record.api_key, record.fields))
        position = end
    _check_end(data, position)
    return records


def _check_end(data: bytes, position: int) -> None:
    if position != len(data):
        raise CorruptRecordError(
            f"{len(data) - position} bytes left over after the last record", position=position
        )


def _match(data: bytes, position: int, index: int) -> tuple[int, int, Shape | None]:
    """Return the start of the record after its length, its end, and its shape if known.

    A record whose length is no ordinary varint starts at the end of the data.
    """
    try:
        size = data[position]
        body = position + 1
        if size >= 0x80:
            high = data[body]
            body += 1
            size = size & 0x7F | high << 7
            if high >= 0x80:
                size, body = uvarint(data, position)
    except (IndexError, Mismatch):
        return len(data), 0, None
    end = body + (size >> 1)
    begin = ordinary_start(index)
    if data.startswith(begin, body) and end <= len(data):
        shapes = _SHAPES.by_kind.get(kind_of(size, len(begin)))
        if shapes is not None:
            number = int.from_bytes(data[body:end], "big")
            for shape in shapes:
                if number & shape.mask == shape.expected:
                    return body, end, shape
    return body, end, None


def _ordinary_record(data: bytes, place: tuple[int, int, int], index: int) -> MetadataRecord | None:
    """Return a record of the form that Kafka writes, of whatever shape; None if in doubt.

    `place` has the starts of the record's length, of the rest, and of the next record. The caller
    sets offset and timestamp.
    """
    position, body, end = place
    begin = ordinary_start(index)
    if end > len(data) or not data.startswith(begin, body):
        return None
    try:
        size, start = uvarint(data, position)
        length, value_start = uvarint(data, body + len(begin))
        value = data[value_start : end - 1]
        if (size | length) & 1 or start != body or length != 2 * len(value) or data[end - 1]:
            return None
        frame, api_key, version = value[:BODY_START]
        if frame != FRAME_VERSION:
            return None
        fields = body_decoder(METADATA_SCHEMAS[api_key], version)(value, BODY_START)
    except (Mismatch, KeyError, ValueError, UnsupportedVersionError, *DECODE_FAILURES):
        return None
    return MetadataRecord(0, 0, api_key, version, fields, value, position)


def _fields(type_: tuple[int, int], value: bytes) -> Fields:
    try:
        api_key, version = type_
        return body_decoder(METADATA_SCHEMAS[api_key], version)(value, BODY_START)
    except (Mismatch, *DECODE_FAILURES):
        return decode_value(value).fields
