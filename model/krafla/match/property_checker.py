"""Whether states and steps of a loaded spec keep its properties, and which they break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.conjunction import Conjunction
from krafla.oracle.errors import SpecError
from krafla.oracle.loader import find_module
from krafla.oracle.properties import Properties, holds, properties_of
from krafla.tlc.config import read_config
from krafla.traces.spec_facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from krafla.oracle import Explanation, Spec, State

__all__ = ["PropertyChecker", "configured_properties", "judged_properties"]

_REMEMBERED = 100_000


class PropertyChecker:
    """The properties that a spec must keep, except one that a trace is known to break.

    A step that breaks the excused one may break others too: one mistake often does.
    """

    def __init__(self, spec: Spec, properties: Properties, excused: str | None = None) -> None:
        self._spec = spec
        self._invariants = tuple(one for one in properties.invariants if one != excused)
        self._steps = tuple(one for one in properties.steps if one != excused)
        self._excused_of_state = excused if excused in properties.invariants else None
        self._excused_of_step = excused if excused in properties.steps else None
        self.together = Conjunction(spec, self._invariants, self._steps)
        self._sound: set[tuple[int, int]] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the properties that are judged."""
        return (*self._invariants, *self._steps)

    def broken_by(
        self, before: State, after: State, changed: Collection[str] | None = None
    ) -> tuple[str, Explanation] | None:
        """Return the first property that a step or its final state breaks, and how, or ``None``.

        ``changed`` names the only variables that the step changed; all properties held before it.
        """
        key = (before.fingerprint, after.fingerprint)
        if key in self._sound:
            return None
        if holds(self.together.holds_in, after, changed) and (
            before is after or holds(self.together.permits, before, after, changed)
        ):
            if len(self._sound) >= _REMEMBERED:
                self._sound.clear()
            self._sound.add(key)
            return None
        return None if self._breaks_excused(before, after) else self.blamed(before, after)

    def _breaks_excused(self, before: State, after: State) -> bool:
        """Return whether a step breaks the excused property; an invariant was true before it."""
        if self._excused_of_state is not None:
            asked, name = self._spec.check_invariant, self._excused_of_state
            is_first = before is after or holds(asked, name, before)
            return is_first and not holds(asked, name, after)
        if self._excused_of_step is not None and before is not after:
            return not holds(self._spec.check_action_property, self._excused_of_step, before, after)
        return False

    def blamed(self, before: State, after: State) -> tuple[str, Explanation] | None:
        """Return the same as ``broken_by``, by checking each property separately."""
        spec, excused = self._spec, self._excused_of_state
        # What broke together with the excused invariant may stay broken with it.
        is_late = (
            excused is not None
            and before is not after
            and not holds(spec.check_invariant, excused, before)
        )
        for name in self._invariants:
            if holds(spec.check_invariant, name, after):
                continue
            if not is_late or holds(spec.check_invariant, name, before):
                return name, spec.explain_invariant(name, after)
        for name in self._steps if before is not after else ():
            if not holds(spec.check_action_property, name, before, after):
                return name, spec.explain_action_property(name, before, after)
        return None


def configured_properties(spec: Spec, config: Path) -> Properties:
    """Return the properties of states and of steps that a configuration file lists."""
    listed = read_config(config)
    steps = tuple(one for one in listed.properties if _speaks_of_steps(spec, one))
    return Properties(listed.invariants, steps, ())


def _speaks_of_steps(spec: Spec, name: str) -> bool:
    try:
        return bool(spec.predicates.of_step(name))
    except SpecError:
        return False


def judged_properties(spec: str, path: Path | None = None) -> Properties:
    """Return the properties that every behaviour of a spec must keep.

    These are the unconditional ones of its module, if ``traces.toml`` says that they are judged.
    ``path`` is the module's file, if it is not the one in the spec tree.
    """
    facts = facts_of(spec)
    if not facts.judged:
        return Properties((), (), ())
    return properties_of(find_module(spec, path), {*facts.conditional, *facts.left_to_models})
