"""A smaller run with the same finding: fewer steps, then smaller data, then fewer faults.

A choice names a message by its id, and ids shift when an earlier choice is gone. So a message
is named here by the choice that put it in flight; if that is gone, so is whatever names it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.fuzz.engine.run import Player, Run
from krafla.fuzz.engine.systems import LEASE
from krafla.refinement.lease.faults import FAULTS
from krafla.shrink.reduce import Budget, minimise, smallest
from krafla.shrink.result import Shrunk
from kraft.ids import Offset
from kraft.sim.lease.choices import ReplayMetadata, Tick
from kraft.sim.lease.configuration import ConfigurationError, promises_no_overlap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


__all__ = ["shrink", "shrink_run"]

_REPLAYS: Final = 3_000


@dataclass(frozen=True, slots=True)
class _Named:
    """A choice, its place in the original run, and the place that put its message in flight."""

    place: int
    choice: Any
    origin: int | None = None


def shrink(run: Run, progress: Callable[[int], None] | None = None) -> Run:
    """Return the smallest run found whose finding is of the same kind as that of ``run``."""
    return shrink_run(run, progress).result


def shrink_run(
    run: Run, progress: Callable[[int], None] | None = None, replays: int = _REPLAYS
) -> Shrunk[Run]:
    """Return the smallest run found with the same finding, and whether it is minimal.

    A candidate is played on the implementation and judged by the spec. It counts only if the
    same conjunct is false of the same action, or the same property.
    """
    assert run.finding is not None, "nothing was found"
    budget = Budget(replays)
    best = (_BestOfLease if run.game is LEASE else _Best)(run, budget, progress)
    before: tuple[Run, int] | None = None
    while before != (before := (best.run, len(best.kept))):
        best.without_steps()
        best.smaller_data()
        best.without_faults()
    return Shrunk(best.run, not budget.is_spent, replays - budget.left)


class _Best:
    """The best run so far, and the ways to a better one."""

    def __init__(self, run: Run, budget: Budget, progress: Callable[[int], None] | None) -> None:
        assert run.finding is not None
        self.run = run
        self.kept = _named(run)
        self._kind = run.finding.kind
        self._budget = budget
        self._progress = progress

    @property
    def _configuration(self) -> Any:
        return self.run.recording.configuration

    def without_steps(self) -> None:
        """Leave out choices."""
        minimise(self.kept, self._fails, self._budget)

    def smaller_data(self) -> None:
        """Make numbers smaller, where there are some to make smaller."""

    def without_faults(self) -> None:
        """Leave out all faults of a kind at once, where there are kinds of them."""

    def _fails(self, candidate: Sequence[_Named]) -> bool:
        return self._shows(self._configuration, candidate)

    def _shows(self, configuration: Any, candidate: Sequence[_Named]) -> bool:
        """Return whether a candidate shows the same finding; if so, and not longer, keep it."""
        run, taken = _play_named(self.run, configuration, candidate)
        if run.finding is None or run.finding.kind != self._kind:
            return False
        if len(taken) <= len(self.kept):
            self.run, self.kept = run, taken
            if self._progress is not None:
                self._progress(run.steps)
        return True


class _BestOfLease(_Best):
    """The best run of the lease so far, whose times and processes can be fewer too."""

    def without_steps(self) -> None:
        """Leave out choices, and let neighbouring stretches of time be one."""
        super().without_steps()
        for index in range(len(self.kept) - 1, 0, -1):
            if index < len(self.kept):
                self._merge(index)

    def smaller_data(self) -> None:
        """Leave out processes that do nothing, and make times smaller."""
        acting = {getattr(one.choice, "incarnation_id", None) for one in self.kept}
        processes = tuple(
            one for one in self._configuration.processes if one.incarnation_id in acting
        )
        if processes and processes != self._configuration.processes:
            self._budget.allows(partial(self._configured, processes=processes))
        for name in ("session_timeout_ms", "broker_timeout_ms", "max_skew_ms"):
            value = getattr(self._configuration, name)
            if value:
                least = 0 if name == "max_skew_ms" else 1
                smallest(value, least, self._number(name), self._budget)
        for index, one in enumerate(self.kept):
            if isinstance(one.choice, Tick):
                smallest(one.choice.by_controller_ms, 1, self._elapsed(index), self._budget)
                self._budget.allows(partial(self._on_time, index))

    def without_faults(self) -> None:
        """Leave out all faults of a kind at once, with whatever is not possible without them."""
        for fault in sorted(FAULTS):
            calm = [one for one in self.kept if type(one.choice).__name__ != fault]
            if len(calm) < len(self.kept):
                self._budget.allows(partial(self._fails, calm))
        if self._configuration.reorder:
            self._budget.allows(partial(self._configured, reorder=False))

    def _configured(self, **changes: object) -> bool:
        try:
            configuration = msgspec.structs.replace(self._configuration, **changes)
        except ConfigurationError:
            return False
        if "NoOverlapInv" in self.run.also and not promises_no_overlap(configuration):
            return False
        # Time past a timeout is all the same: one unit of it shows as much, or none.
        timeout = max(configuration.session_timeout_ms, configuration.broker_timeout_ms or 0)
        return any(
            self._shows(configuration, [_shortened(one, longest) for one in self.kept])
            for longest in (timeout + 1, timeout)
        ) or self._shows(configuration, self.kept)

    def _number(self, name: str) -> Callable[[int], bool]:
        return lambda value: self._configured(**{name: value})

    def _elapsed(self, index: int) -> Callable[[int], bool]:
        def fails(elapsed_ms: int) -> bool:
            if index >= len(self.kept):
                return False
            return self._replaced(index, _shortened(self.kept[index], elapsed_ms))

        return fails

    def _on_time(self, index: int) -> bool:
        """Return whether all clocks may show the same in a step."""
        if index >= len(self.kept) or not isinstance(self.kept[index].choice, Tick):
            return False
        one = self.kept[index]
        assert isinstance(one.choice, Tick)
        calm = replace(one, choice=Tick(one.choice.by_controller_ms))
        return bool(one.choice.by_broker_ms) and self._replaced(index, calm)

    def _replaced(self, index: int, one: _Named) -> bool:
        return self._fails([*self.kept[:index], one, *self.kept[index + 1 :]])

    def _merge(self, index: int) -> None:
        first, second = self.kept[index - 1].choice, self.kept[index].choice
        if not isinstance(first, Tick) or not isinstance(second, Tick):
            return
        if first.by_broker_ms or second.by_broker_ms:
            return
        both = Tick(first.by_controller_ms + second.by_controller_ms)
        merged = replace(self.kept[index - 1], choice=both)
        candidate = [*self.kept[: index - 1], merged, *self.kept[index + 1 :]]
        self._budget.allows(partial(self._fails, candidate))


def _shortened(one: _Named, longest_ms: int) -> _Named:
    """Return a choice in which no more time passes; each clock keeps its lead or lag."""
    choice = one.choice
    if not isinstance(choice, Tick) or choice.by_controller_ms <= longest_ms:
        return one
    less_ms = choice.by_controller_ms - longest_ms
    by_broker = tuple((who, max(0, elapsed - less_ms)) for who, elapsed in choice.by_broker_ms)
    return replace(one, choice=Tick(longest_ms, by_broker))


def _named(run: Run) -> tuple[_Named, ...]:
    """Return the choices of a run with their messages named by where they came from."""
    player = Player(run.recording.configuration, run.also, run.game)
    origins: dict[int, int] = {}
    named = []
    for place, choice in enumerate(run.recording.choices):
        origin = None
        if isinstance(choice, run.game.of_message):
            origin = origins.get(choice.message_id)
        named.append(_Named(place, choice, origin))
        before = player.cluster.next_message_id
        player.take(choice)
        origins.update(dict.fromkeys(range(before, player.cluster.next_message_id), place))
    return tuple(named)


def _play_named(
    original: Run, configuration: Any, candidate: Sequence[_Named]
) -> tuple[Run, tuple[_Named, ...]]:
    """Return the run of what is possible of a candidate, and what of it that was."""
    player = Player(configuration, original.also, original.game)
    messages: dict[int, int] = {}
    taken = []
    for one in candidate:
        choice = one.choice
        if isinstance(choice, original.game.of_message):
            if one.origin is None or one.origin not in messages:
                continue
            choice = msgspec.structs.replace(choice, message_id=messages[one.origin])
        elif isinstance(choice, ReplayMetadata):
            # The log may be shorter than it was.
            last = max(0, len(player.cluster.log) - 1)
            choice = ReplayMetadata(choice.incarnation_id, Offset(min(choice.offset, last)))
        before, count = player.cluster.next_message_id, len(player.choices)
        player.take(choice)
        if len(player.choices) > count:
            taken.append(one)
        if player.finding is not None:
            break
        if player.cluster.next_message_id > before:
            messages[one.place] = before
    return player.run, tuple(taken)
