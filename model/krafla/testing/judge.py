"""The online judge: it follows a spec step by step, over every state that fits what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.match import FRONTIER_DEFAULT, Taken
from krafla.match.candidate_state import CandidateState
from krafla.testing.errors import Inconclusive
from krafla.testing.grounds import Grounds
from krafla.testing.violation import JudgedRun, history, not_beginning, refused, stuck
from krafla.traces.trace import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from krafla.match.seen import Seen
    from krafla.oracle import Explanation, Spec, State
    from krafla.traces import Observation, PartialTrace, Trace
    from krafla.values import Value

__all__ = ["Judge"]


class Judge:
    """The states in which the spec can be after what was seen so far: the candidates.

    Variables that were not seen are the spec's to choose. Steps of the actions ``hidden``
    (``None``: of any) may come between two judged steps, at most ``hidden_max`` in a row. A
    candidate that breaks one of ``invariants`` or step ``properties`` is not followed; both default
    to those of the cfg. At most ``frontier`` candidates are followed.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        hidden: Sequence[str] | None = (),
        hidden_max: int = 8,
        invariants: Sequence[str] | None = None,
        properties: Sequence[str] | None = None,
        frontier: int = FRONTIER_DEFAULT,
    ) -> None:
        self.spec = spec
        self._grounds = Grounds(spec, hidden, invariants, properties)
        self._hidden_max = hidden_max
        self._most = frontier
        self._forget()

    def fresh(self) -> Judge:
        """Return a judge of the same spec, for another run of the code."""
        found = object.__new__(Judge)
        found.spec = self.spec
        found._grounds = self._grounds
        found._hidden_max = self._hidden_max
        found._most = self._most
        found._forget()
        return found

    def _forget(self) -> None:
        self._candidates: tuple[CandidateState, ...] = ()
        self._observations: list[Observation] = []
        self._is_known = True
        self._is_cut = False

    @property
    def states(self) -> tuple[State, ...]:
        """Return every state in which the spec can be."""
        return tuple(one.state for one in self._candidates)

    @property
    def steps(self) -> int:
        """Return how many steps were judged."""
        return max(0, len(self._observations) - 1)

    @property
    def trace(self) -> Trace | PartialTrace:
        """Return what was judged: a whole trace if every step is known, else observations."""
        return history(self._grounds, self._told())

    def start(self, seen: Mapping[Any, Any] | None = None) -> None:
        """Begin a run of the code, whose state was ``seen``, in whole or in part.

        ``SpecViolation`` if no initial state fits. ``seen`` gives values of variables; a key may
        also be the way to a part: ``("queue", "c1")``.
        """
        __tracebackhide__ = True
        self._forget()
        observed = self._grounds.seen(
            self._grounds.observation(INITIAL, None, seen, "the beginning")
        )
        broken: dict[int, tuple[str, Explanation]] = {}
        found = []
        for state in self._grounds.initial_states:
            if observed.fits(state):
                fault = self._grounds.broken_by(state, state)
                if fault is None:
                    found.append(CandidateState(Taken(INITIAL, (), state, 0), None))
                else:
                    broken[state.fingerprint] = fault
        if not found:
            raise not_beginning(self._grounds, observed, broken)
        self._follow(found, observed, len(found))

    def step(
        self, action: str | None, *parameters: Any, seen: Mapping[Any, Any] | None = None
    ) -> None:
        """Judge a step of the code, and what was seen after it.

        A parameter may be ``...`` (unknown), the action ``None`` (any). ``SpecViolation`` if no
        candidate has such a step, ``Inconclusive`` if some candidates were not followed.
        """
        __tracebackhide__ = True
        self._begin()
        given = None if action is None else parameters
        observation = self._grounds.observation(action, given, seen, self._place())
        if len(self._candidates) == 1 and not self._candidates[0].run:
            after = self._grounds.follows(self._candidates[0].state, observation)
            if after is not None:
                self._take(observation, after)
                return
        observed = self._grounds.seen(observation)
        moves = self._grounds.moves
        self._advance(observed, lambda one: moves.claimed(one.state, observed))

    def stay(self, seen: Mapping[Any, Any] | None = None) -> None:
        """Judge that the code took no step, or hidden ones at most, by what was seen after it."""
        __tracebackhide__ = True
        self._begin()
        observed = self._observed(None, None, seen)
        kept = [one for one in self._reachable() if observed.fits(one.state)]
        if not kept:
            raise self._stuck(observed, {})
        self._candidates = tuple(kept)

    def refuse(self, action: str, *parameters: Any) -> None:
        """Judge that the code refused an action: ``SpecViolation`` if every candidate allows it."""
        __tracebackhide__ = True
        self._begin()
        observed = self._observed(action, parameters, None)
        moves = self._grounds.moves
        kept = [
            one
            for one in self._reachable()
            if next(iter(moves.claimed(one.state, observed)), None) is None
        ]
        if kept:
            self._candidates = tuple(kept)
            return
        if self._is_cut:
            raise self._doubt()
        raise refused(self._grounds, self._told(), observed)

    def enabled(self, action: str) -> tuple[tuple[Value, ...], ...]:
        """Return the parameters with which some candidate allows an action, in the spec's order."""
        self._begin()
        observed = self._observed(action, None, None)
        moves = self._grounds.moves
        found = (
            parameters
            for one in self._reachable()
            for _, parameters, _ in moves.of((action,), one.state, observed)
        )
        return tuple(dict.fromkeys(found))

    def _begin(self) -> None:
        if not self._observations:
            self.start()

    def _place(self) -> str:
        return f"step {len(self._observations)}"

    def _observed(
        self,
        action: str | None,
        parameters: tuple[Any, ...] | None,
        seen: Mapping[Any, Any] | None,
    ) -> Seen:
        grounds = self._grounds
        return grounds.seen(grounds.observation(action, parameters, seen, self._place()))

    def _take(self, observation: Observation, after: State) -> None:
        """Take a step of the only candidate."""
        assert observation.action is not None, "the action was seen"
        parameters = tuple(one for one in observation.parameters or () if one is not None)
        taken = Taken(observation.action, parameters, after, len(self._observations))
        self._candidates = (CandidateState(taken, self._candidates[0]),)
        self._observations.append(observation)
        self._is_cut = False

    def _told(self) -> JudgedRun:
        return JudgedRun(
            self._candidates, tuple(self._observations), self._is_known, self._hidden_max
        )

    def _advance(self, observed: Seen, moves: Any) -> None:
        __tracebackhide__ = True
        found: dict[int, CandidateState] = {}
        broken: dict[int, tuple[str, Explanation]] = {}
        ways = 0
        number = len(self._observations)
        for one in self._reachable():
            for action, parameters, after in moves(one):
                if not observed.fits(after):
                    continue
                fault = self._grounds.broken_by(one.state, after)
                if fault is not None:
                    broken.setdefault(one.state.fingerprint, fault)
                    continue
                ways += 1 + one.run
                if after.fingerprint not in found:
                    taken = Taken(action, parameters, after, number)
                    found[after.fingerprint] = CandidateState(taken, one)
            if found and observed.state is not None:
                # Any other candidate would lead to this same state.
                self._is_cut = False
                break
        if not found:
            raise self._stuck(observed, broken)
        self._follow(found.values(), observed, ways)

    def _follow(self, found: Iterable[CandidateState], observed: Seen, ways: int) -> None:
        self._candidates = tuple(found)
        self._observations.append(observed.observation)
        self._is_known = self._is_known and ways == 1

    def _reachable(self) -> Iterator[CandidateState]:
        """Yield the candidates, then the states that hidden steps lead to, the nearest first."""
        grounds = self._grounds
        if not grounds.hidden:
            yield from self._candidates
            return
        known = {one.state.fingerprint for one in self._candidates}
        layer = list(self._candidates)
        nothing = grounds.seen(grounds.observation(None, None, None, ""))
        count = 0
        while layer:
            deeper: list[CandidateState] = []
            for one in layer:
                count += 1
                if count > self._most:
                    self._is_cut = True
                    return
                yield one
            for one in layer:
                if one.run >= self._hidden_max:
                    continue
                for action, parameters, after in grounds.moves.of(
                    grounds.hidden, one.state, nothing
                ):
                    if after.fingerprint not in known:
                        known.add(after.fingerprint)
                        taken = Taken(action, parameters, after, None)
                        deeper.append(CandidateState(taken, one, one.run + 1))
            layer = deeper

    def _stuck(self, observed: Seen, broken: Mapping[int, tuple[str, Explanation]]) -> Exception:
        if self._is_cut:
            return self._doubt()
        return stuck(self._grounds, self._told(), observed, list(self._reachable()), broken)

    def _doubt(self) -> Inconclusive:
        return Inconclusive(
            f"{self._place()}: no candidate fits, but only {self._most:,} were followed: "
            "observe more of the state, or give the judge a larger frontier"
        )
