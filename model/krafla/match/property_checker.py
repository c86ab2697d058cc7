"""Whether states and steps of a loaded spec keep its properties, and which they break."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.conjunction import Conjunction
from krafla.oracle.errors import SpecError
from krafla.oracle.explain import explain_beginning
from krafla.oracle.loader import find_module
from krafla.oracle.properties import Answers, Properties, holds, properties_of
from krafla.tlc.config import read_config
from krafla.traces.spec_facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from krafla.oracle import Explanation, Spec, State

__all__ = [
    *("PropertyChecker", "configured_properties", "judged_properties", "left_out_of_cfg"),
    *("left_out_told", "temporal_parts"),
]

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
        self._together = Conjunction(spec, self._invariants, self._steps)
        self._known: dict[tuple[int | None, int], tuple[str, Explanation] | None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the properties that are judged."""
        return (*self._invariants, *self._steps)

    def broken_by(
        self, before: State | None, after: State, changed: Collection[str] | None = None
    ) -> tuple[str, Explanation] | None:
        """Return the first property that a step or its final state breaks, and how, or ``None``.

        Without a state ``before``, a behaviour begins in the final state. ``changed`` names the
        only variables that the step changed; all properties held before it. ``EvaluationError`` if
        none is false, and TLC cannot evaluate one.
        """
        key = (None if before is None else before.fingerprint, after.fingerprint)
        if key in self._known:
            return self._known[key]
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        is_fine = self._is_sound(before, after, changed) or self._breaks_excused(before, after)
        found = self._known[key] = None if is_fine else self._blamed(before, after)
        return found

    def _is_sound(
        self, before: State | None, after: State, changed: Collection[str] | None
    ) -> bool:
        together = self._together
        if not holds(together.holds_in, after, changed):
            return False
        if before is None:
            return holds(together.may_begin, after)
        return before is after or holds(together.permits, before, after, changed)

    def _breaks_excused(self, before: State | None, after: State) -> bool:
        """Return whether a step breaks the excused property; an invariant was true before it."""
        if self._excused_of_state is not None:
            asked, name = self._spec.check_invariant, self._excused_of_state
            is_first = before is None or before is after or holds(asked, name, before)
            return is_first and not holds(asked, name, after)
        if self._excused_of_step is not None and before is not after:
            name = self._excused_of_step
            is_first = before is None or holds(self._always_held, name, before)
            return is_first and not holds(self._keeps, name, before, after)
        return False

    def _keeps(self, name: str, before: State | None, after: State) -> bool:
        """Return whether a step, or the beginning of a behaviour, keeps a property."""
        part_holds, demands = self._spec.part_holds, self._spec.predicates.of_property(name)
        if before is None:
            return all(part_holds(part, after.java) for part in (*demands.first, *demands.states))
        return self._always_held(name, after) and all(
            part_holds(part, before.java, after.java) for part in demands.steps
        )

    def _blamed(self, before: State | None, after: State) -> tuple[str, Explanation] | None:
        """Return the same as ``broken_by``, by checking each property separately."""
        spec, excused = self._spec, self._excused_of_state
        # What broke together with the excused invariant may stay broken with it.
        is_late = (
            excused is not None
            and before is not None
            and before is not after
            and not holds(spec.check_invariant, excused, before)
        )
        answers = Answers()
        for name in self._invariants:
            if is_late and not holds(spec.check_invariant, name, before):
                continue
            if answers.is_false(spec.check_invariant, name, after):
                return name, spec.explain_invariant(name, after)
        for name in self._steps if before is not after else ():
            if is_late and not holds(self._always_held, name, before):
                continue
            if answers.is_false(self._keeps, name, before, after):
                if before is None:
                    return name, explain_beginning(spec, name, after)
                return name, spec.explain_action_property(name, before, after)
        answers.settle()
        return None

    def _always_held(self, name: str, state: State) -> bool:
        """Return whether a state is as a property demands of every state."""
        parts = self._spec.predicates.of_property(name).states
        return all(self._spec.part_holds(part, state.java) for part in parts)


def configured_properties(spec: Spec, config: Path) -> Properties:
    """Return the properties that a configuration file lists, by what they speak of."""
    listed = read_config(config)
    steps, temporal = [], []
    for name in listed.properties:
        try:
            is_all = spec.predicates.of_property(name).is_all
        except SpecError:
            temporal.append(name)
            continue
        steps.append(name)
        if not is_all:
            temporal.append(name)
    return Properties(listed.invariants, tuple(steps), (), tuple(temporal))


def left_out_of_cfg(spec: Spec, judged: Collection[str]) -> tuple[str, ...]:
    """Return what the cfg beside a module lists and nothing judges: constants took its place."""
    config = spec.module.with_suffix(".cfg")
    if spec.configuration is not None or not config.is_file():
        return ()
    listed = read_config(config)
    return tuple(one for one in (*listed.invariants, *listed.properties) if one not in judged)


def left_out_told(spec: Spec, names: Collection[str]) -> str:
    """Return in words which properties of a cfg are not judged, and why."""
    config = spec.module.with_suffix(".cfg").name
    return f"{', '.join(names)} of {config}: the constants that were given take its place"


def temporal_parts(names: Collection[str]) -> str:
    """Return in words what no state or step can show of properties."""
    return f"the temporal part of PROPERTY {', '.join(names)}"


def judged_properties(spec: str, path: Path | None = None) -> Properties:
    """Return the properties that every behaviour of a spec must keep.

    These are the unconditional ones of its module, if ``traces.toml`` says that they are judged.
    ``path`` is the module's file, if it is not the one in the spec tree.
    """
    facts = facts_of(spec)
    if not facts.judged:
        return Properties((), (), ())
    return properties_of(find_module(spec, path), {*facts.conditional, *facts.left_to_models})
