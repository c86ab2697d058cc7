"""What matching a partial trace came to."""

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

    The first is the initial state, whose action is ``Init``.
    """

    action: str
    parameters: tuple[Value, ...]
    state: State
    observation: int | None

    def __str__(self) -> str:
        if not self.parameters:
            return self.action
        return f"{self.action}({', '.join(map(fmt, self.parameters))})"


@dataclass(frozen=True, slots=True)
class Stuck:
    """A candidate that cannot take the next observation: how it got there, and why it cannot.

    ``broken`` is a property that the observed step would break, where the spec allows it.
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
            if taken.observation is not None:
                break
            found.append(taken)
        return tuple(reversed([one for one in found if one.action != "Init"]))


@dataclass(frozen=True, slots=True)
class MatchReport:
    """How much of a partial trace has a behaviour.

    ``accepted`` counts the observations of the longest part, ``behaviour`` is one that shows
    them. ``candidates`` counts the states in which that part can end, ``looked_at`` all states
    that were tried. If the search was cut off by ``frontier`` or guessed, ``doubt`` says how,
    and a trace that was not accepted may yet have a behaviour. Of a trace in which nothing was
    seen at all it says so: every behaviour would do.
    """

    trace: PartialTrace
    accepted: int
    behaviour: tuple[Taken, ...]
    stuck: tuple[Stuck, ...] = ()
    candidates: int = 1
    looked_at: int = 0
    doubt: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Return whether some behaviour of the spec shows what was seen."""
        if self.doubt is not None:
            return Verdict.INCONCLUSIVE
        return Verdict.HELD if self.accepted == len(self.trace) else Verdict.VIOLATED

    @property
    def hidden(self) -> int:
        """Return how many steps of the behaviour nobody saw."""
        return sum(one.observation is None for one in self.behaviour[1:])

    @property
    def bounds(self) -> str:
        """Return what was searched, in words."""
        hidden, most = self.trace.hidden, self.trace.hidden_max
        if hidden == () or most == 0:
            return "no hidden steps"
        of = "any action" if hidden is None else ", ".join(hidden)
        return f"at most {most} hidden steps in a row, of {of}"
