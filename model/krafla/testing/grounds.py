"""What all judges of one spec share: its moves, its properties, and how values are read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from krafla.match.moves import Moves
from krafla.match.property_checker import PropertyChecker, configured_properties
from krafla.match.seen import Seen
from krafla.match.spec_source import text_of
from krafla.oracle.constants import given_constants
from krafla.oracle.properties import Properties
from krafla.traces import Observation, Origin
from krafla.values import ModelValue, freeze
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    def broken_by(self, before: State, after: State) -> tuple[str, Explanation] | None:
        """Return the first property that a step breaks, and how; ``None`` if it keeps all."""
        return None if self._checker is None else self._checker.broken_by(before, after)

    def seen(
        self,
        action: str | None,
        parameters: Sequence[Any] | None,
        seen: Mapping[Any, Any] | None,
        place: str,
    ) -> Seen:
        """Return an observation, ready to be compared; ``KraflaError`` if it does not fit."""
        if parameters is not None:
            parameters = tuple(
                None if one is ... else self.value(one, f"{place}, parameter {number} of {action}")
                for number, one in enumerate(parameters, start=1)
            )
        values = () if seen is None else tuple(self._parts(seen, place))
        return Seen(self.spec, Observation(action, parameters, values, place), place)

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
