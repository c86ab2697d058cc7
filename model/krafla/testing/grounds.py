"""What all judges of one spec share: its moves, its properties, and how values are read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from krafla.match.moves import Moves
from krafla.match.property_checker import PropertyChecker, configured_properties
from krafla.match.seen import Seen
from krafla.match.spec_source import text_of
from krafla.match.whole import Whole
from krafla.oracle.constants import given_constants
from krafla.oracle.properties import Properties
from krafla.traces import Observation, Origin
from krafla.values import ModelValue, freeze
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from krafla.oracle import Explanation, Spec, State
    from krafla.traces import SpecText
    from krafla.traces.partial import Part
    from krafla.values import Value

__all__ = ["Grounds"]


class Grounds:
    """A spec with the properties that are judged, and the actions whose steps may be hidden."""

    def __init__(
        self,
        spec: Spec,
        hidden: Sequence[str] | None,
        invariants: Sequence[str] | None,
        properties: Sequence[str] | None,
    ) -> None:
        self.spec = spec
        self.moves = Moves(spec)
        self._variables = frozenset(spec.variables)
        self.hidden = self._hidden(hidden)
        self._models = {name: ModelValue(name) for name in spec.converter.model_values}
        judged = self._properties(invariants, properties)
        self._checker = PropertyChecker(spec, judged) if judged.invariants or judged.steps else None
        self.step_properties = judged.steps

    def _hidden(self, names: Sequence[str] | None) -> tuple[str, ...]:
        if names is None:
            return self.moves.names
        for name in names:
            if name not in self.moves.names:
                known = ", ".join(sorted(self.moves.names))
                raise KraflaError(f"hidden: {self.spec.name} has no action {name} (it has {known})")
        return tuple(names)

    def _properties(
        self, invariants: Sequence[str] | None, properties: Sequence[str] | None
    ) -> Properties:
        config = self.spec.configuration
        found = Properties((), (), ())
        if config is not None and (invariants is None or properties is None):
            found = configured_properties(self.spec, config)
        return Properties(
            found.invariants if invariants is None else tuple(invariants),
            found.steps if properties is None else tuple(properties),
            (),
        )

    @cached_property
    def initial_states(self) -> tuple[State, ...]:
        """Return every initial state."""
        return tuple(self.spec.initial_states())

    @cached_property
    def _whole(self) -> Whole:
        return Whole(self.spec)

    @cached_property
    def constants(self) -> tuple[tuple[str, Value], ...]:
        """Return the constants of the spec that have a finite value."""
        return given_constants(self.spec)

    @cached_property
    def text(self) -> SpecText | None:
        """Return the text of the spec, ``None`` if it was shipped."""
        return text_of(self.spec.module, self.spec.configuration)

    @cached_property
    def origin(self) -> Origin:
        """Return the origin of traces that were judged here."""
        from krafla.oracle.digest import spec_digest

        return Origin("krafla.testing", digest=spec_digest(self.spec.name, self.spec.module))

    def broken_by(
        self, before: State, after: State, changed: Collection[str] | None = None
    ) -> tuple[str, Explanation] | None:
        """Return the first property that a step breaks, and how; ``None`` if it keeps all.

        ``changed`` names the only variables that the step changed.
        """
        return None if self._checker is None else self._checker.broken_by(before, after, changed)

    def follows(self, before: State, observation: Observation) -> State | None:
        """Return the state after a step of which all was seen, unless something is wrong with it.

        ``None`` also if something of the step was not seen: then it takes a search.
        """
        action, parameters = observation.action, observation.parameters
        if action is None or parameters is None or None in parameters:
            return None
        values = {str(part[0]): value for part, value in observation.seen if len(part) == 1}
        if values.keys() != self._variables:
            return None
        after, changed = self._whole.reached(before, values)
        known = tuple(one for one in parameters if one is not None)
        if not self._whole.has_step(before, action, known, after):
            return None
        return None if self.broken_by(before, after, changed) else after

    def seen(self, observation: Observation) -> Seen:
        """Return an observation, ready to be compared; ``KraflaError`` if it does not fit."""
        return Seen(self.spec, observation, observation.place)

    def observation(
        self,
        action: str | None,
        parameters: Sequence[Any] | None,
        seen: Mapping[Any, Any] | None,
        place: str,
    ) -> Observation:
        """Return an observation of plain data; ``KraflaError`` if a value is none of TLA+."""
        if parameters is not None:
            parameters = tuple(
                None if one is ... else self.value(one, f"{place}, parameter {number} of {action}")
                for number, one in enumerate(parameters, start=1)
            )
        values = () if seen is None else tuple(self._parts(seen, place))
        return Observation(action, parameters, values, place)

    def _parts(self, seen: Mapping[Any, Any], place: str) -> list[tuple[Part, Value]]:
        found: list[tuple[Part, Value]] = []
        for key, value in seen.items():
            name, *path = key if isinstance(key, tuple) else (key,)
            where = f"{place}, {name}"
            part = (name, *(self.value(one, where) for one in path))
            found.append((part, self.value(value, where)))
        return found

    def value(self, plain: Any, place: str) -> Value:
        """Return plain Python data as a value of the spec; ``KraflaError`` if there is none."""
        try:
            return freeze(plain, self._models)
        except TypeError as error:
            raise KraflaError(f"{error}: give a text, a number or a model value", place) from None
