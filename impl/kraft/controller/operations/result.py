"""The result of an operation: the records to write, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from kraft.records.long_strings import check_strings

if TYPE_CHECKING:
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.ids import BrokerId
    from kraft.records.typed_record import TypedRecord

Response = TypeVar("Response")


@dataclass(frozen=True, slots=True)
class Result(Generic[Response]):
    """The records to write, in order, and the answer once they are committed.

    If `is_atomic`, either all records take effect or none. Raises LongStringError for a record that
    Kafka's serializer refuses.

    Kafka: ControllerResult.
    """

    records: tuple[TypedRecord, ...]
    response: Response
    is_atomic: bool = True

    def __post_init__(self) -> None:
        if self.records:
            check_strings(self.records)


@dataclass(frozen=True, slots=True)
class Generated(Generic[Response]):
    """A result, and the soft state of the brokers before its records are replayed.

    `shutting_down` is a broker whose controlled shutdown begins with the last record; the offset is
    known once that is written. `heard` is a broker whose session begins once the records are
    written.

    Kafka: QuorumController.ControllerWriteOperation.
    """

    result: Result[Response]
    heartbeats: Heartbeats
    shutting_down: BrokerId | None = None
    heard: BrokerId | None = None
