"""Shapes: a learned test that a record is well-formed, without decoding it.

Reading a record looks at two kinds of bytes: structure (lengths, frame, type, version, tags, nulls)
and content (numbers, UUIDs, text). Two records of equal length and equal structure bytes are read
along the same path, and any content is acceptable as long as text stays ASCII. So a record that was
once read in full gives a mask over structure bytes and top bits of text; another one that agrees
under the mask is well-formed too. A metadata log has few shapes and very many records of each.

A shape covers a record after its length and after its "ordinary start" (attributes, timestamp
delta, offset delta, no key), which the caller compares itself because it differs from record to
record.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from kraft.records.metadata_records import RECORD_BY_API_KEY
from kraft.records.primitives import Reader, encode_varint
from kraft.records.unpack import reader_of
from kraft.records.value import BODY_START, read_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.typed_record import TypedRecord

MAX_SHAPES_PER_KIND: Final = 6
MAX_SHAPES: Final = 1024
MAX_RECORD_BYTES: Final = 1024


@dataclass(frozen=True, eq=False)
class Shape:
    """Records whose number `record & mask == expected` are well-formed and of this type.

    `type` is (api key, version); the value starts at byte `value_start` of the record (counted
    after its length) and ends before the last one. `example` is a record of this shape.
    """

    mask: int
    expected: int
    type: tuple[int, int]
    value_start: int
    example: bytes

    @cached_property
    def read(self) -> Callable[[bytes, int], TypedRecord] | None:
        """What makes the record of data and the place in it where a record of this shape begins.

        None for one with tagged fields that no schema names.
        """
        api_key, version = self.type
        value = self.example[self.value_start : -1]
        return reader_of(RECORD_BY_API_KEY[api_key], version, value, BODY_START, self.value_start)


@lru_cache(maxsize=65536)
def ordinary_start(index: int) -> bytes:
    """Return the bytes of attributes 0, timestamp delta 0, offset delta `index` and no key."""
    return b"\x00\x00" + encode_varint(index) + b"\x01"


def kind_of(size: int, start_length: int) -> int:
    """Return the number shapes are kept under: the record's length varint, the start's length."""
    return size << 3 | start_length


def shape_of(record: bytes, start_length: int) -> Shape:
    """Return the shape of a record (without its length) that was read in full before."""
    reader = Reader(record, start_length)
    length = reader.varint("the value length")
    value_start = reader.position
    reader.end = value_start + length
    decoded = read_value(reader)
    mask = bytearray(b"\x00" * start_length + b"\xff" * (len(record) - start_length))
    for start, size, content_mask in reader.content:
        if record[start : start + size].isascii() or not content_mask:
            mask[start : start + size] = bytes((content_mask,)) * size
    number = int.from_bytes(mask, "big")
    expected = int.from_bytes(record, "big") & number
    return Shape(number, expected, (decoded.api_key, decoded.version), value_start, record)


class ShapeMemo:
    """The shapes seen so far, by kind; bounded, and only ever an aid to speed."""

    def __init__(self) -> None:
        self.by_kind: dict[int, list[Shape]] = {}
        self._room = MAX_SHAPES

    def learn(self, record: bytes, index: int) -> None:
        """Add the shape of a record that was read in full as number `index` of its batch."""
        start = ordinary_start(index)
        if not self._room or len(record) > MAX_RECORD_BYTES or not record.startswith(start):
            return
        shapes = self.by_kind.setdefault(kind_of(2 * len(record), len(start)), [])
        if len(shapes) < MAX_SHAPES_PER_KIND:
            shapes.append(shape_of(record, len(start)))
            self._room -= 1
