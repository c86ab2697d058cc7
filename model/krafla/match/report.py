"""The result of matching a partial trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.values import fmt
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from krafla.match.nearest import Nearest
    from krafla.oracle import Explanation, State
    from krafla.traces import PartialTrace
    from krafla.values import Value

__all__ = ["MatchReport", "Stuck", "Taken"]


@dataclass(frozen=True, slots=True)
class Taken:
    """One step of a behaviour that was found; ``observation`` is ``None`` for a hidden step.

    The first step of a behaviour is its initial state; its action is ``Init``. ``stays`` are the
    numbers of the observations without a step that were made in its state, in their order.
    """

    action: str
    parameters: tuple[Value, ...]
    state: State
    observation: int | None
    stays: tuple[int, ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.action
        return f"{self.action}({', '.join(map(fmt, self.parameters))})"


@dataclass(frozen=True, slots=True)
class Stuck:
    """A candidate that cannot take the next observation: its behaviour, and the reason.

    ``broken`` is the property that the observed step would break, if the spec has that step.
    """

    behaviour: tuple[Taken, ...]
    explanation: Explanation
    nearest: Nearest | None = None
    broken: str | None = None

    @property
    def hidden(self) -> tuple[Taken, ...]:
        """Return the hidden steps after the last observation."""
        found: list[Taken] = []
        for taken in reversed(self.behaviour):
            if taken.observation is not None or taken.stays:
                break
            found.append(taken)
        return tuple(reversed([one for one in found if one.action != "Init"]))


@dataclass(frozen=True, slots=True)
class MatchReport:
    """How much of a partial trace has a behaviour.

    ``accepted`` counts the observations of the longest part that has a behaviour, ``behaviour`` is
    one for them. ``candidates`` counts the states in which that part can end, ``looked_at`` all
    states that were tried. ``doubt`` says why the answer is uncertain: the search reached
    ``frontier`` or guessed parameters, so that a trace that was not accepted may still have a
    behaviour; or the trace shows no action and no value, so that every behaviour agrees with it.
    ``order`` says who chose the order of the observations, if that was not their source.
    ``not_judged`` names the properties of which a part, or all, speaks of whole behaviours only,
    ``left_out`` says which of a cfg were left out, as other constants were given.
    """

    trace: PartialTrace
    accepted: int
    behaviour: tuple[Taken, ...]
    stuck: tuple[Stuck, ...] = ()
    candidates: int = 1
    looked_at: int = 0
    doubt: str | None = None
    order: str | None = None
    not_judged: tuple[str, ...] = ()
    left_out: str = ""

    @property
    def verdict(self) -> Verdict:
        """Return whether some behaviour of the spec agrees with the trace."""
        if self.doubt is not None:
            return Verdict.INCONCLUSIVE
        return Verdict.HELD if self.accepted == len(self.trace) else Verdict.VIOLATED

    @property
    def hidden(self) -> int:
        """Return how many steps of the behaviour are hidden."""
        return sum(one.observation is None for one in self.behaviour[1:])

    @property
    def bounds(self) -> str:
        """Return the bounds of the search, in words."""
        hidden, most = self.trace.hidden, self.trace.hidden_max
        if hidden == () or most == 0:
            return "no hidden steps"
        of = "any action" if hidden is None else ", ".join(hidden)
        return f"at most {most} hidden steps in a row, of {of}"
