"""Primitive values on the wire: a bounded reader that refuses, and their encodings.

`Reader` never allocates for a length before it has compared it with the bytes that are left, and
every refusal is a `CorruptRecordError` with the position and the field. It also notes which bytes
it took as plain content: those may change without changing how the rest is read (see `shape`).

Kafka: ByteUtils, ByteBufferAccessor.
"""

from __future__ import annotations

import struct
from typing import Final

from kraft.errors import CorruptRecordError
from kraft.ids import uuid_text
from kraft.records.schema import FIXED_FORMATS, FieldType

MAX_VARINT_BYTES: Final = 5
MAX_VARLONG_BYTES: Final = 10

ANY_BYTE: Final = 0x00
ASCII_BYTE: Final = 0x80
"""Masks of `Reader.content`: the bits of a content byte that a like-shaped value must share."""

NULL: Final = -1
"""The length of what is null."""

_FIXED: Final = {kind: struct.Struct(">" + code) for kind, code in FIXED_FORMATS.items()}


class Reader:
    """Reads `data[position:end]`; `path` names the field being read, for errors.

    `content` collects (start, length, mask) of the bytes that are values, not structure.
    """

    __slots__ = ("content", "data", "end", "path", "position")

    def __init__(self, data: bytes, position: int = 0, end: int | None = None) -> None:
        self.data = data
        self.position = position
        self.end = len(data) if end is None else end
        self.path: list[str] = []
        self.content: list[tuple[int, int, int]] = []

    def corrupt(self, reason: str, position: int | None = None) -> CorruptRecordError:
        """Return the error that says `reason` at the current place."""
        return CorruptRecordError(
            reason,
            position=self.position if position is None else position,
            field="".join(self.path).removeprefix(".") or None,
        )

    def require(self, length: int, what: str) -> None:
        """Raise unless `length` more bytes are there."""
        left = self.end - self.position
        if length > left:
            raise self.corrupt(f"{what} needs {length} bytes, {left} are left")

    def took(self, start: int, length: int, mask: int) -> None:
        """Note that these bytes are content."""
        self.content.append((start, length, mask))

    def uvarint(self, what: str) -> int:
        """Return an unsigned 32 bit varint."""
        start = self.position
        value = 0
        for index in range(MAX_VARINT_BYTES):
            if self.position >= self.end:
                raise self.corrupt(f"the varint of {what} is cut short", start)
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if value > 0xFFFFFFFF:
                    raise self.corrupt(f"the varint of {what} does not fit 32 bits", start)
                return value
        raise self.corrupt(f"the varint of {what} has more than {MAX_VARINT_BYTES} bytes", start)

    def length(self, what: str, *, is_flexible: bool, is_string: bool) -> int:
        """Return a length of elements or bytes, or NULL.

        A flexible version has it plus one as a varint, and 0 for null. An older one has a signed
        number of 16 bits before a string and of 32 bits before anything else, and -1 for null.
        """
        if is_flexible:
            return self.uvarint(what) - 1
        start = self.position
        length = self.fixed(FieldType.INT16 if is_string else FieldType.INT32)
        assert isinstance(length, int)
        if length < NULL:
            raise self.corrupt(f"{what} is {length}", start)
        return length

    def varint(self, what: str) -> int:
        """Return a zigzag 32 bit varint."""
        value = self.uvarint(what)
        return (value >> 1) ^ -(value & 1)

    def varlong(self, what: str) -> int:
        """Return a zigzag 64 bit varint."""
        start = self.position
        value = 0
        for index in range(MAX_VARLONG_BYTES):
            if self.position >= self.end:
                raise self.corrupt(f"the varlong of {what} is cut short", start)
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if value > 0xFFFFFFFFFFFFFFFF:
                    raise self.corrupt(f"the varlong of {what} does not fit 64 bits", start)
                return (value >> 1) ^ -(value & 1)
        raise self.corrupt(f"the varlong of {what} has more than {MAX_VARLONG_BYTES} bytes", start)

    def fixed(self, kind: FieldType) -> object:
        """Return a value of a fixed-size type."""
        layout = _FIXED[kind]
        self.require(layout.size, kind.value)
        value: object = layout.unpack_from(self.data, self.position)[0]
        self.took(self.position, layout.size, ANY_BYTE)
        self.position += layout.size
        if kind is FieldType.BOOL:
            return bool(value)
        if isinstance(value, bytes):
            return uuid_text(value)
        return value

    def raw(self, length: int, what: str, mask: int = ANY_BYTE) -> bytes:
        """Return the next `length` bytes as they are."""
        self.require(length, what)
        start = self.position
        self.position += length
        self.took(start, length, mask)
        return self.data[start : self.position]

    def text(self, length: int) -> str:
        """Return the next `length` bytes as UTF-8."""
        start = self.position
        raw = self.raw(length, "string", ASCII_BYTE)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.corrupt(f"invalid UTF-8: {error.reason}", start + error.start) from None


def encode_uvarint(value: int) -> bytes:
    """Return `value` (0 <= value < 2**64) as an unsigned varint of minimal length."""
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_varint(value: int) -> bytes:
    """Return `value` (a signed number of at most 64 bits) as a zigzag varint."""
    return encode_uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def fixed_layout(kind: FieldType) -> struct.Struct:
    """Return the layout of a fixed-size type."""
    return _FIXED[kind]
