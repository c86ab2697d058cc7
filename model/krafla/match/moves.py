"""The steps of a spec from a state, restricted to some actions and to useful parameters."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError, IncompleteAction
from krafla.oracle.given import agrees
from krafla.oracle.steps import Stepper
from krafla.oracle.ways import is_whole
from krafla.values import ModelValue, distinct, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set

    from krafla.match.seen import Seen
    from krafla.oracle import Spec, State
    from krafla.oracle.actions import Branch
    from krafla.values import Value

__all__ = ["Choice", "Move", "Moves"]

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
    decides on some. ``is_whole``: with these parameters it is all that the spec calls the action.
    """

    def __init__(self, spec: Spec, branch: Branch) -> None:
        self.branch = branch
        self.is_whole = is_whole(spec, branch)
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


class _Offer:
    """What Next says of an action: the branches that lead to it.

    ``is_whole``: an operator of the module, with its parameters, is all of it. ``fixed`` are the
    parameters that Next gives to such an action in every state.
    """

    def __init__(self, ways: Iterable[_Way]) -> None:
        self.ways = tuple(ways)
        self.is_whole = all(way.is_whole for way in self.ways)
        found = (way.parameters for way in self.ways if way.parameters is not None)
        self.fixed = frozenset(found if self.is_whole else ())


_NOTHING = _Offer(())


@lru_cache(maxsize=8)
def _offers(spec: Spec, apart: frozenset[str]) -> dict[str, _Offer]:
    """Return what Next says of each action; nothing of those in ``apart``."""
    found: dict[str, list[_Way]] = {}
    for branch in spec.branches:
        ways = found.setdefault(branch.owner.name, [])
        if branch.owner.name not in apart:
            ways.append(_Way(spec, branch))
    return {name: _Offer(ways) for name, ways in found.items()}


