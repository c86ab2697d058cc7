"""Every state of a finite model, breadth first, counted exactly as TLC counts."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from krafla.oracle.batch import Batch
from krafla.oracle.errors import EvaluationError
from krafla.oracle.jvm import java_error
from krafla.oracle.state import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.oracle.spec import Spec
    from krafla.values import Value

__all__ = ["OUTSIDE", "Coverage", "Exploration", "Violation", "explore"]

# The target of a step that leaves the model (CONSTRAINT): counted, but not explored.
OUTSIDE = -1
# Large enough that building the streams is nothing beside evaluating, small enough to hold.
_CHUNK = 8192


@dataclass(frozen=True, slots=True)
class Violation:
    """A property of the configuration that is false: of a state, or of the step to it."""

    name: str
    path: tuple[tuple[str, State], ...]
    is_step: bool


@dataclass(slots=True)
class Coverage:
    """How often an action was taken, and how many states it was the first to reach."""

    taken: int = 0
    discovered: int = 0


class _States(Sequence[State]):
    """The states in the order they were found; made into ``State`` when asked for."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self.java: list[Any] = []

    def __len__(self) -> int:
        return len(self.java)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [State(self._spec, java) for java in self.java[index]]
        return State(self._spec, self.java[index])


@dataclass(slots=True)
class Exploration:
    """The result of a breadth-first search.

    States have indexes in order of discovery. Step ``i`` goes from ``sources[i]`` to
    ``targets[i]`` by ``actions[labels[i]]``; the target is ``OUTSIDE`` where a constraint cuts.
    ``branches[i]`` is the branch of ``spec.branches`` through which Next took it.
    ``expanded`` is the number of states whose steps are known: all, unless the search was cut.
    ``generated`` counts initial states and steps, as TLC's "states generated" does.
    ``unchecked`` names the configured properties of whole behaviours (liveness), which no search
    step by step can answer. ``beyond`` has the watched predicates that are true in a state just
    outside the model, where invariants are checked, too.
    """

    spec: Spec
    states: _States
    actions: tuple[str, ...]
    generated: int = 0
    depth: int = 0
    expanded: int = 0
    is_complete: bool = True
    violation: Violation | None = None
    unchecked: tuple[str, ...] = ()
    beyond: set[str] = field(default_factory=set)
    coverage: dict[str, Coverage] = field(default_factory=dict)
    sources: array[int] = field(default_factory=lambda: array("i"))
    targets: array[int] = field(default_factory=lambda: array("i"))
    labels: array[int] = field(default_factory=lambda: array("h"))
    branches: array[int] = field(default_factory=lambda: array("h"))
    fingerprints: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("i"))
    arrivals: array[int] = field(default_factory=lambda: array("h"))

    @property
    def distinct(self) -> int:
        """Return the number of distinct states, TLC's "distinct states found"."""
        return len(self.states)

    @property
    def edges(self) -> int:
        """Return the number of steps taken, duplicates included."""
        return len(self.targets)

    @property
    def digest(self) -> str:
        """Return SHA-256 over the sorted fingerprints: equal for equal sets of states."""
        mask = 2**64 - 1
        ordered = sorted(fingerprint & mask for fingerprint in self.fingerprints)
        content = b"".join(fingerprint.to_bytes(8, "big") for fingerprint in ordered)
        return hashlib.sha256(content).hexdigest()

    def satisfying(self, predicate: str) -> bytes:
        """Return for each state 1 if a state predicate of the spec holds there, else 0."""
        if self.spec.is_constant(predicate):
            return bytes([self.spec.evaluate(predicate) is True]) * len(self.states)
        batch = Batch(self.spec)
        (part,) = self.spec.predicates.of_state(predicate)
        test = batch.predicate(part.action)
        holds = bytearray()
        for chunk in self._chunks(batch):
            holds.extend(self.spec.asked(batch.satisfying, test, chunk).tolist())
        return bytes(holds)

    def values(self, variable: str, limit: int | None = None) -> tuple[array[int], list[Value]]:
        """Return for each of the first ``limit`` states which value a variable has.

        The numbers are indexes into the second list, the distinct values in order of discovery.
        """
        batch = Batch(self.spec)
        function = batch.value_fingerprint(variable)
        numbers: dict[int, int] = {}
        column = array("i")
        firsts: list[int] = []
        for chunk in self._chunks(batch, limit):
            for fingerprint in self.spec.asked(batch.fingerprints, function, chunk):
                number = numbers.setdefault(fingerprint, len(numbers))
                if number == len(firsts):
                    firsts.append(len(column))
                column.append(number)
        return column, [self.states[index][variable] for index in firsts]

    def _chunks(self, batch: Batch, limit: int | None = None) -> Iterator[Any]:
        java = self.states.java
        end = len(java) if limit is None else min(limit, len(java))
        for start in range(0, end, _CHUNK):
            yield batch.chunk(java[start : min(start + _CHUNK, end)])

    def path(self, index: int) -> tuple[tuple[str, State], ...]:
        """Return a shortest way to a state: each state with the action that led to it.

        The first entry is an initial state; its action is "Init".
        """
        steps: list[tuple[str, State]] = []
        while index >= 0:
            label = self.arrivals[index]
            steps.append((self.actions[label] if label >= 0 else "Init", self.states[index]))
            index = self.parents[index]
        return tuple(reversed(steps))


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
            message = " ".join(str(error.getMessage() or error).split())
            raise EvaluationError(f"{spec.name}: {message}") from None
    return search.found


class _GraphSearch:
    def __init__(
        self, spec: Spec, limit: int | None, watch: Sequence[str], *, until_violation: bool
    ) -> None:
        tool = spec.tool
        self._batch = Batch(spec)
        self._limit = limit
        # A search that must stop soon looks up more often.
        self._chunk = _CHUNK if limit is None else min(_CHUNK, max(16, limit // 8))
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
        self._index: dict[int, int] = {}
        self._outside: set[int] = set()
        self.found = Exploration(spec, _States(spec), names)
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
        java = found.states.java
        allowed = None
        if self._constraint is not None:
            befores = self._batch.array([java[origin] for origin in origins])
            allowed = self._batch.steps_satisfying(self._constraint, befores, states)
        index, outside = self._index, self._outside
        fresh: dict[int, int] = {}
        for position, fingerprint in enumerate(fingerprints):
            if fingerprint in index or fingerprint in outside:
                continue
            if allowed is None or allowed[position]:
                fresh.setdefault(fingerprint, position)
        if fresh:
            positions = fresh.values()
            new = [states[position] for position in positions]
            self._admit(new, list(fresh), [origins[position] for position in positions], label)
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

    def _admit(
        self, states: list[Any], fingerprints: list[int], parents: list[int], label: int
    ) -> None:
        """Add new states that lie in the model, and check the invariants of all."""
        found = self.found
        chunk = self._batch.chunk(states)
        inside = None if self._in_model is None else self._batch.satisfying(self._in_model, chunk)
        for position, fingerprint in enumerate(fingerprints):
            if inside is not None and not inside[position]:
                self._outside.add(fingerprint)
            elif fingerprint not in self._index:
                self._index[fingerprint] = len(found.states)
                found.states.java.append(states[position])
                found.fingerprints.append(fingerprint)
                found.parents.append(parents[position])
                found.arrivals.append(label)
                if label >= 0:
                    found.coverage[found.actions[label]].discovered += 1
        if inside is not None and not all(inside):
            self._watch([state for state, is_in in zip(states, inside, strict=True) if not is_in])
        self._check_states(self._invariants, states, parents, label)

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
