"""The result of shrinking, and the size of a trace."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from krafla.counted import counted
from krafla.traces.spec_facts import faults, shrink_facts_of
from krafla.traces.trace import INITIAL

if TYPE_CHECKING:
    from krafla.traces import Trace

__all__ = ["Shrunk", "Size"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Size:
    """How large a trace is. ``nodes`` and ``units`` are 0 for a spec without processes or time."""

    steps: int
    nodes: int
    faults: int
    units: int

    @classmethod
    def of(cls, trace: Trace) -> Size:
        """Return the size of a trace; ``units`` of time pass in it by the common clock."""
        facts, bad = shrink_facts_of(trace.spec), faults()
        actions = Counter(step.action for step in trace.steps if step.action != INITIAL)
        constants = dict(trace.constants)
        nodes = constants.get(facts.processes or "", frozenset())
        units = sum(
            int(step.parameters[0])
            for step in trace.steps
            if step.action == facts.time and step.parameters and isinstance(step.parameters[0], int)
        )
        return cls(
            actions.total(),
            len(nodes) if isinstance(nodes, frozenset) else 0,
            sum(count for action, count in actions.items() if action in bad),
            units,
        )

    def __str__(self) -> str:
        told = [counted(self.steps, "step"), counted(self.faults, "fault")]
        if self.nodes:
            # The spec has processes.
            told.insert(1, counted(self.nodes, "process", "processes"))
            told.append(f"{counted(self.units, 'unit')} of time")
        return ", ".join(told)


@dataclass(frozen=True, slots=True)
class Shrunk(Generic[T]):
    """The smallest result found that shows the same finding.

    ``is_minimal`` if the search ended within its budget: no step and no pair of steps can be left
    out.
    """

    result: T
    is_minimal: bool
    tries: int
