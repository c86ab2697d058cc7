"""The input of an operation, and the ids that it can give to new things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kraft.chance import derive
from kraft.controller.operations.result import Generated, Result
from kraft.ids import UUID_BYTES, Uuid, uuid_text
from kraft.rpc.envelope import ANONYMOUS

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.operations.written import Written
    from kraft.image.metadata_image import MetadataImage


@dataclass(frozen=True, slots=True)
class OperationContext:
    """What an operation reads: the newest state, committed or not, the request and the time.

    `chance` is the number from which `new_uuids` makes ids. `kraft_version` is None for a task,
    which no request brings.
    """

    written: Written
    heartbeats: Heartbeats
    defaults: Defaults
    request: Any
    now_ms: int
    chance: int
    kraft_version: int | None
    principal: str = ANONYMOUS

    @property
    def image(self) -> MetadataImage:
        """The newest image, committed or not."""
        return self.written.image


Operation = Callable[[OperationContext], Result[Any] | Generated[Any]]
Read = Callable[["MetadataImage", Any], Any]


def new_uuids(chance: int, count: int) -> tuple[Uuid, ...]:
    """Return ids that are new as long as no event brings the same `chance` as another.

    Kafka: Uuid.randomUuid.
    """
    halves = [(derive(chance, "high", i), derive(chance, "low", i)) for i in range(count)]
    half = UUID_BYTES // 2
    return tuple(
        Uuid(uuid_text(high.to_bytes(half, "big") + low.to_bytes(half, "big")))
        for high, low in halves
    )