class Moves:
    """The steps of a spec from any of its states."""

    def __init__(self, spec: Spec, choices: Collection[Choice] = ()) -> None:
        self._spec = spec
        self._stepper = Stepper(spec)
        self._choices = {one.action: one for one in choices}
        self._offers = _offers(spec, frozenset(self._choices))
        self._given: dict[tuple[str, int], tuple[Value, ...] | None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all actions, in the order of the spec."""
        return tuple(self._offers)

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
            for way in self._offer(name).ways:
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
            for way in self._offer(name).ways:
                if named is not None and not way.concerns(named):
                    yield from self._stepper.steps_by(way.branch, state)

    def _chosen(
        self, name: str, choices: Iterable[tuple[Value, ...]], state: State
    ) -> Iterator[Move]:
        for parameters in choices:
            for after in self.outcomes(state, name, parameters):
                yield name, parameters, after

    def offers(
        self, before: State, action: str, parameters: tuple[Value, ...], after: State
    ) -> bool:
        """Return whether Next offers a step that its action allows, with these parameters.

        The action alone may allow more: ``Acquire(c)`` says nothing of which ``c`` there are. An
        action that is none of Next is not judged.
        """
        offer = self._offer(action)
        if tuple(map(sort_key, parameters)) in offer.fixed:
            return True
        if offer.is_whole:
            return self.gives(before, action, parameters)
        leads = self._stepper.leads
        return _some(offer.ways, lambda way: leads(way.branch, before, parameters, after))

    def gives(self, state: State, action: str, parameters: tuple[Value, ...]) -> bool:
        """Return whether Next gives an action these parameters in a state, enabled or not.

        ``EvaluationError`` if TLC cannot evaluate or list a set from which they come.
        """
        offer = self._offer(action)
        if not offer.ways or tuple(map(sort_key, parameters)) in offer.fixed:
            return True
        return _some(offer.ways, lambda way: self._stepper.gives(way.branch, state, parameters))

    def outcomes(
        self,
        state: State,
        action: str,
        parameters: tuple[Value, ...],
        *,
        only_next: bool = False,
    ) -> tuple[State, ...]:
        """Return the states after a step of an action with these parameters.

        ``only_next``: none if Next does not give the action these parameters in this state. Without
        it, and of an action that is none of Next, the action alone decides, if an operator is all
        of it. ``EvaluationError`` if Next gives the parameters, and TLC cannot evaluate the action.
        """
        offer = self._offer(action)
        if not offer.is_whole:
            steps = (self._stepper.steps_with(way.branch, state, parameters) for way in offer.ways)
            return tuple(dict.fromkeys(after for one in steps for _, _, after in one))
        try:
            found = self._spec.outcomes(state, action, *parameters)
        except IncompleteAction:
            raise
        except EvaluationError:
            if offer.ways and self.gives(state, action, parameters):
                raise
            # Next would not take it with these parameters, so the spec has no fault here.
            return ()
        return () if found and only_next and not self.gives(state, action, parameters) else found

    def offered(self, action: str, state: State) -> Iterator[tuple[Value, ...]]:
        """Yield the parameters that Next gives an action in every state, then others in this one.

        Parameters from a set that TLC cannot list are left out.
        """
        for way in sorted(self._offer(action).ways, key=lambda one: one.parameters is None):
            with suppress(EvaluationError):
                for parameters, _ in self._stepper.choices(way.branch, state):
                    yield parameters

    def is_whole(self, action: str) -> bool:
        """Return whether an operator of the module, by the name of an action, is all of it."""
        return self._offer(action).is_whole

    def depends(self, action: str) -> bool:
        """Return whether the state decides on parameters that Next gives an action."""
        return any(way.parameters is None for way in self._offer(action).ways)

    def formulas(
        self, state: State, action: str, given: Sequence[Value | None] | None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the formulas of Next for an action with parameters that agree, with contexts.

        A set that TLC cannot list or evaluate has none.
        """
        for way in self._offer(action).ways:
            with suppress(EvaluationError):
                yield from self._stepper.formulas(way.branch, state, given or ())

    def _offer(self, action: str) -> _Offer:
        return self._offers.get(action, _NOTHING)

    def given_to(self, action: str, at: int) -> tuple[Value, ...] | None:
        """Return the values that Next gives a parameter; ``None`` if they depend on the state."""
        key = action, at
        if key not in self._given:
            ways = self._offer(action).ways
            found = [way.values[at] if at < len(way.values) else None for way in ways]
            known = [one for one in found if one is not None]
            is_known = bool(ways) and len(known) == len(ways)
            self._given[key] = distinct(known) if is_known else None
        return self._given[key]

    def claimed(self, state: State, seen: Seen, *, only_next: bool = False) -> Iterator[Move]:
        """Yield every step with the observed action and parameters, to any state.

        For ``only_next`` and ``EvaluationError`` see ``outcomes``.
        """
        action, given = seen.observation.action, seen.observation.parameters
        if action is None:
            yield from self.of(self.names, state, seen)
        elif given is not None and None not in given:
            known = tuple(one for one in given if one is not None)
            for after in self._ends(state, action, known, seen, only_next):
                yield action, known, after
        elif action in self._choices or given is None or all(one is None for one in given):
            for move in self.of((action,), state, seen):
                if agrees(move[1], given):
                    yield move
        else:
            for way in self._offer(action).ways:
                yield from self._stepper.steps_with(way.branch, state, given)

    def _ends(
        self,
        state: State,
        action: str,
        known: tuple[Value, ...],
        seen: Seen,
        only_next: bool,
    ) -> tuple[State, ...]:
        try:
            return self.outcomes(state, action, known, only_next=only_next)
        except IncompleteAction:
            raise
        except EvaluationError:
            end = seen.state
            if end is None:
                raise
            # TLC cannot list the states after the action, but may tell whether this is one.
            leads, ways = self._stepper.leads, self._offer(action).ways
            has_it = _some(ways, lambda way: leads(way.branch, state, known, end))
            return (end,) if has_it else ()


def _some(ways: Iterable[_Way], is_so: Callable[[_Way], bool]) -> bool:
    """Return whether something is so of a branch; one that cannot tell counts if all deny it."""
    doubt: EvaluationError | None = None
    for way in ways:
        try:
            if is_so(way):
                return True
        except EvaluationError as error:
            doubt = error
    if doubt is not None:
        raise doubt
    return False
