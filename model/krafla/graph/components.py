"""Strongly connected components: the cycles of a model, and the sets that no behaviour leaves."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.graph.view import as_networkx
from krafla.oracle import OUTSIDE

if TYPE_CHECKING:
    from krafla.graph.state_graph import StateGraph

__all__ = ["Component", "Components", "components"]


@dataclass(frozen=True, slots=True)
class Component:
    """A maximal set of states that can all reach each other.

    ``first`` is the state in it that was discovered first. ``is_left``: a step leads into another
    component. ``is_cut``: a step leads out of the model's bounds, or the steps of one of its
    states are not known. ``is_cyclic``: a step stays inside, or leads from a state to itself.
    """

    first: int
    size: int
    is_left: bool
    is_cut: bool
    is_cyclic: bool

    @property
    def is_terminal(self) -> bool:
        """Return whether no step leaves it: a behaviour that enters it stays in it."""
        return not self.is_left and not self.is_cut


@dataclass(frozen=True, slots=True)
class Components:
    """All components, in the order in which their first states were discovered.

    ``of`` gives the index of the component of each state.
    """

    found: tuple[Component, ...]
    of: array[int]

    @property
    def largest(self) -> int:
        """Return the index of the component with the most states; the first among equals."""
        sizes = [component.size for component in self.found]
        return sizes.index(max(sizes))

    def livelocks(self, progress: bytes | None = None) -> list[int]:
        """Return the candidates for a livelock, as indexes of components.

        A candidate is a component that has steps inside, that no step leaves, and in which no
        state satisfies ``progress`` (one byte for each state). Without ``progress`` every component
        with steps inside that no step leaves is a candidate.
        """
        advancing = set()
        if progress is not None:
            pairs = zip(self.of, progress, strict=True)
            advancing = {component for component, holds in pairs if holds}
        return [
            index
            for index, component in enumerate(self.found)
            if component.is_terminal and component.is_cyclic and index not in advancing
        ]


def components(graph: StateGraph) -> Components:
    """Return the strongly connected components of a state graph, found by networkx."""
    # It takes a fifth of a second, which no refusal of a command should.
    import networkx  # type: ignore[import-untyped]  # networkx ships no types

    raw = array("i", bytes(4 * len(graph)))
    for number, members in enumerate(networkx.strongly_connected_components(as_networkx(graph))):
        for state in members:
            raw[state] = number
    numbers: dict[int, int] = {}
    # Renumbered, so that the order does not depend on networkx.
    of = array("i", (numbers.setdefault(number, len(numbers)) for number in raw))
    sizes = [0] * len(numbers)
    firsts = [-1] * len(numbers)
    for state, number in enumerate(of):
        sizes[number] += 1
        if firsts[number] < 0:
            firsts[number] = state
    left, cut, cyclic = (bytearray(len(numbers)) for _ in range(3))
    for state in range(graph.found.expanded, len(graph)):
        cut[of[state]] = 1
    for source, target in zip(graph.found.sources, graph.found.targets, strict=True):
        if target == OUTSIDE:
            cut[of[source]] = 1
        elif of[source] == of[target]:
            cyclic[of[source]] = 1
        else:
            left[of[source]] = 1
    found = zip(firsts, sizes, map(bool, left), map(bool, cut), map(bool, cyclic), strict=True)
    return Components(tuple(Component(*facts) for facts in found), of)
