"""An observation of a state, prepared for comparison with thousands of states."""

from __future__ import annotations

from collections.abc import Mapping, Set  # noqa: TC003 - used in annotations of constants
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.counted import counted
from krafla.manifest import meant
from krafla.oracle.actions import NamedAction
from krafla.oracle.difference import Difference, difference, differences
from krafla.oracle.errors import SpecError
from krafla.traces.spec_facts import facts_of
from krafla.traces.trace import INITIAL
from krafla.values import Function, ModelValue, Value, function, same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.oracle import Spec, State
    from krafla.traces import Observation
    from krafla.traces.partial import Part

__all__ = ["Seen", "named_actions", "with_part"]

_REMEMBERED: Final = 20_000
_NONE: Final[frozenset[Value]] = frozenset()
# Stands for a value that has no parts.
_WHOLE: Final[frozenset[Value]] = frozenset({""})
_NOTHING: Final[Mapping[str, Set[Value]]] = {}


class Seen:
    """The parts of a state that an observation gives values for.

    ``values`` are the variables that were seen whole, ``parts`` the variables of which a part was
    seen. If all variables were seen whole, ``state`` is the only state that fits. All differences
    in one variable of ``together`` count as one. ``KraflaError``, with the place, if the spec lacks
    the action or a variable, the number of parameters is wrong, or a variable was seen twice.
    """

    def __init__(
        self,
        spec: Spec,
        observation: Observation,
        place: str,
        together: frozenset[str] = frozenset(),
    ) -> None:
        self.spec = spec
        self.observation = observation
        self.place = place
        self._together = together
        self.values: dict[str, Value] = {}
        self.parts: list[tuple[str, Part, Value]] = []
        for part, value in observation.seen:
            self._add(part, value)
        for name, _, _ in self.parts:
            if name in self.values:
                what = f"{name} was seen whole and in part: show it once"
                raise KraflaError(what, place)
        _check_action(spec, observation, place)
        whole = len(self.values) == len(spec.variables)
        self.state: State | None = spec.state(self.values) if whole else None
        self._apart: dict[tuple[str, int], tuple[Value, frozenset[Value]]] = {}

    def fits(self, state: State) -> bool:
        """Return whether a state agrees with the observation."""
        if self.state is not None:
            return state.fingerprint == self.state.fingerprint
        return all(same(state[name], value) for name, value in self.values.items()) and all(
            _part_is(state[name], path, value) for name, path, value in self.parts
        )

    def distance(self, state: State, touched: Mapping[str, Set[Value]] = _NOTHING) -> int:
        """Return in how many parts a state differs from what was seen.

        In each variable, the results for the arguments ``touched`` do not count.
        """
        apart = 0
        for name, path, value in self.parts:
            if not _part_is(state[name], path, value):
                apart += path[0] not in touched.get(name, ())
        for name, wanted in self.values.items():
            got = state[name]
            if got is not wanted:
                differing = self._differing(name, wanted, got)
                count = len(differing - touched[name]) if name in touched else len(differing)
                apart += min(count, 1) if name in self._together else count
        return apart

    def concerned(self, state: State) -> Set[Value]:
        """Return the values that the difference to a state and the observed step name.

        These are the arguments at which a result differs, and the values in the results there.
        """
        found = set(_named_in(self.observation.parameters or ()))
        for name, wanted in self.values.items():
            got = state[name]
            if got is not wanted:
                for argument in self._differing(name, wanted, got):
                    found.update(_named_in((argument,)))
                    for other in self.values:
                        inside = _inside(state[other], (argument,))
                        if inside is not None:
                            found.update(_named_in((inside,)))
        for _, path, _ in self.parts:
            found.update(_named_in(path))
        return found

    def spoken_of(self) -> Mapping[str, Set[Value]]:
        """Return the arguments at which the observed step may change results: its parameters.

        This is a guess, used until a state is met in which the step is enabled.
        """
        spoken = frozenset(_named_in(self.observation.parameters or ()))
        return dict.fromkeys(self.spec.variables, spoken)

    def touched_by(self, before: State, after: State) -> dict[str, Set[Value]]:
        """Return for each variable the arguments at which a step changed its results."""
        names = {*self.values, *(name for name, _, _ in self.parts)}
        found = {name: arguments_apart(before[name], after[name]) for name in sorted(names)}
        return {name: arguments for name, arguments in found.items() if arguments}

    def differences(self, state: State) -> tuple[Difference, ...]:
        """Return where a state (expected) differs from what was seen (got)."""
        found = [
            detail
            for name, value in self.values.items()
            for detail in differences(name, state[name], value)
        ]
        for name, path, value in self.parts:
            inside = _inside(state[name], path)
            if inside is None:
                found.append(difference((name, *path), None, value))
            else:
                found += differences((name, *path), inside, value)
        return tuple(found)

    def completed(self, state: State) -> Mapping[str, Value]:
        """Return the variables that were seen, with the unseen parts taken from a state.

        A part that was seen but is missing in the state is left out.
        """
        found: dict[str, Value] = dict(self.values)
        for name, path, value in self.parts:
            found[name] = with_part(found.get(name, state[name]), path, value)
        return found

    def _add(self, part: Part, value: Value) -> None:
        name, *path = part
        if name not in self.spec.variables:
            near = meant(str(name), self.spec.variables)
            raise KraflaError(f"{name}: no variable of {self.spec.name}{near}", self.place)
        if path:
            self.parts.append((str(name), tuple(path), value))
        elif name in self.values:
            raise KraflaError(f"{name} was seen twice: show it once", self.place)
        else:
            self.values[str(name)] = value

    def _differing(self, name: str, wanted: Value, got: Value) -> frozenset[Value]:
        # The converter returns one object for equal values, so the identity can be the key. The
        # object is kept here, so that no other object can get that identity.
        key = (name, id(got))
        known = self._apart.get(key)
        if known is None:
            if len(self._apart) >= _REMEMBERED:
                self._apart.clear()
            known = self._apart[key] = (got, arguments_apart(wanted, got))
        return known[1]


