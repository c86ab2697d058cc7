"""What a source of traces knows: the spec of a test, and the folder of its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

from krafla.testing.errors import Inconclusive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.graph import StateGraph
    from krafla.oracle import Spec
    from krafla.oracle.guards import Guard
    from krafla.traces import PartialTrace, Trace

__all__ = ["NamedTrace", "NoBehaviour", "Setting", "TraceSource"]

Made: TypeAlias = "Trace | PartialTrace"


class NoBehaviour(Inconclusive):
    """The spec has no behaviour of the kind that a source promises, within its bounds."""


@dataclass(frozen=True, slots=True)
class NamedTrace:
    """One trace by its name in the test's report; ``make`` gives the trace when the test runs."""

    name: str
    make: Callable[[], Made] = field(repr=False)

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Setting:
    """The spec of a test, loaded when it is first wanted, and the folder of the test's file."""

    folder: Path
    load: Callable[[], Spec]
    _graphs: dict[int, StateGraph] = field(default_factory=dict, repr=False)
    _lone: dict[int, dict[Guard, int]] = field(default_factory=dict, repr=False)

    @cached_property
    def spec(self) -> Spec:
        """Return the spec."""
        return self.load()

    def lone_guards(self, states_max: int) -> dict[Guard, int]:
        """Return the first state where each guard alone stops its action; looked for once."""
        from krafla.graph.lone_guards import lone_guards

        known = self._lone.get(states_max)
        if known is None:
            known = self._lone[states_max] = lone_guards(self.graph(states_max))
        return known

    def graph(self, states_max: int) -> StateGraph:
        """Return the state graph of the spec, cut at ``states_max`` states; explored once."""
        from krafla.graph import StateGraph
        from krafla.oracle import explore

        known = self._graphs.get(states_max)
        if known is None:
            found = explore(self.spec, limit=states_max, until_violation=False)
            known = self._graphs[states_max] = StateGraph(found)
        return known


class TraceSource(Protocol):
    """Where the traces of ``@spec_trace`` come from."""

    def cases(self, setting: Setting) -> Sequence[NamedTrace]:
        """Return the traces by name, in an order that is the same in every process."""
