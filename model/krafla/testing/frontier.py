"""The candidates: every state in which the spec can be after what was seen so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.match import Taken
from krafla.match.candidate_state import CandidateState
from krafla.values import same

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from krafla.match.seen import Seen
    from krafla.oracle import Explanation, State
    from krafla.testing.grounds import Grounds
    from krafla.traces import Observation

__all__ = ["Frontier"]


class Frontier:
    """The candidates of one run of the code, and the steps by which they go on.

    ``is_known`` says whether there has only ever been one way to go. ``is_cut`` says whether
    candidates were left out for being too many, ``is_bounded`` whether some were for needing too
    many hidden steps in a row. ``broken`` has the property that the last step would have broken,
    and how, by the fingerprint of the state before it.
    """

    def __init__(self, grounds: Grounds, hidden_max: int, most: int) -> None:
        self._grounds = grounds
        self._hidden_max = hidden_max
        self._most = most
        self.candidates: tuple[CandidateState, ...] = ()
        self.is_known = True
        self.is_cut = False
        self.is_bounded = False
        self.broken: Mapping[int, tuple[str, Explanation]] = {}

    def begin(self, states: Iterable[State]) -> bool:
        """Take initial states as candidates; return whether one of them keeps the properties."""
        found, broken = [], {}
        for state in states:
            fault = self._grounds.broken_by(None, state)
            if fault is None:
                found.append(CandidateState(Taken("Init", (), state, 0), None))
            else:
                broken[state.fingerprint] = fault
        self.candidates = tuple(found)
        self.broken = broken
        self.is_known = len(found) == 1
        return bool(found)

    def is_at(self, observation: Observation) -> bool:
        """Return whether the only candidate is in the state that was seen, without a search."""
        state = self.sole
        if state is None:
            return False
        variables = self._grounds.spec.variables
        return all(
            len(part) == 1 and part[0] in variables and same(state[str(part[0])], value)
            for part, value in observation.seen
        )

    @property
    def sole(self) -> State | None:
        """Return the state of the only candidate, if no hidden step can lead elsewhere."""
        if len(self.candidates) > 1 or self._grounds.hidden:
            return None
        return self.candidates[0].state

    def follow_known(self, observation: Observation, number: int) -> bool:
        """Take a fully observed step if the spec is known to have it, without asking the spec."""
        after = self._grounds.known.step(self.candidates[0].state, observation)
        return after is not None and self._go(observation, after, number)

    def follow(self, observation: Observation, number: int) -> bool:
        """Take a fully observed step; return whether no search is needed."""
        # Any candidate that has the step leads to this same state.
        first = self.candidates[0].state
        after = self._grounds.follows(first, observation)
        if after is None:
            return False
        self._grounds.known.add_step(first, observation, after)
        return self._go(observation, after, number)

    def _go(self, observation: Observation, after: State, number: int) -> bool:
        first = self.candidates[0]
        if observation.action is None:
            return False
        parameters = tuple(one for one in observation.parameters or () if one is not None)
        taken = Taken(observation.action, parameters, after, number)
        self.candidates = (CandidateState(taken, first),)
        self.is_cut = self.is_bounded = False
        return True

    def advance(self, seen: Seen, number: int) -> Reach | None:
        """Take an observed step from every candidate that has it.

        ``None`` if one has, else the reach of the search.
        """
        grounds, reach = self._grounds, self.reach()
        found: dict[int, CandidateState] = {}
        broken: dict[int, tuple[str, Explanation]] = {}
        ways = 0
        for one in reach:
            for action, parameters, after in grounds.claimed(one.state, seen):
                if not seen.fits(after):
                    continue
                fault = grounds.broken_by(one.state, after)
                if fault is not None:
                    broken.setdefault(one.state.fingerprint, fault)
                    continue
                ways += 1 + one.run
                if after.fingerprint not in found:
                    taken = Taken(action, parameters, after, number)
                    found[after.fingerprint] = CandidateState(taken, one)
            if found and seen.state is not None:
                # Any other candidate would lead to this same state.
                self.is_cut = self.is_bounded = False
                break
        self.broken = broken
        if not found:
            return reach
        self._take(tuple(found.values()), reach)
        self.is_known = self.is_known and ways == 1
        return None

    def keep(
        self, fits: Callable[[CandidateState], bool], seen: Seen | None, number: int | None
    ) -> Reach | None:
        """Drop the candidates that do not fit; ``None`` if one does, else the reach of the search.

        If something was ``seen``, hidden steps are counted from here on. ``number`` is that of the
        observation, if it is one of the run: it was made after the hidden steps of a candidate.
        """
        reach = self.reach()
        kept = tuple(filter(fits, reach))
        if not kept:
            return reach
        if number is not None:
            kept = tuple(one.at(number) if one.run else one for one in kept)
        self.is_known = self.is_known and len(kept) == 1 and not kept[0].run
        if seen is not None and seen.observation.seen:
            kept = tuple(CandidateState(one.taken, one.parent) for one in kept)
        self._take(kept, reach)
        if seen is not None and seen.state is not None:
            # Any other candidate would be in this same state.
            self.is_cut = self.is_bounded = False
        return None

    def _take(self, candidates: tuple[CandidateState, ...], reach: Reach) -> None:
        self.candidates = candidates
        self.is_cut = self.is_cut or reach.is_cut
        self.is_bounded = self.is_bounded or reach.is_bounded

    def certain(self, actions: Collection[str]) -> frozenset[str]:
        """Return those of some actions that every candidate has taken in a hidden step."""
        found = frozenset(actions)
        for one in self.candidates:
            if not found:
                break
            found &= one.hidden
        return found

    def reach(self) -> Reach:
        """Return the candidates, then the states that hidden steps lead to, the nearest first."""
        return Reach(self._grounds, self.candidates, self._hidden_max, self._most)


class Reach:
    """Candidates, then the states that hidden steps lead to, those after the fewest first.

    When all were gone through, ``is_cut`` says whether there were more than ``most``, and
    ``is_bounded`` whether a step after ``hidden_max`` hidden ones in a row leads to a state that is
    not among them.
    """

    def __init__(
        self, grounds: Grounds, candidates: tuple[CandidateState, ...], hidden_max: int, most: int
    ) -> None:
        self._grounds = grounds
        self._candidates = candidates
        self._hidden_max = hidden_max
        self._most = most
        self.is_cut = False
        self.is_bounded = False

    def __iter__(self) -> Iterator[CandidateState]:
        """Yield them."""
        hides = bool(self._grounds.hidden) and self._hidden_max > 0
        # Those that a refusal or a look has left differ in how many hidden steps they took.
        layers: dict[int, dict[int, CandidateState]] = {}
        for one in self._candidates:
            layers.setdefault(one.run, {})[one.state.fingerprint] = one
        known: set[int] = set()
        last: list[CandidateState] = []
        while layers:
            run = min(layers)
            last = [one for key, one in layers.pop(run).items() if key not in known]
            for one in last:
                if len(known) >= self._most:
                    self.is_cut = True
                    return
                known.add(one.state.fingerprint)
                yield one
            if hides and last and run < self._hidden_max:
                deeper = layers.setdefault(run + 1, {})
                for after in self._hidden_steps(last, known):
                    deeper.setdefault(after.state.fingerprint, after)
        self.is_bounded = hides and any(self._hidden_steps(last, known))

    def _hidden_steps(
        self, layer: Iterable[CandidateState], known: Collection[int]
    ) -> Iterator[CandidateState]:
        """Yield the states that are not known, one hidden step after these candidates."""
        for one in layer:
            for action, parameters, after in self._grounds.hidden_steps(one.state):
                if after.fingerprint not in known:
                    taken = Taken(action, parameters, after, None)
                    yield CandidateState(taken, one, one.run + 1)
