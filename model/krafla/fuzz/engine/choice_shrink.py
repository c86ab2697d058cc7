"""A smaller run with the same finding: fewer steps, then smaller data, then fewer faults.

A choice names a message by its id, and ids shift when an earlier choice is left out. So a message
is named here by the choice that sent it; without that choice, the choices that name it go too.
Runs on machines shrink by their faults instead: `krafla.fuzz.engine.machine_system`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.collector import gc_paused
from krafla.fuzz.engine.choice_run import Player
from krafla.shrink.reduce import Budget, minimise
from krafla.shrink.result import Shrunk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.fuzz.engine.runs import Run

__all__ = ["NamedChoice", "Shrinker", "shrink"]

_REPLAYS: Final = 3_000


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A choice, its place in the original run, and the place that put its message in flight."""

    place: int
    choice: Any
    origin: int | None = None


@gc_paused()
def shrink(
    system: ChoiceSystem,
    run: Run,
    progress: Callable[[int], object] = lambda _steps: None,
    replays: int | None = None,
) -> Shrunk[Run]:
    """Return the smallest run found with the same finding, and whether it is minimal.

    A candidate is played on the implementation and judged by the spec. It counts only if the
    same conjunct is false of the same action, or the same property.
    """
    assert run.finding is not None, "nothing was found"
    budget = Budget(replays or _REPLAYS)
    best = system.shrinker(system, run, budget, progress)
    before: tuple[Run, int] | None = None
    while before != (before := (best.run, len(best.kept))):
        best.without_steps()
        best.smaller_data()
        best.without_faults()
    return Shrunk(best.run, not budget.is_spent, budget.tries - budget.left)


class Shrinker:
    """The best run so far, and the ways to a better one."""

    def __init__(
        self, system: ChoiceSystem, run: Run, budget: Budget, progress: Callable[[int], object]
    ) -> None:
        self._system = system
        self.run = run
        self._budget = budget
        self._progress = progress
        self.kept = self._named()

    @property
    def _configuration(self) -> Any:
        return self.run.case.configuration

    def without_steps(self) -> None:
        """Leave out choices."""
        minimise(self.kept, self._fails, self._budget)

    def smaller_data(self) -> None:
        """Make numbers smaller, where there are some to make smaller."""

    def without_faults(self) -> None:
        """Leave out all faults of a kind at once, where there are kinds of them."""

    def fitted(self, choice: Any, _cluster: Any) -> Any:
        """Return a choice as it is possible in a run that is shorter than the one it is from."""
        return choice

    def _fails(self, candidate: Sequence[NamedChoice]) -> bool:
        return self._shows(self._configuration, candidate)

    def _shows(self, configuration: Any, candidate: Sequence[NamedChoice]) -> bool:
        """Return whether a candidate shows the same finding; if so, and not longer, keep it."""
        player, taken = self._played(configuration, candidate)
        if player.finding is None or player.finding.kind != self.run.kind:
            return False
        if len(taken) <= len(self.kept):
            self.run, self.kept = player.run, taken
            self._progress(self.run.steps)
        return True

    def _named(self) -> tuple[NamedChoice, ...]:
        """Return the choices of the run with their messages named by where they came from."""
        player = Player(self._system, self.run.case)
        origins: dict[int, int] = {}
        named = []
        for place, choice in enumerate(self.run.case.choices):
            origin = None
            if isinstance(choice, self._system.of_message):
                origin = origins.get(choice.message_id)
            named.append(NamedChoice(place, choice, origin))
            before = player.cluster.next_message_id
            player.step(choice)
            origins.update(dict.fromkeys(range(before, player.cluster.next_message_id), place))
        return tuple(named)

    def _played(
        self, configuration: Any, candidate: Sequence[NamedChoice]
    ) -> tuple[Player, tuple[NamedChoice, ...]]:
        """Play what is possible of a candidate; return the player, and what of it that was."""
        player = Player(self._system, replace(self.run.case, configuration=configuration))
        messages: dict[int, int] = {}
        taken = []
        for one in candidate:
            choice = one.choice
            if isinstance(choice, self._system.of_message):
                if one.origin is None or one.origin not in messages:
                    continue
                choice = msgspec.structs.replace(choice, message_id=messages[one.origin])
            choice = self.fitted(choice, player.cluster)
            before, count = player.cluster.next_message_id, len(player.choices)
            player.step(choice)
            if len(player.choices) > count:
                taken.append(one)
            if player.finding is not None:
                break
            if player.cluster.next_message_id > before:
                messages[one.place] = before
        return player, tuple(taken)
