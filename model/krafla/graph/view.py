"""A read-only view of the state graph for networkx, over the arrays, without a copy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from krafla.oracle import OUTSIDE

if TYPE_CHECKING:
    from krafla.graph.state_graph import StateGraph

__all__ = ["as_networkx"]


def as_networkx(graph: StateGraph) -> Any:
    """Return a frozen ``networkx.DiGraph`` of the state numbers, for any algorithm of networkx.

    A node has ``depth`` and ``state``; an edge has ``actions``, the names of the actions that take
    it. Attributes are made on demand: a graph of dictionaries would take some 500 bytes for each
    step. Steps out of the model's bounds are left out.
    """
    import networkx  # type: ignore[import-untyped]  # networkx ships no types

    seen = networkx.DiGraph()
    # networkx documents that a graph may use any mappings; its own views do so.
    seen._node = _Lazy(len(graph), lambda state: _node(graph, state))  # noqa: SLF001 - see above
    seen._adj = _Lazy(len(graph), lambda state: _Successors(graph, state))  # noqa: SLF001 - as above
    seen._pred = _Lazy(len(graph), lambda state: _Predecessors(graph, state))  # noqa: SLF001 - as above
    return networkx.freeze(seen)


def _node(graph: StateGraph, state: int) -> dict[str, Any]:
    return {"depth": graph.depths[state], "state": graph.found.states[state]}


class _Lazy(Mapping[int, Any]):
    """A mapping from each state to the result of a function."""

    __slots__ = ("_count", "_make")

    def __init__(self, count: int, make: Callable[[int], Any]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._count))

    def __contains__(self, state: object) -> bool:
        return isinstance(state, int) and 0 <= state < self._count

    def __getitem__(self, state: int) -> Any:
        if state not in self:
            raise KeyError(state)
        return self._make(state)


class _Neighbours(Mapping[int, Any]):
    __slots__ = ("_graph", "_state")

    def __init__(self, graph: StateGraph, state: int) -> None:
        self._graph = graph
        self._state = state

    @abstractmethod
    def _ends(self) -> list[int]: ...

    @abstractmethod
    def _between(self, other: int) -> tuple[int, int]: ...

    def __len__(self) -> int:
        return len(self._ends())

    def __iter__(self) -> Iterator[int]:
        return iter(self._ends())

    def __getitem__(self, other: int) -> dict[str, Any]:
        source, target = self._between(other)
        found = self._graph.found
        names = [
            found.actions[found.labels[step]]
            for step in self._graph.out[source]
            if found.targets[step] == target != OUTSIDE
        ]
        if not names:
            raise KeyError(other)
        return {"actions": tuple(dict.fromkeys(names))}


class _Successors(_Neighbours):
    def _ends(self) -> list[int]:
        return self._graph.successors(self._state)

    def _between(self, other: int) -> tuple[int, int]:
        return self._state, other


class _Predecessors(_Neighbours):
    def _ends(self) -> list[int]:
        return self._graph.predecessors(self._state)

    def _between(self, other: int) -> tuple[int, int]:
        return other, self._state
