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

    ``is_known`` says whether there has only ever been one way to go, ``is_cut`` whether candidates
    were left out for being too many. ``broken`` has the property that the last step would have
    broken, and how, by the fingerprint of the state before it.
    """

    def __init__(self, grounds: Grounds, hidden_max: int, most: int) -> None:
        self._grounds = grounds
        self._hidden_max = hidden_max
        self._most = most
        self.candidates: tuple[CandidateState, ...] = ()
        self.is_known = True
        self.is_cut = False
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
        first = self.candidates[0]
        if len(self.candidates) > 1 or self._grounds.hidden:
            return False
        variables = self._grounds.spec.variables
        return all(
            len(part) == 1 and part[0] in variables and same(first.state[str(part[0])], value)
            for part, value in observation.seen
        )

    def follow(self, observation: Observation, number: int) -> bool:
        """Take a step of which all was seen; return whether that is all there is to it."""
        # Any candidate that has the step leads to this same state.
        first = self.candidates[0]
        after = self._grounds.follows(first.state, observation)
        if after is None or observation.action is None:
            return False
        parameters = tuple(one for one in observation.parameters or () if one is not None)
        taken = Taken(observation.action, parameters, after, number)
        self.candidates = (CandidateState(taken, first),)
        self.is_cut = False
        return True

    def advance(self, seen: Seen, number: int) -> bool:
        """Take an observed step from every candidate that has it; return whether one has."""
        grounds = self._grounds
        found: dict[int, CandidateState] = {}
        broken: dict[int, tuple[str, Explanation]] = {}
        ways = 0
        for one in self.reachable():
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
                self.is_cut = False
                break
        self.broken = broken
        if found:
            self.candidates = tuple(found.values())
            self.is_known = self.is_known and ways == 1
        return bool(found)

    def keep(self, fits: Callable[[CandidateState], bool]) -> bool:
        """Drop the candidates that do not fit; return whether one does."""
        kept = tuple(filter(fits, self.reachable()))
        if kept:
            self.candidates = kept
            self.is_known = self.is_known and len(kept) == 1 and not kept[0].run
        return bool(kept)

    def certain(self, actions: Collection[str]) -> frozenset[str]:
        """Return those of some actions that every candidate has taken in a hidden step."""
        found = frozenset(actions)
        for one in self.candidates:
            if not found:
                break
            found &= {taken.action for taken in one.behaviour() if taken.observation is None}
        return found

    def reachable(self) -> Iterator[CandidateState]:
        """Yield the candidates, then the states that hidden steps lead to, the nearest first."""
        hidden = self._grounds.hidden
        known = {one.state.fingerprint for one in self.candidates} if hidden else set()
        layer, count = list(self.candidates), 0
        while layer:
            for one in layer:
                count += 1
                if count > self._most:
                    self.is_cut = True
                    return
                yield one
            deeper: list[CandidateState] = []
            for one in layer if hidden else ():
                if one.run < self._hidden_max:
                    deeper += self._hidden_steps(one, known)
            layer = deeper

    def _hidden_steps(self, one: CandidateState, known: set[int]) -> Iterator[CandidateState]:
        for action, parameters, after in self._grounds.hidden_steps(one.state):
            if after.fingerprint not in known:
                known.add(after.fingerprint)
                taken = Taken(action, parameters, after, None)
                yield CandidateState(taken, one, one.run + 1)
