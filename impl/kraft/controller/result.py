"""What an operation of the controller comes to: the records to write, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from kraft.records.typed import TypedRecord

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
