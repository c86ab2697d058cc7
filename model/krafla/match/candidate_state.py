"""A state in which a behaviour can be after some observations, with the way to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from krafla.match.reasons import nearest_of, refusal
from krafla.match.report import Stuck
from krafla.match.stay import why_not_without_step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.match.moves import Moves
    from krafla.match.report import Taken
    from krafla.match.seen import Seen
    from krafla.oracle import Explanation, Spec, State
    from krafla.traces import Observation

__all__ = ["SHOWN_CANDIDATES", "CandidateState", "stuck_at"]

_NONE: Final[frozenset[str]] = frozenset()
SHOWN_CANDIDATES: Final = 3
"""Of so many candidates a failure says why they cannot go on."""


class CandidateState:
    """The step that led to a state, the candidate before it, and how many hidden steps end here.

    ``hidden`` are the actions of all hidden steps on the way.
    """

    __slots__ = ("hidden", "parent", "run", "taken")

    def __init__(self, taken: Taken, parent: CandidateState | None, run: int = 0) -> None:
        self.taken = taken
        self.parent = parent
        self.run = run
        self.hidden: frozenset[str] = _NONE if parent is None else parent.hidden
        if taken.observation is None and taken.action not in self.hidden:
            self.hidden |= {taken.action}

    @property
    def state(self) -> State:
        """Return the state."""
        return self.taken.state

    def at(self, observation: int) -> CandidateState:
        """Return this candidate with an observation without a step that was made in its state."""
        taken = replace(self.taken, stays=(*self.taken.stays, observation))
        return CandidateState(taken, self.parent, self.run)

    def behaviour(self) -> tuple[Taken, ...]:
        """Return the steps from an initial state to here."""
        found: list[Taken] = []
        node: CandidateState | None = self
        while node is not None:
            found.append(node.taken)
            node = node.parent
        return tuple(reversed(found))


def stuck_at(
    spec: Spec,
    moves: Moves,
    candidate: CandidateState,
    seen: Seen,
    broken: Mapping[int, tuple[str | None, Explanation]],
    before: Observation | None = None,
) -> Stuck:
    """Return why a candidate cannot take the next observation, ``before`` which one came.

    ``broken`` has the property that the observed step breaks, and how, by the fingerprint of the
    state before it; ``None`` is no property, but Next.
    """
    found = broken.get(candidate.state.fingerprint)
    if found is not None:
        return Stuck(candidate.behaviour(), found[1], None, found[0])
    if seen.observation.kind != "step":
        explanation = why_not_without_step(moves, candidate.state, seen, before)
        return Stuck(candidate.behaviour(), explanation)
    explanation = refusal(spec, moves, candidate.state, seen)
    return Stuck(candidate.behaviour(), explanation, nearest_of(moves, candidate.state, seen))
