"""How a run of the lease is made smaller: times and processes can be fewer, too."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from krafla.fuzz.engine.choice_shrink import NamedChoice, Shrinker
from krafla.refinement.lease.faults import FAULTS
from krafla.shrink.reduce import smallest
from kraft.ids import Offset
from kraft.sim.lease.choices import ReplayMetadata, Tick
from kraft.sim.lease.configuration import ConfigurationError, promises_no_overlap

__all__ = ["LeaseShrinker"]


class LeaseShrinker(Shrinker):
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
                smallest(value, least, partial(self._with, name), self._budget)
        for index, one in enumerate(self.kept):
            if isinstance(one.choice, Tick):
                smallest(one.choice.by_controller_ms, 1, partial(self._lasts, index), self._budget)
                self._budget.allows(partial(self._on_time, index))

    def fitted(self, choice: Any, cluster: Any) -> Any:
        """Return a choice with an offset that the log, which may be shorter now, has."""
        if not isinstance(choice, ReplayMetadata):
            return choice
        last = max(0, len(cluster.log) - 1)
        return ReplayMetadata(choice.incarnation_id, Offset(min(choice.offset, last)))

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
        if "NoOverlapInv" in self.run.case.also and not promises_no_overlap(configuration):
            return False
        # Time past a timeout is all the same: one unit of it shows as much, or none.
        timeout = max(configuration.session_timeout_ms, configuration.broker_timeout_ms or 0)
        return any(
            self._shows(configuration, [_shortened(one, longest) for one in self.kept])
            for longest in (timeout + 1, timeout)
        ) or self._shows(configuration, self.kept)

    def _with(self, name: str, value: int) -> bool:
        return self._configured(**{name: value})

    def _lasts(self, index: int, elapsed_ms: int) -> bool:
        if index >= len(self.kept):
            return False
        return self._replaced(index, _shortened(self.kept[index], elapsed_ms))

    def _on_time(self, index: int) -> bool:
        """Return whether all clocks may show the same in a step."""
        if index >= len(self.kept) or not isinstance(self.kept[index].choice, Tick):
            return False
        one = self.kept[index]
        assert isinstance(one.choice, Tick)
        calm = replace(one, choice=Tick(one.choice.by_controller_ms))
        return bool(one.choice.by_broker_ms) and self._replaced(index, calm)

    def _replaced(self, index: int, one: NamedChoice) -> bool:
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


def _shortened(one: NamedChoice, longest_ms: int) -> NamedChoice:
    """Return a choice in which no more time passes; each clock keeps its lead or lag."""
    choice = one.choice
    if not isinstance(choice, Tick) or choice.by_controller_ms <= longest_ms:
        return one
    less_ms = choice.by_controller_ms - longest_ms
    by_broker = tuple((who, max(0, elapsed - less_ms)) for who, elapsed in choice.by_broker_ms)
    return replace(one, choice=Tick(longest_ms, by_broker))
