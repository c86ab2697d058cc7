"""Shortest ways through a state graph, as steps."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.counted import counted
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.graph.state_graph import StateGraph

__all__ = ["Answer", "Way", "answer", "shortest", "way_to"]

_NOT_SEEN = -2
_BEGIN = -1


@dataclass(frozen=True, slots=True)
class Way:
    """A way through the graph: its first state, and the numbers of its steps in order."""

    start: int
    steps: tuple[int, ...]

    def then(self, other: Way) -> Way:
        """Return this way followed by one that begins in its last state."""
        return Way(self.start, self.steps + other.steps)


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a path exists, and the reason.

    ``lead`` leads to the first state of ``way``, and ``end`` is its last one.
    """

    verdict: Verdict
    reason: str
    way: Way | None = None
    lead: Way | None = None
    end: int | None = None

    @property
    def whole(self) -> Way | None:
        """Return the way from an initial state to the end; ``None`` if there is none."""
        return None if self.way is None or self.lead is None else self.lead.then(self.way)


def answer(graph: StateGraph, start: str | None, goal: str) -> Answer:
    """Return a shortest path from a state where ``start`` holds to one where ``goal`` does.

    Both are predicates in ``graph.holds``; without ``start`` the path begins in an initial state.
    A missing path is a violation only if both predicates are true in some state and the graph is
    complete. A predicate that is never true makes the answer inconclusive.
    """
    starts = graph.initial() if start is None else _where(graph, start)
    goals = _where(graph, goal)
    origin = "an initial state" if start is None else start
    cut = "" if graph.found.is_complete else ", but the search was cut"
    for name, states in ((start, starts), (goal, goals)):
        if not states:
            reason = f"{name} is true in none of {len(graph):,} states{cut}"
            return Answer(Verdict.INCONCLUSIVE, reason)
    way = shortest(graph, starts, graph.holds[goal])
    if way is None:
        verdict = Verdict.VIOLATED if graph.found.is_complete else Verdict.INCONCLUSIVE
        counts = f"true in {len(starts):,} and {len(goals):,} of {len(graph):,} states"
        if start is None:
            counts = f"true in {len(goals):,} of {len(graph):,} states"
        return Answer(verdict, f"no path leads from {origin} to {goal} ({counts}){cut}")
    end = graph.found.targets[way.steps[-1]] if way.steps else way.start
    steps = counted(len(way.steps), "step leads", "steps lead")
    reason = f"{steps} from {origin} (state {way.start}) to {goal} (state {end})"
    return Answer(Verdict.HELD, reason, way, way_to(graph, way.start), end)


def _where(graph: StateGraph, predicate: str) -> list[int]:
    return [state for state, holds in enumerate(graph.holds[predicate]) if holds]


def shortest(graph: StateGraph, starts: Iterable[int], goal: bytes) -> Way | None:
    """Return a shortest way from one of some states to one where ``goal`` has a 1.

    ``None`` if there is none; a way without steps if a start is a goal. Among several ways the
    earlier start decides, then the earlier step.
    """
    arrivals = array("i", [_NOT_SEEN]) * len(graph)
    queue = list(dict.fromkeys(starts))
    for state in queue:
        arrivals[state] = _BEGIN
    targets = graph.found.targets
    out = graph.out
    for state in queue:
        if goal[state]:
            return _back(graph, arrivals, state)
        for step in out[state]:
            target = targets[step]
            if target >= 0 and arrivals[target] == _NOT_SEEN:
                arrivals[target] = step
                queue.append(target)
    return None


def way_to(graph: StateGraph, state: int) -> Way:
    """Return the shortest way from an initial state by which the search reached a state."""
    found = graph.found
    steps: list[int] = []
    while found.parents[state] >= 0:
        parent = found.parents[state]
        label = found.arrivals[state]
        between = [
            step
            for step in graph.out[parent]
            if found.targets[step] == state and found.labels[step] == label
        ]
        assert between, "a step of the parent led to the state"
        steps.append(between[0])
        state = parent
    return Way(state, tuple(reversed(steps)))


def _back(graph: StateGraph, arrivals: array[int], state: int) -> Way:
    steps: list[int] = []
    while arrivals[state] != _BEGIN:
        steps.append(arrivals[state])
        state = graph.found.sources[arrivals[state]]
    return Way(state, tuple(reversed(steps)))
