"""Whether TLC reaches a state: the search in a small model, and the way to the state."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from krafla.manifest import search_path
from krafla.oracle import EvaluationError, Spec, SpecError, explore
from krafla.proofs.types import INTEGER, FunctionType
from krafla.values import Function, same, sort_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from krafla.oracle import Exploration, State
    from krafla.proofs.theory import Theory
    from krafla.values import Value

    _Explored: TypeAlias = tuple[Spec, Exploration, dict[int, int]]

__all__ = ["Reach", "Reached"]

_STATES = 40_000
# Numbers up to this are always within the bounds, so that one search serves many states.
_NUMBER = 3


@dataclass(frozen=True, slots=True)
class _Stopped:
    """A search that TLC could not make, and the initial states before it."""

    error: EvaluationError | SpecError
    initial: tuple[State, ...] = ()

    def begins(self, before: Mapping[str, Value]) -> State | None:
        """Return the initial state with these values, if there is one."""
        return next(
            (one for one in self.initial if all(same(one[k], v) for k, v in before.items())), None
        )


@dataclass(frozen=True, slots=True)
class Reached:
    """The result of a search: a shortest way to the state, or None if it was not found.

    Each entry of ``path`` is an action and the state after it; the first action is ``Init``.
    ``is_complete``: all states within ``bounds`` were searched. ``stopped`` is TLC's complaint
    where it could not go on.
    """

    path: tuple[tuple[str, State], ...] | None
    states: int
    is_complete: bool
    bounds: str
    stopped: str = ""

    def __str__(self) -> str:
        if self.path is not None:
            count = len(self.path) - 1
            return f"reached in {count} {'step' if count == 1 else 'steps'}"
        how = "all" if self.is_complete else "the first"
        within = f" with {self.bounds}" if self.bounds else ""
        stopped = f", as TLC stops there: {self.stopped}" if self.stopped else ""
        return f"not reached in {how} {self.states:,} states{within}{stopped}"


@dataclass(slots=True)
class Reach:
    """Searches in one theory. Explored states are kept for the next search with the same bounds.

    Only steps that satisfy the ``step_conditions`` are taken.
    """

    theory: Theory
    specs: Path
    path: Path
    step_conditions: tuple[str, ...] = ()
    _together: dict[object, set[object]] = field(default_factory=dict)
    _known: dict[tuple[object, ...], _Explored | _Stopped] = field(default_factory=dict)

    def search(
        self, constants: Mapping[str, Value], before: Mapping[str, Value]
    ) -> Reached:  # fmt: skip
        """Return whether a behaviour from Init has a state, given as values of the variables."""
        limits = self._limits(before)
        bounds = " /\\ ".join(f"{measure} <= {most}" for measure, most in limits)
        key = self._key(constants, before)
        if key not in self._known:
            self._known[key] = self._explored(constants, limits)
        known = self._known[key]
        if isinstance(known, _Stopped):
            begins = known.begins(before)
            only = None if begins is None else (("Init", begins),)
            return Reached(only, len(known.initial), False, bounds, str(known.error))
        spec, found, index = known
        state = spec.state(before)
        at = index.get(state.fingerprint)
        path = None if at is None else found.path(at)
        return Reached(path, found.distinct, found.is_complete, bounds)

    def never_together(
        self, constants: Mapping[str, Value], before: Mapping[str, Value]
    ) -> tuple[str, ...]:
        """Return a few variables whose values in a state no reached state has together.

        They are at most three, or else all variables: fewer variables rule out more states.
        """
        key = self._key(constants, before)
        known = self._known[key]
        if isinstance(known, _Stopped):
            return self.theory.variables
        _, found, _ = known
        for size in (1, 2, 3):
            for variables in combinations(self.theory.variables, size):
                at = (key, variables)
                if at not in self._together:
                    self._together[at] = {
                        tuple(sort_key(state[name]) for name in variables) for state in found.states
                    }
                if tuple(sort_key(before[name]) for name in variables) not in self._together[at]:
                    return variables
        return self.theory.variables

    def _key(
        self, constants: Mapping[str, Value], before: Mapping[str, Value]
    ) -> tuple[object, ...]:
        return (
            *self._limits(before),
            *sorted(f"{name}={value}" for name, value in constants.items()),
        )

    def _explored(
        self, constants: Mapping[str, Value], limits: Sequence[tuple[str, int]]
    ) -> _Explored | _Stopped:
        parts = [f"KraflaIntegers!\\leq({_instanced(measure)}, {most})" for measure, most in limits]
        try:
            spec = Spec.load(
                self.theory.name, constants, path=self.path,
                search_path=search_path(self.specs, self.path),
                expressions={"WithinBounds": " /\\ ".join(parts) or "TRUE"},
                constraints=["WithinBounds"], action_constraints=self.step_conditions,
            )  # fmt: skip
        except (EvaluationError, SpecError) as error:
            # An ASSUME breaks or has no meaning with these constants, which z3 takes for true.
            return _Stopped(error)
        initial: list[State] = []
        try:
            initial = spec.initial_states()
            found = explore(spec, limit=_STATES)
        except (EvaluationError, SpecError) as error:
            # What an action evaluates has no meaning in some state that TLC reaches, perhaps in
            # the one that is looked for.
            return _Stopped(error, tuple(initial))
        index = {state.fingerprint: number for number, state in enumerate(found.states)}
        return spec, found, index

    def _limits(self, state: Mapping[str, Value]) -> list[tuple[str, int]]:
        """Return the bounds of a search for a state: its largest numbers and bags."""
        limits = []
        for variable, type_ in self.theory.types.items():
            value = state[variable]
            if type_ == INTEGER:
                assert isinstance(value, int)
                limits.append((variable, max(value, _NUMBER)))
            elif isinstance(type_, FunctionType) and not type_.is_total:
                assert isinstance(value, tuple | Function)
                limits.append((f"Cardinality(DOMAIN {variable})", max(1, len(value))))
        return limits


def _instanced(measure: str) -> str:
    """Return a measure with the operator of the module that the wrapper has an instance of."""
    return measure.replace("Cardinality(", "KraflaFiniteSets!Cardinality(", 1)
