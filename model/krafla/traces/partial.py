"""A partial trace: observations of a behaviour that was not seen completely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from krafla.traces.trace import INITIAL

if TYPE_CHECKING:
    from krafla.traces.spec_text import SpecText
    from krafla.traces.trace import Trace
    from krafla.values import Function, Value

__all__ = ["Call", "Called", "Observation", "ObservedKind", "Part", "PartialTrace", "partial"]

# A variable, and the arguments that lead to a part of its value: ("status", p1).
Part: TypeAlias = "tuple[Value, ...]"

ObservedKind: TypeAlias = Literal["step", "stay", "refusal"]
"""A step was taken; none was taken, or hidden ones at most; an action was refused."""

_KINDS: Final = get_args(ObservedKind)


@dataclass(frozen=True, slots=True)
class Call:
    """What the code was called for: a method of a machine, or the action that a method takes.

    ``parameters`` is ``None`` if they are no values of TLA+: then it cannot be made again.
    """

    method: str
    parameters: tuple[Value, ...] | None = None


Called: TypeAlias = "Call | Literal['same'] | None"
"""The call, "same" for that of the observation before; ``None`` if the action tells it."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation: of a step, of a state without a step, or of a refusal.

    Of a step, ``action`` is ``None`` if it was not seen. Each parameter that was not seen is
    ``None``, and ``parameters`` is ``None`` if none was seen. ``seen`` gives values of variables,
    or of parts of them, after the step. ``place`` is where the observation was read, as
    ``file:line``. ``time_ms`` is its time, in milliseconds of the observer's clock.

    A ``kind`` "stay" is of a state: the code took no step since the observation before, or hidden
    ones at most. It has no ``action``. That of a "refusal" is the one that the code refused; the
    spec must not allow it there.

    ``call`` says what the code was called for. No judge of the spec reads it: where a trace is
    kept as a test, the code is called for the same again.
    """

    action: str | None
    parameters: tuple[Value | None, ...] | None = None
    seen: tuple[tuple[Part, Value], ...] = ()
    place: str = ""
    time_ms: int | None = None
    kind: ObservedKind = "step"
    call: Called = None

    def __post_init__(self) -> None:
        """Raise ``ValueError`` if it says of a stay or a refusal what neither can have."""
        if self.action == INITIAL and self.call is not None:
            raise ValueError(f"no call is of {INITIAL}, which is the beginning")
        if self.kind == "step":
            return
        if self.kind not in _KINDS:
            raise ValueError(f"{self.kind!r} is no kind of observation")
        if self.kind == "stay" and (self.action is not None or self.parameters is not None):
            raise ValueError("a stay takes no action: what the code was asked for is its call")
        if self.kind == "refusal" and self.action in {None, INITIAL}:
            raise ValueError("a refusal names the action that was refused")


@dataclass(frozen=True, slots=True)
class PartialTrace:
    """Observations of one behaviour of ``spec`` in their order, from an initial state on.

    Steps of the actions ``hidden`` may be missing between two observations (``None``: steps of any
    action; empty: none). At most ``hidden_max`` hidden steps in a row are considered. ``model``
    names the model that bounds the spec, if its constants are not all values. ``digest``,
    ``text`` and ``machine`` are those of a whole trace, ``made_by`` is that of its origin.
    """

    spec: str
    observations: tuple[Observation, ...]
    constants: tuple[tuple[str, Value], ...] = ()
    hidden: tuple[str, ...] | None = ()
    hidden_max: int = 8
    model: str | None = None
    digest: str | None = None
    text: SpecText | None = None
    machine: str | None = None
    made_by: str | None = None

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def steps(self) -> int:
        """Return how many steps were observed after the beginning."""
        found = self.observations
        return sum(one.kind == "step" and one.action != INITIAL for one in found)


def partial(trace: Trace, hidden: tuple[str, ...] | None = ()) -> PartialTrace:
    """Return a whole trace as a partial one in which everything was seen."""
    observations = tuple(
        Observation(step.action, step.parameters, _parts(step.state)) for step in trace.steps
    )
    return PartialTrace(
        trace.spec, observations, trace.constants, hidden,
        model=trace.model, digest=trace.digest, text=trace.text, machine=trace.machine,
    )  # fmt: skip


def _parts(state: Function) -> tuple[tuple[Part, Value], ...]:
    return tuple(((name,), value) for name, value in state.items())
