"""A reader of requests and responses, whose refusals are those of a message.

Kafka: ByteBufferAccessor.
"""

from __future__ import annotations

from kraft.errors import CorruptMessageError
from kraft.records.primitives import Reader


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

    def took(self, start: int, length: int, mask: int) -> None:
        """Note nothing: only records have shapes."""
