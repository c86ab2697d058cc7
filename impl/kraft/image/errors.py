"""A record that cannot be replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.records.typed_record import TypedRecord


class RefusedRecordError(Exception):
    """A record that contradicts the records before it: its replay must stop.

    Kafka: FaultHandler, as the fatal fault that ends the process.
    """

    def __init__(self, reason: str, record: TypedRecord) -> None:
        super().__init__(reason, record)
        self.reason = reason
        self.record = record

    def __str__(self) -> str:
        return f"{type(self.record).__name__}: {self.reason}"
