"""What an operation is given, and how functions of other shapes become operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.chance import derive
from kraft.controller.operations.result import Generated, Result
from kraft.ids import UUID_BYTES, Uuid, uuid_text

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.operations.written import Written
    from kraft.image.metadata_image import MetadataImage

ANONYMOUS: Final = "User:ANONYMOUS"
"""Who asks without having said who it is. Kafka: KafkaPrincipal.ANONYMOUS."""


@dataclass(frozen=True, slots=True)
class OperationContext:
    """What an operation may look at: the newest state, committed or not, and the request."""

    written: Written
    heartbeats: Heartbeats
    defaults: Defaults
    request: Any
    now_ms: int
    chance: int
    principal: str = ANONYMOUS

    @property
    def image(self) -> MetadataImage:
        """The newest image."""
        return self.written.image


Operation = Callable[[OperationContext], Result[Any] | Generated[Any]]
Read = Callable[["MetadataImage", Any], Any]


def of_image(operation: Callable[..., Result[Any]]) -> Operation:
    """Return the operation of a function that takes image, defaults and request."""
    return lambda asked: operation(asked.image, asked.defaults, asked.request)


def of_brokers(operation: Callable[..., Generated[Any]]) -> Operation:
    """Return the operation of one that takes written, heartbeats, defaults and request."""
    return lambda asked: operation(asked.written, asked.heartbeats, asked.defaults, asked.request)


def of_brokers_in_time(operation: Callable[..., Generated[Any]]) -> Operation:
    """Return the operation of one that takes the time in milliseconds besides."""
    return lambda asked: operation(
        asked.written, asked.heartbeats, asked.defaults, asked.request, asked.now_ms
    )


def new_uuids(chance: int, count: int) -> tuple[Uuid, ...]:
    """Return ids that nobody has yet, as long as no chance comes twice. Kafka: Uuid.randomUuid."""
    halves = [(derive(chance, "high", i), derive(chance, "low", i)) for i in range(count)]
    half = UUID_BYTES // 2
    return tuple(
        Uuid(uuid_text(high.to_bytes(half, "big") + low.to_bytes(half, "big")))
        for high, low in halves
    )
