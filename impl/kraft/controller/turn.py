"""A handler at work: the state as it is by now, and the effects asked for so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraft.controller.state import Step

if TYPE_CHECKING:
    from kraft.controller.effects import Effect
    from kraft.controller.state import ControllerState
    from kraft.ids import Offset


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
