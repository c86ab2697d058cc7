"""The state of a quorum controller, and the turn in which a handler changes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from immutables import Map

from kraft.controller.memory import EMPTY, Memory
from kraft.ids import Offset
from kraft.rpc.envelope import ANONYMOUS

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kraft.controller.configuration import Configuration
    from kraft.controller.effects import Effect
    from kraft.controller.events import Event
    from kraft.controller.operations.heartbeats import Heartbeats

NO_EPOCH: Final = -1
"""The claim epoch of a standby.

Spec: MetadataLog!NoEpoch. Kafka: QuorumController.curClaimEpoch.
"""
NEVER: Final = 2**63 - 1
_FIRST: Final = Offset(0)
_NO_TASKS: Final[Map[str, int]] = Map()


@dataclass(frozen=True, slots=True)
class Deferred:
    """An answer that waits until everything before `end` is stable. Kafka: DeferredEventQueue."""

    token: Hashable
    end: Offset
    response: Any


@dataclass(frozen=True, slots=True)
class ControllerState:
    """The state of a quorum controller.

    `timeline` maps an end offset to the state that the controller can go back to; the newest is
    `written`. `heartbeats` and the times of `tasks` exist only while it is active. `snapshot_end`
    is the end of the newest snapshot, `bytes_since_snapshot` the size of the batches committed
    since. `snapshot_ms` is when that snapshot was made or loaded, or when the process started.

    Spec: MetadataLog!vars. Kafka: QuorumController, OffsetControlManager.
    """

    configuration: Configuration
    claim_epoch: int
    committed_end: Offset
    stable_end: Offset
    written: Memory
    timeline: Map[Offset, Memory]
    snapshot_ms: int
    deferred: tuple[Deferred, ...] = ()
    heartbeats: Heartbeats | None = None
    tasks: Map[str, int] = _NO_TASKS
    snapshot_end: Offset = _FIRST
    bytes_since_snapshot: int = 0

    @property
    def write_end(self) -> Offset:
        """The first offset that is not in memory. Spec: MetadataLog!write_end."""
        return self.written.end


@dataclass(frozen=True, slots=True)
class Step:
    """The state after an event, and its effects in the order in which they must happen."""

    state: ControllerState
    effects: tuple[Effect, ...] = ()


class Turn:
    """The state that a handler has changed so far, and the effects that it has asked for.

    A turn never leaves its handler. `log_end`, `kraft_version` and `principal` come from the event.
    """

    __slots__ = ("effects", "kraft_version", "log_end", "now_ms", "principal", "state")

    def __init__(self, state: ControllerState, event: Event) -> None:
        self.state = state
        self.now_ms = event.now_ms
        self.log_end: Offset | None = getattr(event, "log_end", None)
        self.kraft_version: int | None = getattr(event, "kraft_version", None)
        self.principal: str = getattr(event, "principal", ANONYMOUS)
        self.effects: list[Effect] = []

    def change(self, **fields: Any) -> None:
        """Replace fields of the state."""
        self.state = replace(self.state, **fields)

    def do(self, effect: Effect) -> None:
        """Add an effect, after all earlier ones."""
        self.effects.append(effect)

    def step(self) -> Step:
        """Return the state and the effects of the turn."""
        return Step(self.state, tuple(self.effects))


def first_state(
    configuration: Configuration, now_ms: int, memory: Memory = EMPTY
) -> ControllerState:
    """Return a controller that has read nothing yet; `memory` is the state of the empty log.

    `now_ms` is when its process starts, by the controller's clock: the time to its first snapshot
    counts from there.

    Spec: MetadataLog!Init. Kafka: SnapshotGenerator.resetSnapshotCounters.
    """
    end = memory.end
    return ControllerState(
        configuration, NO_EPOCH, end, end, memory, Map({end: memory}), now_ms, snapshot_end=end
    )


def is_active(state: ControllerState) -> bool:
    """Return whether the controller believes that it is active; another one may believe so too.

    Spec: MetadataLog!IsActive. Kafka: QuorumController.isActiveController.
    """
    return state.claim_epoch != NO_EPOCH


def is_all_stable(state: ControllerState) -> bool:
    """Return whether everything in memory may be read. Spec: MetadataLog!AllStable."""
    return state.stable_end == state.write_end


def visible(state: ControllerState) -> Memory:
    """Return the state that any client may read: committed, and without an open transaction.

    During a transaction a standby here shows the state before it; Kafka's shows the newest.

    Spec: MetadataLog!Visible. Kafka: QuorumController.ControllerReadEvent.
    """
    return state.timeline[state.stable_end]
