"""The steps a spec has from a state, of some of its actions, with parameters that can matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.oracle.errors import EvaluationError
from krafla.oracle.stepping import Stepper
from krafla.values import same

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from krafla.match.seen import Seen
    from krafla.oracle import Spec, State
    from krafla.oracle.actions import Branch
    from krafla.values import Value

__all__ = ["Choice", "Move", "Moves", "agrees"]

Move = tuple[str, "tuple[Value, ...]", "State"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How to choose the parameters of an action of which Next offers too few, or too many.

    ``parameters`` gives, for a state and for what is to be explained next, those worth a try.
    ``is_complete`` says that no other parameters could explain more.
    """

    action: str
    parameters: Callable[[State, Seen], Iterable[tuple[Value, ...]]]
    is_complete: bool = False


class Moves:
    """The steps of a spec from any of its states."""

    def __init__(self, spec: Spec, choices: Collection[Choice] = ()) -> None:
        self._spec = spec
        self._stepper = Stepper(spec)
        self._choices = {one.action: one for one in choices}
        self._branches: dict[str, list[Branch]] = {}
        for branch in spec.branches:
            self._branches.setdefault(branch.owner.name, []).append(branch)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all actions, in the order of the spec."""
        return tuple(self._branches)

    def guessed(self, names: Iterable[str]) -> list[str]:
        """Return those of the named actions of which not every parameter is tried."""
        chosen = (self._choices.get(name) for name in names)
        return [one.action for one in chosen if one is not None and not one.is_complete]

    def of(self, names: Iterable[str], state: State, seen: Seen) -> Iterator[Move]:
        """Yield every step of the named actions, with its parameters and the state after it."""
        for name in names:
            choice = self._choices.get(name)
            if choice is None:
                for branch in self._branches.get(name, ()):
                    yield from self._stepper.steps_by(branch, state)
            else:
                for parameters in choice.parameters(state, seen):
                    for after in self._outcomes(state, name, parameters):
                        yield name, parameters, after

    def claimed(self, state: State, seen: Seen) -> Iterator[Move]:
        """Yield every step of the observed action and parameters, wherever it leads."""
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
        except EvaluationError:
            # Next would not take the action with parameters for which it has no value.
            return ()


def agrees(parameters: tuple[Value, ...], given: tuple[Value | None, ...] | None) -> bool:
    """Return whether parameters are those that were seen, as far as they were."""
    return given is None or all(
        wanted is None or same(one, wanted) for one, wanted in zip(parameters, given, strict=True)
    )
