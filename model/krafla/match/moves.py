"""The steps of a spec from a state, restricted to some actions and to useful parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError, IncompleteAction
from krafla.oracle.steps import Stepper
from krafla.values import ModelValue, same, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Set

    from krafla.match.seen import Seen
    from krafla.oracle import Spec, State
    from krafla.oracle.actions import Branch
    from krafla.values import Value

__all__ = ["Choice", "Move", "Moves", "agrees"]

Move = tuple[str, "tuple[Value, ...]", "State"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How to choose the parameters of an action for which Next offers too few or too many.

    From a state and the next observation, ``likely`` gives the parameters that they suggest, and
    ``others`` gives more that are worth a try. ``is_complete``: no other parameters could explain
    more. ``together`` names the variables in which the action changes many results at once: all
    differences in one of them count as one.
    """

    action: str
    likely: Callable[[State, Seen], Iterable[tuple[Value, ...]]]
    others: Callable[[State, Seen], Iterable[tuple[Value, ...]]]
    is_complete: bool = False
    together: tuple[str, ...] = ()


class _Way:
    """A branch of Next that leads to an action, with the parameter values that it fixes.

    ``values`` are those of the parameters in order, ``None`` where the state decides.
    ``parameters`` are all of them, in a form that compares as TLA+ does; ``None`` if the state
    decides on some.
    """

    def __init__(self, spec: Spec, branch: Branch) -> None:
        self.branch = branch
        self.action = spec.classes("tlc2.tool.Action")(branch.node, branch.context)
        self.given: frozenset[Value] = frozenset()
        self.parameters: tuple[Any, ...] | None = None
        self.values: tuple[Value | None, ...] = ()
        if not branch.is_application:
            found = [branch.context.lookup(formal) for formal in branch.owner.formals]
            convert = spec.converter.to_python
            self.values = tuple(None if one is None else convert(one) for one in found)
            values = [one for one in self.values if one is not None]
            # A number or a truth value does not name a node.
            self.given = frozenset(one for one in values if isinstance(one, str | ModelValue))
            if len(values) == len(found):
                self.parameters = tuple(map(sort_key, values))

    def concerns(self, named: Set[Value]) -> bool:
        """Return whether the branch fixes no value, or one of those named."""
        return not self.given or not self.given.isdisjoint(named)


@lru_cache(maxsize=8)
def _ways(spec: Spec, apart: frozenset[str]) -> dict[str, list[_Way]]:
    """Return the branches of Next for each action; none for those in ``apart``."""
    found: dict[str, list[_Way]] = {}
    for branch in spec.branches:
        ways = found.setdefault(branch.owner.name, [])
        if branch.owner.name not in apart:
            ways.append(_Way(spec, branch))
    return found


