"""A partial trace: observations of a behaviour that was not seen completely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from krafla.traces.spec_text import SpecText
    from krafla.traces.trace import Trace
    from krafla.values import Function, Value

__all__ = ["Observation", "Part", "PartialTrace", "partial"]

# A variable, and the arguments that lead to a part of its value: ("status", p1).
Part: TypeAlias = "tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation: of a step, or only of a state at some time.

    ``action`` is ``None`` if it was not seen. Each parameter that was not seen is ``None``, and
    ``parameters`` is ``None`` if none was seen. ``seen`` gives values of variables, or of parts of
    them, after the step. ``place`` is where the observation was read, as ``file:line``. ``time_ms``
    is its time, in milliseconds of the observer's clock.
    """

    action: str | None
    parameters: tuple[Value | None, ...] | None = None
    seen: tuple[tuple[Part, Value], ...] = ()
    place: str = ""
    time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PartialTrace:
    """Observations of one behaviour of ``spec`` in their order, from an initial state on.

    Steps of the actions ``hidden`` may be missing between two observations (``None``: steps of any
    action; empty: none). At most ``hidden_max`` hidden steps in a row are considered. ``model``
    names the model that bounds the spec, if its constants are not all values. ``digest``,
    ``text`` and ``machine`` are those of a whole trace.
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

    def __len__(self) -> int:
        return len(self.observations)


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