@lru_cache(maxsize=8)
def named_actions(spec: Spec) -> tuple[NamedAction, ...]:
    """Return the actions that an observation may name: those of Next, and those it offers none of.

    A model says which requests are stray, for example; the spec by itself has none, and a trace
    has its own.
    """
    offered = {one.name for one in spec.actions}
    others = (name for name in facts_of(spec.name).unoffered if name not in offered)
    found = (_unoffered(spec, name) for name in others)
    return (*spec.actions, *(one for one in found if one is not None))


@lru_cache(maxsize=8)
def _actions_by_name(spec: Spec) -> Mapping[str, NamedAction]:
    return {one.name: one for one in named_actions(spec)}


def _unoffered(spec: Spec, name: str) -> NamedAction | None:
    try:
        definition = spec.definition(name)
    except SpecError:
        # A trace may carry another text of the spec.
        return None
    formals = tuple(str(one.getName().toString()) for one in definition.getParams())
    return NamedAction(name, formals, spec.sources.place(definition))


def _check_action(spec: Spec, observation: Observation, place: str) -> None:
    if observation.action in {None, INITIAL}:
        return
    actions = _actions_by_name(spec)
    named = actions.get(str(observation.action))
    if named is None:
        near = meant(str(observation.action), list(actions))
        raise KraflaError(f"{observation.action}: no action of {spec.name}{near}", place)
    given = observation.parameters
    if given is not None and len(given) != len(named.parameters):
        raise KraflaError(
            f"{named} takes {counted(len(named.parameters), 'parameter')}, not {len(given)}", place
        )


def _inside(value: Value, path: Part) -> Value | None:
    for argument in path:
        if isinstance(value, Function):
            argument = _argument(argument, value)
            if argument not in value:
                return None
            value = value[argument]
        elif isinstance(value, tuple) and type(argument) is int and 1 <= argument <= len(value):
            value = value[argument - 1]
        else:
            return None
    return value


def _argument(given: Value, entries: Mapping[Value, Value]) -> Value:
    """Return an argument of a function; a model value that it lacks may name a field.

    Where a string was given, the reader cannot know whether it is the one or the other.
    """
    if isinstance(given, ModelValue) and given not in entries and given.name in entries:
        return given.name
    return given


def _part_is(value: Value, path: Part, wanted: Value) -> bool:
    inside = _inside(value, path)
    return inside is not None and same(inside, wanted)


def with_part(value: Value, path: Part, new: Value) -> Value:
    """Return a value with another part; the same value if it does not have that part."""
    if not path:
        return new
    given, *rest = path
    entries = _entries(value)
    argument = _argument(given, entries)
    if argument not in entries:
        return value
    return function(entries | {argument: with_part(entries[argument], tuple(rest), new)})


def _entries(value: Value) -> dict[Value, Value]:
    if isinstance(value, Function):
        return dict(value)
    return dict(enumerate(value, 1)) if isinstance(value, tuple) else {}


def _named_in(values: Iterable[Value | None]) -> Iterator[Value]:
    """Yield the functions, strings and model values in values: possible nodes and messages."""
    for value in values:
        if isinstance(value, str | ModelValue | Function):
            yield value
        if isinstance(value, Function):
            yield from _named_in(value.values())
        elif isinstance(value, tuple | frozenset):
            yield from _named_in(value)


def arguments_apart(left: Value, right: Value) -> frozenset[Value]:
    """Return the arguments at which two functions differ, or the members of only one set.

    For values without parts the empty string stands for the whole value.
    """
    if same(left, right):
        return _NONE
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        return left ^ right or frozenset({left})
    if isinstance(left, Function | tuple) and isinstance(right, Function | tuple):
        one, other = _entries(left), _entries(right)
        return frozenset(
            key
            for key in {*one, *other}
            if key not in one or key not in other or not same(one[key], other[key])
        )
    return _WHOLE
