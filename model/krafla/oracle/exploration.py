"""What a breadth-first search of a finite model has found: states, steps, the violation."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from krafla.oracle.batch import Batch
from krafla.oracle.state import State

if TYPE_CHECKING:
    from krafla.oracle.spec import Spec
    from krafla.values import Value

__all__ = ["CHUNK", "OUTSIDE", "Coverage", "Exploration", "States", "Violation"]

# The target of a step that leaves the model (CONSTRAINT): counted, but not explored.
OUTSIDE = -1
# Large enough that building the streams is nothing beside evaluating, small enough to hold.
CHUNK = 8192


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


class States(Sequence[State]):
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
    states: States
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
        for start in range(0, end, CHUNK):
            yield batch.chunk(java[start : min(start + CHUNK, end)])

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
