"""The search for an order of all sightings that the spec explains step by step.

Sightings are taken by time. If one cannot be explained yet, another within the clock skew may come
first, since timestamps are not exact. If none fits, the search backtracks and tries other orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.server_logs.operations import Act

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krafla.audit.server_logs.candidate import Candidate
    from krafla.audit.server_logs.explain import Explainer
    from krafla.audit.server_logs.sightings import Sighting

MAX_TRIES: Final = 20_000
"""The search gives up after this many tries without progress."""
_BACK: Final = 10
"""How many clock skews the search backtracks from the furthest sighting."""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The furthest candidate of a search, and the sightings that would have been next.

    `explained` counts sightings, hints included. If `next_up` is empty, everything was explained.
    Without `exhausted`, the search gave up before it had tried all orders.
    """

    candidate: Candidate
    explained: int
    next_up: tuple[Sighting, ...]
    exhausted: bool
    leader: int


class _Node:
    """A node of the search: positions in the streams, and the moves left to try."""

    def __init__(
        self,
        positions: tuple[int, ...],
        candidate: Candidate,
        leader: int,
        moves: Iterator[tuple[int, Candidate]],
    ) -> None:
        self.positions = positions
        self.candidate = candidate
        self.leader = leader
        self.moves = moves


def search_order(
    streams: Sequence[Sequence[Sighting]],
    start: Candidate,
    explainer: Explainer,
    skew_ms: int,
    leader: int,
    progress: Callable[[int], None] = lambda _: None,
) -> SearchOutcome:
    """Return how far the sightings of the streams can be explained from a candidate on."""
    return _OrderSearch(streams, explainer, skew_ms, progress).run(start, leader)


class _OrderSearch:
    def __init__(
        self,
        streams: Sequence[Sequence[Sighting]],
        explainer: Explainer,
        skew_ms: int,
        progress: Callable[[int], None],
    ) -> None:
        self._streams = streams
        self._explainer = explainer
        self._skew_ms = skew_ms
        self._progress = progress
        self._total = sum(map(len, streams))
        self._visited: set[tuple[tuple[int, ...], int]] = set()
        self._tries = 0

    def run(self, start: Candidate, leader: int) -> SearchOutcome:
        best = self._node((0,) * len(self._streams), start, leader)
        stack = [best]
        tries_at_best = 0
        while stack:
            node = stack[-1]
            if sum(node.positions) == self._total:
                return SearchOutcome(
                    node.candidate, self._total, (), exhausted=True, leader=node.leader
                )
            if sum(node.positions) > sum(best.positions):
                best, tries_at_best = node, self._tries
                self._progress(sum(node.positions))
            if self._tries - tries_at_best > MAX_TRIES:
                return self._stuck(best, exhausted=False)
            following = self._next(node)
            if following is not None:
                stack.append(following)
            elif node.candidate.clock_ms < best.candidate.clock_ms - _BACK * self._skew_ms:
                break
            else:
                stack.pop()
        return self._stuck(best, exhausted=True)

    def _next(self, node: _Node) -> _Node | None:
        for stream, after in node.moves:
            sighting = self._streams[stream][node.positions[stream]]
            positions = tuple(p + (i == stream) for i, p in enumerate(node.positions))
            key = (positions, after.state.fingerprint)
            if key in self._visited:
                continue
            self._visited.add(key)
            leader = node.leader
            op = sighting.operation
            if op is not None and op.act is Act.LEADER_CHANGE:
                leader = op.broker
            return self._node(positions, after, leader)
        return None

    def _node(self, positions: tuple[int, ...], candidate: Candidate, leader: int) -> _Node:
        return _Node(positions, candidate, leader, self._moves(positions, candidate, leader))

    def _moves(
        self, positions: tuple[int, ...], candidate: Candidate, leader: int
    ) -> Iterator[tuple[int, Candidate]]:
        for stream in self._due(positions):
            sighting = self._streams[stream][positions[stream]]
            self._explainer.leader = leader
            self._tries += 1
            for after in self._explainer.explain(candidate, sighting):
                yield stream, after
                self._explainer.leader = leader

    def _due(self, positions: tuple[int, ...]) -> list[int]:
        """Return the streams whose next sighting may come now, the earliest first."""
        heads = [
            (self._streams[stream][position].time_ms, stream)
            for stream, position in enumerate(positions)
            if position < len(self._streams[stream])
        ]
        first = min(heads, default=(0, 0))[0]
        return [stream for time, stream in sorted(heads) if time <= first + self._skew_ms]

    def _stuck(self, node: _Node, *, exhausted: bool) -> SearchOutcome:
        due = self._due(node.positions)
        heads = tuple(self._streams[stream][node.positions[stream]] for stream in due)
        return SearchOutcome(node.candidate, sum(node.positions), heads, exhausted, node.leader)
