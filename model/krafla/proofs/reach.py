"""Whether TLC reaches a state: the states of a small model, and the way to one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from krafla.manifest import search_path
from krafla.oracle import Spec, explore
from krafla.proofs.types import INTEGER, FunctionType
from krafla.values import Function

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.oracle import Exploration, State
    from krafla.proofs.theory import Theory
    from krafla.values import Value

__all__ = ["Reach", "Reached"]

_STATES = 40_000


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a search went: a shortest way to the state, or None if it was not met.

    Each entry of ``path`` is an action and the state it led to; the first is ``Init``.
    ``is_complete`` says that all states within ``bounds`` were looked at.
    """

    path: tuple[tuple[str, State], ...] | None
    states: int
    is_complete: bool
    bounds: str

    def __str__(self) -> str:
        if self.path is not None:
            return f"reached in {len(self.path) - 1} steps"
        how = "all" if self.is_complete else "the first"
        return f"not reached: {how} {self.states:,} states with {self.bounds}"


@dataclass(slots=True)
class Reach:
    """Searches of one theory; what was explored is kept for the next state with the same bounds."""

    theory: Theory
    specs: Path
    path: Path
    _known: dict[tuple[object, ...], tuple[Spec, Exploration, dict[int, int]]] = field(
        default_factory=dict
    )

    def search(
        self, constants: Mapping[str, Value], before: Mapping[str, Value]
    ) -> Reached:  # fmt: skip
        """Return whether behaviours from Init meet a state, given as values of the variables."""
        bounds = self._bounds(before)
        key = (bounds, *sorted(map(str, constants.items())))
        if key not in self._known:
            self._known[key] = self._explored(constants, bounds)
        spec, found, index = self._known[key]
        state = spec.state(before)
        at = index.get(state.fingerprint)
        path = None if at is None else found.path(at)
        return Reached(path, found.distinct, found.is_complete, bounds)

    def _explored(
        self, constants: Mapping[str, Value], bounds: str
    ) -> tuple[Spec, Exploration, dict[int, int]]:
        spec = Spec.load(
            self.theory.name, constants, path=self.path,
            search_path=search_path(self.specs, self.path),
            expressions={"WithinBounds": bounds}, constraints=["WithinBounds"],
        )  # fmt: skip
        found = explore(spec, limit=_STATES)
        index = {state.fingerprint: number for number, state in enumerate(found.states)}
        return spec, found, index

    def _bounds(self, state: Mapping[str, Value]) -> str:
        """Return what keeps the search near the state: no greater numbers, no larger bags."""
        parts = []
        for variable, type_ in self.theory.types.items():
            value = state[variable]
            if type_ == INTEGER:
                parts.append(f"{variable} <= {value}")
            elif isinstance(type_, FunctionType) and not type_.is_total:
                assert isinstance(value, tuple | Function)
                parts.append(f"Cardinality(DOMAIN {variable}) <= {max(1, len(value))}")
        return " /\\ ".join(parts)
