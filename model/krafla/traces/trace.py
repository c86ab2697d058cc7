"""The trace: a behaviour of a spec as data, and what is claimed of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from krafla.values import same

if TYPE_CHECKING:
    from krafla.values import Function, Value

__all__ = ["INITIAL", "Claim", "ClaimKind", "Step", "Trace"]

# The action of the first step, which no action took.
INITIAL = "Init"


class ClaimKind(Enum):
    """What sort of thing a trace is evidence of."""

    INVARIANT = "invariant"
    ACTION_PROPERTY = "action property"
    TEMPORAL_PROPERTY = "temporal property"
    DEADLOCK = "deadlock"
    ASSERTION = "assertion"
    EVALUATION = "evaluation"
    BEHAVIOUR = "behaviour"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a trace shows: the property it violates, or (``BEHAVIOUR``) only that it is one."""

    kind: ClaimKind
    property: str | None = None

    def __str__(self) -> str:
        return self.kind.value if self.property is None else f"{self.kind.value} {self.property}"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the action that was taken and the state it led to.

    ``parameters`` are the action's arguments in order, and ``None`` while unknown: an
    action without parameters has ``()``. ``location`` is where the action stands, as
    ``Module:line``, or empty.
    """

    action: str
    parameters: tuple[Value, ...] | None
    state: Function
    location: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """A behaviour of ``spec`` under ``constants``, from an initial state.

    ``lasso`` is the index of the step whose state comes again after the last step: the
    behaviour repeats from there for ever. If it is the last index itself, the behaviour
    stutters. ``None`` says that the trace is a finite beginning. ``back`` is the action
    that closes the lasso, empty when stuttering or unknown.
    """

    spec: str
    steps: tuple[Step, ...]
    constants: tuple[tuple[str, Value], ...] = ()
    claim: Claim | None = None
    lasso: int | None = None
    back: str = ""
    model: str | None = None

    def __post_init__(self) -> None:
        assert self.lasso is None or 0 <= self.lasso < len(self.steps), "lasso outside the trace"

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def stutters(self) -> bool:
        """Return whether the behaviour ends by repeating its last state for ever."""
        return self.lasso is not None and self.lasso == len(self.steps) - 1 and not self.back

    def changed(self, index: int) -> tuple[str, ...]:
        """Return the variables whose value step ``index`` changed; all of them at index 0."""
        state = self.steps[index].state
        if index == 0:
            return tuple(map(str, state))
        before = self.steps[index - 1].state
        return tuple(
            str(name) for name in state if name not in before or not same(before[name], state[name])
        )

    def with_steps(self, steps: tuple[Step, ...]) -> Trace:
        """Return the same trace over other steps, for example with parameters filled in."""
        return replace(self, steps=steps)
