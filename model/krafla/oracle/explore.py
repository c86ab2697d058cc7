"""Every state of a finite model, breadth first, counted exactly as TLC counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.oracle.batch import Batch
from krafla.oracle.errors import EvaluationError
from krafla.oracle.exploration import CHUNK, OUTSIDE, Coverage, Exploration, States, Violation
from krafla.oracle.jvm import java_error
from krafla.oracle.state import State

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence

    from krafla.oracle.spec import Spec

__all__ = ["explore"]


def explore(
    spec: Spec,
    *,
    limit: int | None = None,
    until_violation: bool = True,
    watch: Sequence[str] = (),
    progress: Callable[[Exploration], None] | None = None,
) -> Exploration:
    """Return every reachable state of a model with its steps, checking the configured properties.

    Invariants, constraints and ``[][A]_v`` properties are those of ``Spec.load``. At ``limit``
    distinct states, or at the first violation, the search stops and is not complete. ``watch``
    names state predicates that are evaluated in the states where a constraint cuts.
    ``progress`` gets what was found so far, after every few thousand states.
    """
    with spec.reduced():
        search = _GraphSearch(spec, limit, watch, until_violation=until_violation)
        try:
            search.run(progress or (lambda _found: None))
        except java_error() as error:
            raise EvaluationError(f"{spec.name}: {spec.in_words(error)}") from None
    return search.found


class _GraphSearch:
    def __init__(
        self, spec: Spec, limit: int | None, watch: Sequence[str], *, until_violation: bool
    ) -> None:
        tool = spec.tool
        self._batch = Batch(spec)
        self._limit = limit
        # A search that must stop soon looks up more often.
        self._chunk = CHUNK if limit is None else min(CHUNK, max(16, limit // 8))
        self._until_violation = until_violation
        names = tuple(action.name for action in spec.actions)
        self._branches = [
            (names.index(branch.owner.name),
             self._batch.action(branch.node, branch.context, branch.owner.definition))
            for branch in spec.branches
        ]  # fmt: skip
        self._in_model = self._batch.in_model() if list(tool.getModelConstraints()) else None
        constrained = list(tool.getActionConstraints())
        self._constraint = self._batch.action_constraint() if constrained else None
        self._invariants = [
            (str(name), self._batch.predicate(action))
            for name, action in zip(tool.getInvNames(), tool.getInvariants(), strict=True)
        ]
        self._properties = [
            (str(name), self._batch.step_predicate(action))
            for name, action in zip(
                tool.getImpliedActNames(), tool.getImpliedActions(), strict=True
            )
        ]
        self._beginnings = [
            (str(name), self._batch.predicate(action))
            for name, action in zip(tool.getImpliedInitNames(), tool.getImpliedInits(), strict=True)
        ]
        self._watched = [
            (name, self._batch.predicate(part.action))
            for name in watch
            if not spec.is_constant(name)
            for part in spec.predicates.of_state(name)
        ]
        self._spec = spec
        _, view = spec.reductions
        self._has_view = view is not None
        self._index: dict[int, int] = {}
        # TLC asks invariants of every state out of the model, and remembers none. A VIEW may give
        # it the fingerprint of a state in the model, so it is remembered only without one.
        self._outside: set[int] = set()
        self._forbidden: set[int] = set()
        self.found = Exploration(spec, States(spec), names)
        self.found.unchecked = tuple(map(str, tool.getImpliedTemporalNames()))
        self.found.coverage = {name: Coverage() for name in names}

    def run(self, progress: Callable[[Exploration], None]) -> None:
        """Search level by level until nothing new is found."""
        self._start()
        first = 0
        while first < len(self.found.states) and not self._is_over():
            last = len(self.found.states)
            self.found.depth += 1
            for start in range(first, last, self._chunk):
                self._expand(start, min(start + self._chunk, last))
                progress(self.found)
                if self._is_over():
                    break
            first = last

    def _is_over(self) -> bool:
        stopped = self._until_violation and self.found.violation is not None
        full = self._limit is not None and len(self.found.states) >= self._limit
        if stopped or full:
            self.found.is_complete = False
        return stopped or full

    def _start(self) -> None:
        initial = self._spec.tool.getInitStates()
        states = [initial.elementAt(index) for index in range(initial.size())]
        fingerprints = [int(state.fingerPrint()) for state in states]
        self.found.generated = len(states)
        self._admit(states, fingerprints, [-1] * len(states), -1)
        # Where a refined spec begins is asked of initial states only.
        self._check_states(self._beginnings, states, [-1] * len(states), -1)

    def _expand(self, start: int, end: int) -> None:
        sources = self.found.states.java[start:end]
        chunk = self._batch.chunk(sources)
        for branch, (label, function) in enumerate(self._branches):
            sizes, states, fingerprints = self._batch.successors(function, chunk)
            if states is None:
                continue
            origins = [
                origin
                for origin, size in enumerate(sizes, start=start)
                for _ in range(size)
            ]  # fmt: skip
            self._take(label, origins, states, fingerprints)
            self.found.branches.extend([branch] * len(origins))
        self.found.expanded = end

    def _take(self, label: int, origins: list[int], states: Any, fingerprints: array[int]) -> None:
        """Record the steps of one action from one chunk of states."""
        found = self.found
        found.generated += len(origins)
        allowed = self._allowed(origins, states)
        index, outside = self._index, self._outside
        fresh: dict[int, int] = {}
        cut: list[int] = []
        for position, fingerprint in enumerate(fingerprints):
            if allowed is not None and not allowed[position]:
                cut.append(position)
            elif fingerprint not in index and fingerprint not in outside:
                fresh.setdefault(fingerprint, position)
        if fresh:
            positions = fresh.values()
            new = [states[position] for position in positions]
            self._admit(new, list(fresh), [origins[position] for position in positions], label)
        self._cut(cut, origins, states, fingerprints, label)
        found.sources.extend(origins)
        found.labels.extend([label] * len(origins))
        get = index.get
        found.targets.extend(
            [get(fingerprint, OUTSIDE) for fingerprint in fingerprints]
            if allowed is None
            else [
                get(fingerprint, OUTSIDE) if allowed[position] else OUTSIDE
                for position, fingerprint in enumerate(fingerprints)
            ]
        )
        found.coverage[found.actions[label]].taken += len(origins)
        self._check_steps(label, origins, states)

    def _allowed(self, origins: list[int], states: Any) -> Sequence[int] | None:
        """Return which steps may be taken, None for all."""
        java = self.found.states.java
        allowed: Sequence[int] | None = None
        if self._constraint is not None:
            befores = self._batch.array([java[origin] for origin in origins])
            allowed = self._batch.steps_satisfying(self._constraint, befores, states)
        if self._has_view and self._in_model is not None:
            inside = self._batch.satisfying(self._in_model, self._batch.chunk([*states]))
            allowed = inside if allowed is None else [*map(int.__and__, allowed, inside)]
        return allowed

    def _cut(
        self,
        positions: list[int],
        origins: list[int],
        states: Any,
        fingerprints: array[int],
        label: int,
    ) -> None:
        """Check the invariants of the states to which forbidden steps lead, each once."""
        if not self._has_view:
            first = {
                fingerprints[position]: position
                for position in reversed(positions)
                if fingerprints[position] not in self._index
            }
            positions = sorted(first[one] for one in first.keys() - self._forbidden)
            self._forbidden.update(first)
        if positions:
            ends = [states[position] for position in positions]
            self._watch(ends)
            self._check_states(
                self._invariants, ends, [origins[position] for position in positions], label
            )

    def _admit(
        self, states: list[Any], fingerprints: list[int], parents: list[int], label: int
    ) -> None:
        """Add new states that lie in the model, and check the invariants of all.

        Of several with one fingerprint only the first is asked.
        """
        found = self.found
        asked = []
        chunk = self._batch.chunk(states)
        inside = None if self._in_model is None else self._batch.satisfying(self._in_model, chunk)
        for position, fingerprint in enumerate(fingerprints):
            if inside is not None and not inside[position]:
                asked.append(position)
                if not self._has_view:
                    self._outside.add(fingerprint)
            elif fingerprint not in self._index:
                asked.append(position)
                self._index[fingerprint] = len(found.states)
                found.states.java.append(states[position])
                found.fingerprints.append(fingerprint)
                found.parents.append(parents[position])
                found.arrivals.append(label)
                if label >= 0:
                    found.coverage[found.actions[label]].discovered += 1
        if inside is not None and not all(inside):
            self._watch([state for state, is_in in zip(states, inside, strict=True) if not is_in])
        self._check_states(
            self._invariants,
            [states[position] for position in asked],
            [parents[position] for position in asked],
            label,
        )

    def _watch(self, outside: list[Any]) -> None:
        chunk = self._batch.chunk(outside)
        for name, test in self._watched:
            if name not in self.found.beyond and any(self._batch.satisfying(test, chunk)):
                self.found.beyond.add(name)

    def _check_states(
        self, tests: list[tuple[str, Any]], states: list[Any], parents: list[int], label: int
    ) -> None:
        chunk = self._batch.chunk(states)
        for name, test in tests:
            if self.found.violation is None:
                holds = self._batch.satisfying(test, chunk)
                if not all(holds):
                    position = holds.index(0)
                    self._violate(name, parents[position], label, states[position])

    def _check_steps(self, label: int, origins: list[int], states: Any) -> None:
        if not self._properties:
            return
        java = self.found.states.java
        befores = self._batch.array([java[origin] for origin in origins])
        for name, handle in self._properties:
            if self.found.violation is None:
                holds = self._batch.steps_satisfying(handle, befores, states)
                if not all(holds):
                    position = holds.index(0)
                    self._violate(name, origins[position], label, states[position], is_step=True)

    def _violate(
        self, name: str, parent: int, label: int, state: Any, *, is_step: bool = False
    ) -> None:
        before = self.found.path(parent) if parent >= 0 else ()
        action = self.found.actions[label] if label >= 0 else "Init"
        path = (*before, (action, State(self._spec, state)))
        self.found.violation = Violation(name, path, is_step)
