"""What was seen of a state, prepared for comparing it with thousands of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.difference import Difference, differences
from krafla.traces.trace import INITIAL
from krafla.values import Function, Value, fmt, function, same, sorted_values
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.oracle import Spec, State
    from krafla.traces import Observation
    from krafla.traces.partial import Part

__all__ = ["Seen"]

_REMEMBERED = 20_000


class Seen:
    """The parts of a state that an observation gives values for.

    ``values`` are the variables that were seen whole, ``parts`` those of which only a part was.
    If every variable was, ``state`` is the only state that fits. ``KraflaError`` names the place
    of an action, a number of parameters or a variable that the spec has not.
    """

    def __init__(self, spec: Spec, observation: Observation, place: str) -> None:
        self.spec = spec
        self.observation = observation
        self.place = place
        self.values: dict[str, Value] = {}
        self.parts: list[tuple[str, Part, Value]] = []
        for part, value in observation.seen:
            self._add(part, value)
        _check_action(spec, observation, place)
        whole = len(self.values) == len(spec.variables)
        self.state: State | None = spec.state(self.values) if whole else None
        self._apart: dict[tuple[str, int], tuple[Value, int]] = {}

    def fits(self, state: State) -> bool:
        """Return whether a state is as it was seen."""
        if self.state is not None:
            return state.fingerprint == self.state.fingerprint
        return all(same(state[name], value) for name, value in self.values.items()) and all(
            _part_is(state[name], path, value) for name, path, value in self.parts
        )

    def distance(self, state: State) -> int:
        """Return how many parts of what was seen are otherwise in a state."""
        apart = sum(not _part_is(state[name], path, value) for name, path, value in self.parts)
        for name, wanted in self.values.items():
            got = state[name]
            if got is not wanted:
                apart += self._counted(name, wanted, got)
        return apart

    def differences(self, state: State) -> tuple[Difference, ...]:
        """Return where a state (expected) is not as it was seen (got)."""
        found = [
            detail
            for name, value in self.values.items()
            for detail in differences(name, state[name], value)
        ]
        for name, path, value in self.parts:
            place = name + "".join(f"[{fmt(argument)}]" for argument in path)
            inside = _inside(state[name], path)
            if inside is None:
                found.append(Difference(place, None, value))
            else:
                found += differences(place, inside, value)
        return tuple(found)

    def completed(self, state: State) -> Mapping[str, Value]:
        """Return the values of a state for the variables that were seen, as far as they were not.

        A part that the state does not have at all is left as it is there.
        """
        found: dict[str, Value] = dict(self.values)
        for name, path, value in self.parts:
            found[name] = _replaced(found.get(name, state[name]), path, value)
        return found

    def _add(self, part: Part, value: Value) -> None:
        name, *path = part
        if name not in self.spec.variables:
            known = ", ".join(self.spec.variables)
            raise KraflaError(
                f"{name}: no variable of {self.spec.name} (it has {known})", self.place
            )
        if path:
            self.parts.append((str(name), tuple(path), value))
        else:
            self.values[str(name)] = value

    def _counted(self, name: str, wanted: Value, got: Value) -> int:
        # The converter gives equal values as one object, so its identity is a key; it is kept
        # here, so that no other object can have it.
        key = (name, id(got))
        known = self._apart.get(key)
        if known is None:
            if len(self._apart) >= _REMEMBERED:
                self._apart.clear()
            known = self._apart[key] = (got, _parts_apart(wanted, got))
        return known[1]


def _check_action(spec: Spec, observation: Observation, place: str) -> None:
    if observation.action in {None, INITIAL}:
        return
    named = next((one for one in spec.actions if one.name == observation.action), None)
    if named is None:
        known = ", ".join(sorted(one.name for one in spec.actions))
        raise KraflaError(f"{observation.action}: no action of {spec.name} (it has {known})", place)
    given = observation.parameters
    if given is not None and len(given) != len(named.parameters):
        raise KraflaError(
            f"{named} takes {len(named.parameters)} parameters, not {len(given)}", place
        )


def _inside(value: Value, path: Part) -> Value | None:
    for argument in path:
        if isinstance(value, Function):
            if argument not in value:
                return None
            value = value[argument]
        elif isinstance(value, tuple) and type(argument) is int and 1 <= argument <= len(value):
            value = value[argument - 1]
        else:
            return None
    return value


def _part_is(value: Value, path: Part, wanted: Value) -> bool:
    inside = _inside(value, path)
    return inside is not None and same(inside, wanted)


def _replaced(value: Value, path: Part, new: Value) -> Value:
    if not path:
        return new
    argument, *rest = path
    entries = _entries(value)
    if argument not in entries:
        return value
    return function(entries | {argument: _replaced(entries[argument], tuple(rest), new)})


def _entries(value: Value) -> dict[Value, Value]:
    if isinstance(value, Function):
        return dict(value)
    return dict(enumerate(value, 1)) if isinstance(value, tuple) else {}


def _parts_apart(wanted: Value, got: Value) -> int:
    """Return how many members, or results of a function, are in one of the two only."""
    if same(wanted, got):
        return 0
    if isinstance(wanted, frozenset) and isinstance(got, frozenset):
        return max(1, len(wanted ^ got))
    if isinstance(wanted, Function | tuple) and isinstance(got, Function | tuple):
        left, right = _entries(wanted), _entries(got)
        return sum(
            key not in left or key not in right or not same(left[key], right[key])
            for key in sorted_values({*left, *right})
        )
    return 1
