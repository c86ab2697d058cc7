"""The order of the steps of several processes, as far as their clocks leave it open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.match.moves import Moves
from krafla.match.seen import Seen
from krafla.match.stay import check_refused, is_without_step
from krafla.oracle.errors import EvaluationError
from krafla.traces.trace import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.match.engine import Breaks
    from krafla.oracle import Spec, State
    from krafla.traces import PartialTrace

__all__ = ["STATES_MOST", "StepOrder", "find_order"]

# States after some steps of each process: enough for minutes of search.
STATES_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class StepOrder:
    """Observations by their numbers, in an order in which as many as possible have a behaviour.

    ``was_cut`` says that the search ended before it had tried every order.
    """

    numbers: tuple[int, ...]
    was_cut: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A state, the next step of each process, and the observation that led here."""

    state: State
    positions: tuple[int, ...]
    taken: int | None
    run: int
    depth: int
    parent: _Node | None

    def numbers(self) -> list[int]:
        found, node = [], self
        while node.parent is not None:
            if node.taken is not None:
                found.append(node.taken)
            node = node.parent
        return found[::-1]


def find_order(
    spec: Spec,
    trace: PartialTrace,
    moments: Sequence[tuple[int, int]],
    breaks: Breaks | None = None,
) -> StepOrder:
    """Return the order of the observations in which most of them have a behaviour of the spec.

    ``moments`` has the process and the time of each. The steps of a process stay in their order,
    and steps of different times in that of their times; the order of the trace comes first.
    """
    if len(set(moments)) == len({time for _, time in moments}):
        return StepOrder(tuple(range(len(trace))))
    return _OrderSearch(spec, trace, moments, breaks).order()


class _OrderSearch:
    def __init__(
        self,
        spec: Spec,
        trace: PartialTrace,
        moments: Sequence[tuple[int, int]],
        breaks: Breaks | None,
    ) -> None:
        self._spec = spec
        self._trace = trace
        self._moments = moments
        self._breaks = breaks
        self._moves = Moves(spec)
        self._hidden = self._moves.names if trace.hidden is None else trace.hidden
        self._seen = [Seen(spec, one, one.place) for one in trace.observations]
        self._is_begun = trace.observations[0].action == INITIAL
        first = 1 if self._is_begun else 0
        processes = sorted({process for process, _ in moments[first:]})
        self._queues = [
            [at for at in range(first, len(moments)) if moments[at][0] == process]
            for process in processes
        ]
        self._known: dict[tuple[tuple[int, ...], int], int] = {}

    def order(self) -> StepOrder:
        """Return the order that takes the search furthest, with the other steps behind it."""
        stack = list(self._beginnings())
        best = stack[-1] if stack else None
        goal = sum(map(len, self._queues))
        while stack and best is not None and best.depth < goal:
            node = stack.pop()
            key = (node.positions, node.state.fingerprint)
            if self._known.get(key, node.run + 1) <= node.run:
                continue
            if len(self._known) >= STATES_MOST:
                return self._whole(best, was_cut=True)
            self._known[key] = node.run
            if node.depth > best.depth:
                best = node
            # The last is tried first: a seen step before hidden ones, the first file before others.
            stack += self._after_hidden(node)
            stack += [*self._after_seen(node)][::-1]
        return self._whole(best, was_cut=False)

    def _whole(self, best: _Node | None, *, was_cut: bool) -> StepOrder:
        begun = [0] if self._is_begun else []
        taken = begun + ([] if best is None else best.numbers())
        rest = sorted(set(range(len(self._moments))).difference(taken))
        return StepOrder((*taken, *rest), was_cut)

    def _beginnings(self) -> Iterator[_Node]:
        start = (0,) * len(self._queues)
        for state in self._spec.initial_states():
            is_like_it = not self._is_begun or self._seen[0].fits(state)
            if is_like_it and self._keeps(None, state):
                yield _Node(state, start, None, 0, 0, None)

    def _open(self, positions: tuple[int, ...]) -> list[int]:
        """Return the processes whose next step may be the next of all."""
        heads = {
            number: self._moments[queue[at]][1]
            for number, (queue, at) in enumerate(zip(self._queues, positions, strict=True))
            if at < len(queue)
        }
        return [number for number, time in heads.items() if time == min(heads.values())]

    def _after_seen(self, node: _Node) -> Iterator[_Node]:
        for number in self._open(node.positions):
            at = self._queues[number][node.positions[number]]
            seen = self._seen[at]
            positions = tuple(
                one + (process == number) for process, one in enumerate(node.positions)
            )
            try:
                for after, run in self._after(node, seen):
                    yield _Node(after, positions, at, run, node.depth + 1, node)
            except EvaluationError as error:
                raise EvaluationError(error.message, seen.place) from None

    def _after(self, node: _Node, seen: Seen) -> Iterator[tuple[State, int]]:
        """Yield the states after an observation, each with its hidden steps in a row."""
        if seen.observation.kind == "step":
            for _, _, after in self._moves.claimed(node.state, seen, only_next=True):
                if seen.fits(after) and self._keeps(node.state, after):
                    yield after, 0
            return
        check_refused(self._moves, seen, node.state)
        if is_without_step(self._moves, node.state, seen):
            # Where something was seen, hidden steps are counted from here on.
            yield node.state, 0 if seen.observation.seen else node.run

    def _after_hidden(self, node: _Node) -> Iterator[_Node]:
        heads = self._open(node.positions)
        if not self._hidden or node.run >= self._trace.hidden_max or not heads:
            return
        seen = self._seen[self._queues[heads[0]][node.positions[heads[0]]]]
        for _, _, after in self._moves.of(self._hidden, node.state, seen):
            if not self._keeps(node.state, after):
                continue
            yield _Node(after, node.positions, None, node.run + 1, node.depth, node)

    def _keeps(self, before: State | None, after: State) -> bool:
        return self._breaks is None or self._breaks(before, after) is None
