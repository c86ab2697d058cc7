"""What an operation of the controller comes to: the records to write, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.ids import BrokerId
    from kraft.records.typed_record import TypedRecord

Response = TypeVar("Response")


@dataclass(frozen=True, slots=True)
class Result(Generic[Response]):
    """The records to write, in order, and the answer once they are committed.

    If `is_atomic`, either all of the records count or none.

    Kafka: ControllerResult.
    """

    records: tuple[TypedRecord, ...]
    response: Response
    is_atomic: bool = True


@dataclass(frozen=True, slots=True)
class Generated(Generic[Response]):
    """A result, and what is kept of brokers in memory once it was generated, before any replay.

    `shutting_down` is a broker whose controlled shutdown begins with the last of the records; its
    offset is known when they are written. `heard` is one whose session begins once they are.

    Kafka: QuorumController.ControllerWriteOperation.
    """

    result: Result[Response]
    heartbeats: Heartbeats
    shutting_down: BrokerId | None = None
    heard: BrokerId | None = None
