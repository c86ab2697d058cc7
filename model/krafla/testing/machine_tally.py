"""What was judged in all runs of a machine: counted by its judge."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from krafla.counted import counted
from krafla.testing.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from krafla.oracle import Spec
    from krafla.traces import Called

__all__ = ["CountedJudge", "MachineTally", "counting", "counts_of", "take_told"]

# By the classes whose tests run now.
_counts: dict[type, MachineTally] = {}
# What the tests that ended covered, until the plugin of pytest takes it.
_told: list[str] = []


@dataclass(slots=True)
class MachineTally:
    """What was judged: steps by action, refusals by action, and the states the spec was in.

    A state counts if it was the only candidate. ``hidden`` has the actions of hidden steps that
    every candidate took at some time, ``seen`` the variables of which something was seen.
    ``has_stepped`` is whether some run took a step, seen or hidden. ``failed_in`` is the number of
    the first run that failed; those after it made the example smaller. ``not_judged`` names the
    properties of which a part speaks of whole behaviours only, ``left_out`` those that the cfg
    beside the module lists and nothing judges. ``found`` is what was found after the fewest steps,
    ``found_after``: it may not come again.
    """

    runs: int = 0
    failed_in: int | None = None
    taken: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    states: set[int] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    has_stepped: bool = False
    spec: Spec | None = None
    not_judged: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    found: BaseException | None = None
    found_after: int = 0

    def keep(self, found: BaseException, steps: int) -> None:
        """Keep what was found after so many steps, if nothing was found after as few."""
        if self.found is None or steps < self.found_after:
            self.found, self.found_after = found, steps

    @property
    def steps(self) -> int:
        """Return how many steps were judged."""
        return self.taken.total()

    @property
    def refusals(self) -> int:
        """Return how many refusals were judged."""
        return self.refused.total()

    @property
    def judged(self) -> str:
        """Return how many steps and refusals were judged, in words."""
        steps = counted(self.steps, "step")
        return f"{steps} and {counted(self.refusals, 'refusal')}" if self.refusals else steps

    @property
    def runs_told(self) -> str:
        """Return how many runs there were, in words; if one failed, how many came after it."""
        if self.failed_in is None:
            return counted(self.runs, "run")
        after = self.runs - self.failed_in
        # The failing run is played once more to be told.
        shrunk = f", shrunk in {after:,} more" if after > 1 else ""
        return f"found in run {self.failed_in:,}{shrunk}"

    @property
    def doubt(self) -> str:
        """Return why runs in which nothing was found show nothing; empty if they show something."""
        if self.has_stepped:
            return ""
        if self.steps:
            return f"no step named an action, and nothing was seen, so any would do: {self.judged}"
        if not self.refusals:
            return "no step was judged"
        refused = counted(self.refusals, "refusal")
        return f"no action was taken, the code only refused: {refused} judged"

    @property
    def actions(self) -> tuple[str, ...]:
        """Return the actions of the spec; none before it is loaded."""
        if self.spec is None:
            return ()
        return tuple(dict.fromkeys(one.name for one in self.spec.actions))

    @property
    def missed(self) -> tuple[str, ...]:
        """Return the actions that were never taken, neither seen nor hidden."""
        return tuple(one for one in self.actions if not self.taken[one] and one not in self.hidden)

    @property
    def coverage(self) -> str:
        """Return how much was judged, and what was never taken, in words."""
        missed = f"never taken: {', '.join(self.missed)}" if self.missed else "every action taken"
        return f"{self.runs_told}, {self.judged}; {missed}"

    @property
    def unseen(self) -> tuple[str, ...]:
        """Return the variables of which nothing was seen, nor a part; none before a run."""
        if self.spec is None or not self.runs:
            return ()
        return tuple(one for one in self.spec.variables if one not in self.seen)


class CountedJudge(Judge):
    """A judge that counts what it judges."""

    tally: MachineTally
    progress: Callable[[MachineTally], None]

    @classmethod
    def of(
        cls,
        judge: Judge,
        tally: MachineTally,
        progress: Callable[[MachineTally], None] = lambda _: None,
    ) -> CountedJudge:
        """Return the judge, counting."""
        found = object.__new__(cls)
        vars(found).update(vars(judge))
        found.tally, found.progress = tally, progress
        tally.spec, tally.not_judged = judge.spec, judge.not_judged
        tally.left_out = judge.left_out
        return found

    def start(self, seen: Mapping[Any, Any] | None = None) -> None:
        """Begin a run of the code, and count it."""
        __tracebackhide__ = True
        self.tally.runs += 1
        super().start(seen)
        self._count(seen)

    def step(
        self,
        action: str | None,
        *parameters: Any,
        seen: Mapping[Any, Any] | None = None,
        call: Called = None,
    ) -> None:
        """Judge a step, and count it under the name of its action."""
        __tracebackhide__ = True
        super().step(action, *parameters, seen=seen, call=call)
        self.tally.taken[action or ""] += 1
        self._count(seen)

    def stay(self, seen: Mapping[Any, Any] | None = None, *, call: Called = None) -> None:
        """Judge that no step was taken, and count what was seen."""
        __tracebackhide__ = True
        super().stay(seen, call=call)
        self._count(seen)

    def refuse(self, action: str, *parameters: Any, call: Called = None) -> None:
        """Judge a refusal, and count it."""
        __tracebackhide__ = True
        super().refuse(action, *parameters, call=call)
        self.tally.refused[action] += 1

    def _count(self, seen: Mapping[Any, Any] | None) -> None:
        tally, states = self.tally, self.states
        tally.has_stepped = tally.has_stepped or self.has_stepped
        if len(states) == 1:
            tally.states.add(states[0].fingerprint)
        tally.hidden |= self._frontier.certain(set(self.hidden) - tally.hidden)
        tally.seen.update(one[0] if isinstance(one, tuple) else one for one in seen or ())
        self.progress(tally)


@contextmanager
def counting(machine: type) -> Iterator[MachineTally]:
    """Give a tally of what is judged inside, in the runs of a machine's class.

    What the runs covered is told, unless they end with an error.
    """
    tally = _counts[machine] = MachineTally()
    try:
        yield tally
    finally:
        del _counts[machine]
    _told.append(f"{machine.__name__}: {tally.coverage}")


def counts_of(machine: type) -> MachineTally | None:
    """Return the tally of the test of a class that runs now; ``None`` if none does."""
    return _counts.get(machine)


def take_told() -> tuple[str, ...]:
    """Return what was told of machines since it was asked last."""
    found = tuple(_told)
    _told.clear()
    return found
