"""The state of a quorum controller, as a value, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from immutables import Map

from kraft.controller.memory import EMPTY, Memory
from kraft.ids import Offset

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kraft.controller.configuration import Configuration
    from kraft.controller.effects import Effect
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
    """An answer that waits until all before `end` is stable. Kafka: DeferredEventQueue."""

    token: Hashable
    end: Offset
    response: Any


@dataclass(frozen=True, slots=True)
class ControllerState:
    """What a controller knows.

    `timeline` has, by end, what can be gone back to; the newest is `written`. `heartbeats`, and the
    times of its `tasks`, are there while it is active. `snapshot_end` is that of the newest
    snapshot, `snapshot_ms` when that was, `bytes_since_snapshot` what was committed after it.

    Spec: MetadataLog!vars. Kafka: QuorumController, OffsetControlManager.
    """

    configuration: Configuration
    claim_epoch: int
    committed_end: Offset
    stable_end: Offset
    written: Memory
    timeline: Map[Offset, Memory]
    deferred: tuple[Deferred, ...] = ()
    heartbeats: Heartbeats | None = None
    tasks: Map[str, int] = _NO_TASKS
    snapshot_end: Offset = _FIRST
    snapshot_ms: int = 0
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
    """Never leaves its handler; `log_end` as the event said."""

    __slots__ = ("effects", "log_end", "now_ms", "state")

    def __init__(self, state: ControllerState, now_ms: int, log_end: Offset | None = None) -> None:
        self.state = state
        self.now_ms = now_ms
        self.log_end = log_end
        self.effects: list[Effect] = []

    def change(self, **fields: Any) -> None:
        """Put other values in place of fields of the state."""
        self.state = replace(self.state, **fields)

    def do(self, effect: Effect) -> None:
        """Ask for an effect, after all that were asked for before."""
        self.effects.append(effect)

    def step(self) -> Step:
        """Return what the turn comes to."""
        return Step(self.state, tuple(self.effects))


def first_state(configuration: Configuration, memory: Memory = EMPTY) -> ControllerState:
    """Return a controller that has read nothing yet; `memory` is what an empty log stands for.

    Spec: MetadataLog!Init.
    """
    end = memory.end
    return ControllerState(
        configuration, NO_EPOCH, end, end, memory, Map({end: memory}), snapshot_end=end
    )


def is_active(state: ControllerState) -> bool:
    """Return whether the controller takes itself for active; another may, too.

    Spec: MetadataLog!IsActive. Kafka: QuorumController.isActiveController.
    """
    return state.claim_epoch != NO_EPOCH


def is_all_stable(state: ControllerState) -> bool:
    """Return whether all that is in memory may be read. Spec: MetadataLog!AllStable."""
    return state.stable_end == state.write_end


def visible(state: ControllerState) -> Memory:
    """Return what anybody may read: nothing that could be lost, and no half of a transaction.

    A standby in a transaction shows what was before it; Kafka's shows the newest.

    Spec: MetadataLog!Visible. Kafka: QuorumController.ControllerReadEvent.
    """
    return state.timeline[state.stable_end]
