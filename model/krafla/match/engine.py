"""The search for a behaviour that agrees with a partial trace, over a bounded set of candidates.

A node is a state that a behaviour can have after some number of observations. The search tries
the node with the most observations first, and among these the one nearest to the next
observation. So it follows an unambiguous trace in time linear in its length, and takes up the next
candidate where one leads nowhere. An observation of the whole state settles everything before it:
all other candidates are dropped.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from krafla.counted import counted
from krafla.match.candidate_state import SHOWN_CANDIDATES, CandidateState, stuck_at
from krafla.match.moves import Moves
from krafla.match.reasons import not_initial, not_offered
from krafla.match.report import MatchReport, Stuck, Taken
from krafla.match.seen import Seen
from krafla.match.stay import check_refused, is_without_step
from krafla.oracle.errors import EvaluationError
from krafla.traces.trace import INITIAL
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Set

    from krafla.match.moves import Choice, Move
    from krafla.oracle import Explanation, Spec, State
    from krafla.traces import PartialTrace
    from krafla.values import Value

    # The property that a step breaks, with the reason; ``None`` if it breaks none. Without a state
    # before it, a behaviour begins in the state.
    Breaks = Callable[[State | None, State], tuple[str, Explanation] | None]

__all__ = ["FRONTIER_DEFAULT", "match"]

FRONTIER_DEFAULT: Final = 2_000
_REPORTED_STATES: Final = 64
# Other candidates up to this much further away come before the unlikely steps of a candidate.
_UNLIKELY: Final = 4
_NOTHING_SHOWN: Final = "no observation shows an action or a value, so any behaviour would do"
_NO_STEP: Final = "the trace shows no step"


class _Node(CandidateState):
    """A state after ``level`` observations, and ``run`` hidden steps in a row that end there."""

    __slots__ = ("concerned", "distance", "is_hidden", "is_tried", "level")

    def __init__(
        self,
        level: int,
        run: int,
        taken: Taken,
        parent: CandidateState | None,
        is_hidden: bool = False,
    ) -> None:
        super().__init__(taken, parent, run)
        self.level = level
        # A hidden step leads here from another node of the level.
        self.is_hidden = is_hidden
        self.is_tried = is_hidden
        self.distance = 0
        self.concerned: Set[Value] | None = None


@dataclass(slots=True)
class _Level:
    """What is known of the states after a given number of observations."""

    runs: dict[int, int] = field(default_factory=dict)
    # The states in which the observations before it can end.
    ends: set[int] = field(default_factory=set)
    expanded: int = 0
    nodes: list[_Node] = field(default_factory=list)
    broken: dict[int, tuple[str | None, Explanation]] = field(default_factory=dict)
    touched: Mapping[str, Set[Value]] | None = None
    is_touched_known: bool = False


def match(
    spec: Spec,
    trace: PartialTrace,
    *,
    frontier: int = FRONTIER_DEFAULT,
    choices: Collection[Choice] = (),
    breaks: Breaks | None = None,
    only_next: bool = False,
    progress: Callable[[int, int], None] = lambda _observations, _states: None,
) -> MatchReport:
    """Return whether ``spec`` has a behaviour that agrees with the trace, and such a behaviour.

    After each observation at most ``frontier`` candidates are followed by hidden steps.
    ``choices`` supplies parameters where Next does not help, ``only_next`` refuses those that Next
    never gives. ``breaks`` judges each step, also the hidden ones, and the state in which a
    behaviour begins; what breaks a property is not followed.
    ``progress`` is called from time to time with the numbers of matched observations and of tried
    states. ``KraflaError`` if the trace is empty, or names something that the spec does not have.
    """
    if not trace.observations:
        raise KraflaError(f"a trace of {trace.spec} without a single observation shows nothing")
    search = _Search(spec, trace, frontier, Moves(spec, choices), breaks, only_next)
    return search.report(progress)


class _Search:
    def __init__(
        self,
        spec: Spec,
        trace: PartialTrace,
        frontier: int,
        moves: Moves,
        breaks: Breaks | None,
        only_next: bool,
    ) -> None:
        self._spec = spec
        self._trace = trace
        self._frontier = frontier
        self._moves = moves
        self._breaks = breaks
        self._only_next = only_next
        self._seen = [
            Seen(spec, one, one.place or f"observation {index}", moves.together)
            for index, one in enumerate(trace.observations)
        ]
        for seen in self._seen:
            check_refused(moves, seen)
        self._hidden = self._hidden_names()
        self._levels: dict[int, _Level] = {}
        self._heap: list[tuple[int, int, int, _Node]] = []
        self._count = 0
        self._was_cut = False
        # Candidates from which no further hidden steps were taken.
        self._stopped: list[_Node] = []
        # What is false in the first of the initial states that fit, if no behaviour begins there.
        self._false_beginning: tuple[str, Explanation] | None = None

    def report(self, progress: Callable[[int, int], None]) -> MatchReport:
        """Return the report of a search, which ends with a behaviour or with no candidate."""
        goal = len(self._seen)
        for node in self._beginnings():
            self._push(node)
        if not self._heap:
            return MatchReport(self._trace, 0, (), (self._not_begun(),), 0, 1)
        while self._heap:
            node = heapq.heappop(self._heap)[-1]
            if node.level == goal:
                found = node.behaviour()
                doubt = self._nothing_shown(found)
                return MatchReport(self._trace, goal, found, looked_at=self._count, doubt=doubt)
            try:
                self._advance(node)
            except EvaluationError as error:
                raise EvaluationError(error.message, self._seen[node.level].place) from None
            if not self._count % _REPORTED_STATES:
                progress(node.level, self._count)
        return self._failure()

    def _nothing_shown(self, behaviour: tuple[Taken, ...]) -> str | None:
        """Return why it says nothing that a behaviour agrees; ``None`` if it says something."""
        found = self._trace.observations
        is_still = all(one.action == INITIAL or one.kind != "step" for one in found)
        if is_still and len(behaviour) == 1:
            return _NO_STEP
        named = (one.action for one in found)
        is_shown = any(one.seen for one in found) or any(
            action not in {None, INITIAL} for action in named
        )
        return None if is_shown else _NOTHING_SHOWN

    def _hidden_names(self) -> tuple[str, ...]:
        hidden = self._trace.hidden
        if hidden is None:
            return self._moves.names
        unknown = sorted(set(hidden) - set(self._moves.names))
        if unknown:
            known = ", ".join(sorted(self._moves.names))
            raise KraflaError(
                f"{', '.join(unknown)}: no action of {self._spec.name} (it has {known})"
            )
        return tuple(name for name in self._moves.names if name in hidden)

    def _beginnings(self) -> Iterator[_Node]:
        first = self._seen[0]
        is_seen = first.observation.action == INITIAL
        for state in self._spec.initial_states():
            if is_seen and not first.fits(state):
                continue
            fault = None if self._breaks is None else self._breaks(None, state)
            if fault is None:
                seen = 0 if is_seen else None
                yield _Node(int(is_seen), 0, Taken(INITIAL, (), state, seen), None)
            elif self._false_beginning is None:
                self._false_beginning = fault

    def _not_begun(self) -> Stuck:
        """Return why no behaviour begins as was seen."""
        if self._false_beginning is None:
            return Stuck((), not_initial(self._spec, self._seen[0]))
        name, explanation = self._false_beginning
        return Stuck((), explanation, None, name)

    def _push(self, node: _Node) -> None:
        """Add a candidate, unless its state was already reached by as few hidden steps."""
        level = self._levels.setdefault(node.level, _Level())
        fingerprint = node.state.fingerprint
        if not node.is_hidden:
            level.ends.add(fingerprint)
        known = level.runs.get(fingerprint)
        if known is not None and known <= node.run:
            return
        level.runs[fingerprint] = node.run
        if node.level < len(self._seen):
            level.nodes.append(node)
        self._queue(node)

    def _queue(self, node: _Node, later: int = 0) -> None:
        self._count += 1
        rank = node.distance + node.run + later
        heapq.heappush(self._heap, (-node.level, rank, self._count, node))

    def _advance(self, node: _Node) -> None:
        """Take the observed step from a candidate, or else its hidden steps."""
        level = self._levels[node.level]
        if level.expanded >= self._frontier:
            self._was_cut = True
            return
        level.expanded += 1
        if not node.is_tried:
            node.is_tried = True
            if self._observe(node):
                if self._hidden and self._seen[node.level].state is None:
                    self._queue(node)
                return
        if not self._hidden:
            return
        if node.run >= self._trace.hidden_max:
            self._stopped.append(node)
            return
        seen = self._seen[node.level]
        if node.concerned is None:
            node.concerned = seen.concerned(node.state)
            steps = self._moves.likely(self._hidden, node.state, seen, node.concerned)
            # A node that the difference does not concern may still have to act: try it later.
            self._queue(node, _UNLIKELY)
        else:
            steps = self._moves.others(self._hidden, node.state, seen, node.concerned)
        for action, parameters, after in steps:
            child = _Node(
                node.level, node.run + 1, Taken(action, parameters, after, None), node, True
            )
            known = level.runs.get(after.fingerprint)
            if known is not None and known <= child.run:
                continue
            if self._breaks is not None and self._breaks(node.state, after) is not None:
                continue
            # Tried at once: the observed step often undoes what makes a candidate look distant.
            if self._observe(child) and seen.state is not None:
                return
            self._push(child)

    def _observe(self, node: _Node) -> bool:
        """Take the observed step from a candidate wherever it fits; return whether it did.

        If it does not fit, the distance of the candidate is that of the nearest state after the
        step.
        """
        seen, level = self._seen[node.level], self._levels[node.level]
        if seen.observation.kind != "step":
            return self._stay(node, seen)
        apart = []
        taken = False
        for move in self._moves.claimed(node.state, seen):
            if seen.fits(move[2]):
                if self._is_sound(node, move):
                    taken = True
                    self._accept(node, move, seen)
                    if seen.state is not None:
                        # All other steps would lead to this same state.
                        break
            elif self._hidden:
                apart.append(seen.distance(move[2]))
                if not level.is_touched_known:
                    level.touched = seen.touched_by(node.state, move[2])
                    level.is_touched_known = True
        if node.run:
            # What the observed step changes says nothing about the state before it.
            if level.touched is None:
                level.touched = seen.spoken_of()
            node.distance = min(apart) if apart else 1 + seen.distance(node.state, level.touched)
        return taken

    def _stay(self, node: _Node, seen: Seen) -> bool:
        """Keep a candidate without a step, if it fits; return whether it does."""
        check_refused(self._moves, seen, node.state)
        if is_without_step(self._moves, node.state, seen):
            self._settle(seen)
            taken = replace(node.taken, stays=(*node.taken.stays, node.level))
            # Where something was seen, hidden steps are counted from here on.
            run = 0 if seen.observation.seen else node.run
            self._push(_Node(node.level + 1, run, taken, node.parent))
            return True
        if node.is_hidden:
            node.distance = seen.distance(node.state)
        return False

    def _accept(self, node: _Node, move: Move, seen: Seen) -> None:
        action, parameters, after = move
        self._settle(seen)
        self._push(_Node(node.level + 1, 0, Taken(action, parameters, after, node.level), node))

    def _settle(self, seen: Seen) -> None:
        """Drop all other candidates if the whole state was seen: they would come to it, too."""
        if seen.state is not None:
            self._heap.clear()
            self._stopped.clear()
            self._was_cut = False
            # Else what comes next could be dropped, as a candidate that is known.
            self._levels.clear()

    def _is_sound(self, node: _Node, move: Move) -> bool:
        broken = self._fault(node, move)
        if broken is None:
            return True
        self._levels[node.level].broken.setdefault(node.state.fingerprint, broken)
        return False

    def _fault(self, node: _Node, move: Move) -> tuple[str | None, Explanation] | None:
        """Return the property that a step breaks, and how; or why Next does not take it."""
        action, parameters, after = move
        if self._only_next and not self._moves.offers(node.state, action, parameters, after):
            return None, not_offered(self._moves, node.state, action, parameters)
        return None if self._breaks is None else self._breaks(node.state, after)

    def _failure(self) -> MatchReport:
        deepest = max(self._levels)
        level = self._levels[deepest]
        nodes = sorted(
            level.nodes,
            key=lambda node: (
                node.state.fingerprint not in level.broken,
                node.is_hidden,
                self._seen[deepest].distance(node.state) + node.run,
            ),
        )
        before = self._trace.observations[deepest - 1] if deepest else None
        stuck = tuple(
            stuck_at(self._spec, self._moves, node, self._seen[deepest], level.broken, before)
            for node in nodes[:SHOWN_CANDIDATES]
        )
        return MatchReport(
            self._trace,
            deepest,
            nodes[0].behaviour(),
            stuck,
            len(level.ends),
            self._count,
            self._doubt(),
        )

    def _doubt(self) -> str | None:
        if self._was_cut:
            return f"after an observation only {self._frontier:,} candidates were followed"
        if self._is_bounded():
            most = counted(self._trace.hidden_max, "hidden step")
            return (
                f"only {most} in a row were followed, and more lead to other states: bound the "
                "hidden actions in the spec, or allow more: hidden_max, --max-hidden"
            )
        guessed = self._moves.guessed(self._hidden)
        if guessed:
            return f"the parameters of hidden {', '.join(guessed)} were guessed"
        return None

    def _is_bounded(self) -> bool:
        """Return whether hidden steps lead further than the trace has them followed."""
        if not self._trace.hidden_max:
            return False
        return any(
            after.fingerprint not in self._levels[node.level].runs
            and (self._breaks is None or self._breaks(node.state, after) is None)
            for node in self._stopped
            for _, _, after in self._moves.of(self._hidden, node.state, self._seen[node.level])
        )