class Moves:
    """The steps of a spec from any of its states."""

    def __init__(self, spec: Spec, choices: Collection[Choice] = ()) -> None:
        self._spec = spec
        self._stepper = Stepper(spec)
        self._choices = {one.action: one for one in choices}
        self._ways = _ways(spec, frozenset(self._choices))
        self._offered: dict[str, frozenset[tuple[Any, ...]]] = {}
        self._given: dict[tuple[str, int], tuple[Value, ...] | None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all actions, in the order of the spec."""
        return tuple(self._ways)

    @property
    def together(self) -> frozenset[str]:
        """Return the variables in which one step changes many results at once."""
        return frozenset(name for one in self._choices.values() for name in one.together)

    def guessed(self, names: Iterable[str]) -> list[str]:
        """Return the named actions whose parameters are not all tried."""
        chosen = (self._choices.get(name) for name in names)
        return [one.action for one in chosen if one is not None and not one.is_complete]

    def of(self, names: Iterable[str], state: State, seen: Seen) -> Iterator[Move]:
        """Yield every step of the named actions, with its parameters and the state after it."""
        wanted = tuple(names)
        yield from self.likely(wanted, state, seen, None)
        yield from self.others(wanted, state, seen, None)

    def likely(
        self, names: Iterable[str], state: State, seen: Seen, named: Set[Value] | None
    ) -> Iterator[Move]:
        """Yield the steps that concern one of the ``named`` values; all steps for ``None``."""
        for name in names:
            choice = self._choices.get(name)
            if choice is not None:
                yield from self._chosen(name, choice.likely(state, seen), state)
            for way in self._ways.get(name, ()):
                if named is None or way.concerns(named):
                    yield from self._stepper.steps_by(way.branch, state)

    def others(
        self, names: Iterable[str], state: State, seen: Seen, named: Set[Value] | None
    ) -> Iterator[Move]:
        """Yield the steps that ``likely`` omits."""
        for name in names:
            choice = self._choices.get(name)
            if choice is not None:
                yield from self._chosen(name, choice.others(state, seen), state)
            for way in self._ways.get(name, ()):
                if named is not None and not way.concerns(named):
                    yield from self._stepper.steps_by(way.branch, state)

    def _chosen(
        self, name: str, choices: Iterable[tuple[Value, ...]], state: State
    ) -> Iterator[Move]:
        for parameters in choices:
            for after in self._outcomes(state, name, parameters):
                yield name, parameters, after

    def offers(
        self, before: State, action: str, parameters: tuple[Value, ...], after: State
    ) -> bool:
        """Return whether Next offers a step of an action, with parameters that it takes.

        The action alone may allow more: ``Acquire(c)`` says nothing of which ``c`` there are. An
        action that is none of Next is not judged.
        """
        ways = self._ways.get(action)
        if not ways:
            return True
        offered = self._offered.get(action)
        if offered is None:
            found = (way.parameters for way in ways if way.parameters is not None)
            offered = self._offered[action] = frozenset(found)
        if tuple(map(sort_key, parameters)) in offered:
            return True
        valid = self._spec.tool.isValid
        try:
            return any(
                self._spec.asked(valid, way.action, before.java, after.java)
                for way in ways
                if way.parameters is None
            )
        except EvaluationError:
            # It takes its parameters from a set that TLC cannot list: the action alone decides.
            return True

    def offered(self, action: str) -> Iterator[tuple[Value, ...]]:
        """Yield the parameters that Next gives an action whatever the state is."""
        convert = self._spec.converter.to_python
        for way in self._ways.get(action, ()):
            if way.parameters is not None:
                owner, context = way.branch.owner, way.branch.context
                yield tuple(convert(context.lookup(formal)) for formal in owner.formals)

    def given_to(self, action: str, at: int) -> tuple[Value, ...] | None:
        """Return the values that Next gives a parameter; ``None`` if they depend on the state."""
        key = action, at
        if key not in self._given:
            ways = self._ways.get(action, ())
            found = [way.values[at] if at < len(way.values) else None for way in ways]
            known = [one for one in found if one is not None]
            is_known = bool(ways) and len(known) == len(ways)
            self._given[key] = tuple(dict.fromkeys(known)) if is_known else None
        return self._given[key]

    def claimed(self, state: State, seen: Seen) -> Iterator[Move]:
        """Yield every step with the observed action and parameters, to any state."""
        action, given = seen.observation.action, seen.observation.parameters
        if action is None:
            yield from self.of(self.names, state, seen)
        elif given is not None and None not in given:
            known = tuple(one for one in given if one is not None)
            for after in self._outcomes(state, action, known):
                yield action, known, after
        else:
            for move in self.of((action,), state, seen):
                if agrees(move[1], given):
                    yield move

    def _outcomes(
        self, state: State, action: str, parameters: tuple[Value, ...]
    ) -> tuple[State, ...]:
        try:
            return self._spec.outcomes(state, action, *parameters)
        except IncompleteAction:
            raise
        except EvaluationError:
            # With these parameters the action cannot be evaluated, so Next would not take it.
            return ()


def agrees(parameters: tuple[Value, ...], given: tuple[Value | None, ...] | None) -> bool:
    """Return whether parameters equal the observed ones, where these are known."""
    return given is None or all(
        wanted is None or same(one, wanted) for one, wanted in zip(parameters, given, strict=True)
    )
