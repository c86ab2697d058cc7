"""A reader of requests and responses: the lengths and refusals of the protocol.

Kafka: ByteBufferAccessor.
"""

from __future__ import annotations

from typing import Final

from kraft.errors import CorruptMessageError
from kraft.records.schema import FieldType
from kraft.records.wire import Reader

NULL: Final = -1
"""The length of what is null."""


class MessageReader(Reader):
    """Reads the bytes of a message; its refusals are `CorruptMessageError`."""

    __slots__ = ()

    def corrupt(self, reason: str, position: int | None = None) -> CorruptMessageError:
        """Return the error that says `reason` at the current place."""
        return CorruptMessageError(
            reason,
            position=self.position if position is None else position,
            field="".join(self.path).removeprefix(".") or None,
        )

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

    def took(self, start: int, length: int, mask: int) -> None:
        """Note nothing: only records have shapes."""
