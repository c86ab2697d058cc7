"""Where one guard alone stops an action: the nearest state for each guard of a spec.

There a program that forgets this check does what the spec does not allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle.batch import Batch
from krafla.oracle.errors import EvaluationError
from krafla.oracle.exploration import CHUNK
from krafla.oracle.guards import Guards
from krafla.oracle.jvm import java_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.graph.state_graph import StateGraph
    from krafla.oracle.actions import Branch
    from krafla.oracle.guards import Guard, Instance

__all__ = ["lone_guards"]

_FALSE, _TRUE = 0, 1


def lone_guards(graph: StateGraph) -> dict[Guard, int]:
    """Return each guard that alone stops its action somewhere, with the first such state.

    States are numbered in order of discovery, so the first one is a nearest one. A guard that TLC
    cannot evaluate in a state, since another one is false there, does not count as false.
    """
    search = _GuardSearch(graph)
    with graph.found.spec.reduced():
        search.run()
    return {guard: search.found[guard] for guard in search.guards.all() if guard in search.found}


class _GuardSearch:
    def __init__(self, graph: StateGraph) -> None:
        self._graph = graph
        self._states = graph.found.states
        self._batch = Batch(graph.found.spec)
        self.guards = Guards(graph.found.spec)
        self.found: dict[Guard, int] = {}
        self._columns: dict[str, Sequence[int]] = {}

    def run(self) -> None:
        """Find the states, branch by branch."""
        for branch in self.guards.branches:
            if branch.is_fixed:
                self._look_in_all(self.guards.fixed(branch))
            else:
                self._look_one_by_one(branch)

    def _look_one_by_one(self, branch: Branch) -> None:
        guards = self.guards.of(branch)
        columns = [self._column(name) for name in sorted(self.guards.reads(branch))]
        seen: set[tuple[int, ...]] = set()
        for index in range(len(self._states)):
            if not any(self._is_sought(guard, index) for guard in guards):
                return
            # States that the guards cannot tell apart give the same answer.
            key = tuple([column[index] for column in columns])
            if key in seen:
                continue
            seen.add(key)
            state = self._states[index]
            for _, instances in self.guards.choices(branch, state):
                self._note(self.guards.lone_false(instances, state), index)

    def _column(self, variable: str) -> Sequence[int]:
        """Return for each state the number of a variable's value."""
        known = self._columns.get(variable)
        if known is None:
            known = self._columns[variable] = self._graph.found.values(variable)[0]
        return known

    def _look_in_all(self, instances: tuple[Instance, ...]) -> None:
        of_state = [one for one in instances if one.is_of_state]
        of_step = [one for one in instances if not one.is_of_state]
        for start in range(0, len(self._states), CHUNK):
            end = min(start + CHUNK, len(self._states))
            columns = [self._truths(one, start, end) for one in of_state]
            for index in range(start, end):
                false = [
                    one
                    for one, column in zip(of_state, columns, strict=True)
                    if column[index - start] == _FALSE
                ]
                if len(false) == 1 and self._is_sought(false[0].guard, index):
                    state = self._states[index]
                    if not any(self.guards.is_false(one, state) for one in of_step):
                        self._note(false[0].guard, index)
                elif not false and any(self._is_sought(one.guard, index) for one in of_step):
                    self._note(self.guards.lone_false(tuple(of_step), self._states[index]), index)

    def _is_sought(self, guard: Guard, state: int) -> bool:
        known = self.found.get(guard)
        return known is None or state < known

    def _note(self, guard: Guard | None, state: int) -> None:
        if guard is not None and self._is_sought(guard, state):
            self.found[guard] = state

    def _truths(self, instance: Instance, start: int, end: int) -> Sequence[int]:
        """Return for each state of a stretch whether a guard holds, or cannot be evaluated."""
        spec = self._graph.found.spec
        java = self._states.java[start:end]
        action = spec.classes("tlc2.tool.Action")(instance.node, instance.context)
        try:
            test = self._batch.predicate(action)
            return self._batch.satisfying(test, self._batch.chunk(java))
        except (EvaluationError, java_error()):
            return [
                _FALSE if self.guards.is_false(instance, self._states[index]) else _TRUE
                for index in range(start, end)
            ]
