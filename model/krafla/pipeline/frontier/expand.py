"""The steps from some states, with every question that TLC asks of states and steps.

As `krafla.oracle.explore`, but without a graph: a state goes out as bytes and is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from krafla.oracle.batch import Batch
from krafla.pipeline.frontier.tally import Fault

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from krafla.oracle.state_bytes import StateBytes
    from krafla.pipeline.frontier.seen import Seen
    from krafla.pipeline.frontier.tally import Tally
    from krafla.testing import Spec

__all__ = ["Expander", "Found"]

# So many states are stepped together: enough that calls into the JVM cost nothing beside
# evaluation, few enough that all their successors fit in a small heap.
CHUNK = 2048


class _Steps(NamedTuple):
    """Steps by one action from states at a depth, as columns.

    ``befores`` are the states that they begin in, ``parents`` the fingerprints of these; ``prints``
    are those of the states ``after``. ``befores`` is None if nothing is asked about steps.
    """

    befores: Any
    after: Any
    parents: list[int]
    prints: array[int]
    label: int
    depth: int


class Found:
    """New states in the order they were found, as columns.

    ``labels`` are numbers of actions, -1 for initial states; ``parents`` are fingerprints.
    """

    def __init__(self) -> None:
        self.prints: list[int] = []
        self.parents: list[int | None] = []
        self.labels: list[int] = []
        self.java: list[Any] = []
        self.packed: list[bytes] = []

    def __len__(self) -> int:
        return len(self.prints)


class Expander:
    """Steps the states of one loaded spec. Use it while ``spec.reduced()`` is in force."""

    def __init__(self, spec: Spec, codec: StateBytes, witnesses: Sequence[str]) -> None:
        tool, self._batch = spec.tool, Batch(spec)
        batch = self._batch
        self._spec, self._codec = spec, codec
        self.actions = tuple(action.name for action in spec.actions)
        self._branches = [
            (self.actions.index(one.owner.name),
             batch.action(one.node, one.context, one.owner.definition))
            for one in spec.branches
        ]  # fmt: skip
        self._in_model = batch.in_model() if list(tool.getModelConstraints()) else None
        constrained = list(tool.getActionConstraints())
        self._constraint = batch.action_constraint() if constrained else None
        self._beginnings = _tests(batch, tool.getImpliedInitNames(), tool.getImpliedInits())
        _, view = spec.reductions
        self._has_view = view is not None
        self._invariants = _tests(batch, tool.getInvNames(), tool.getInvariants())
        self._properties = [
            (str(name), batch.step_predicate(action))
            for name, action in zip(
                tool.getImpliedActNames(), tool.getImpliedActions(), strict=True
            )
        ]
        # A constant predicate is true everywhere or nowhere, and its value needs no state.
        self._witnesses = [
            (name, None if spec.is_constant(name) else
             batch.predicate(spec.predicates.of_state(name)[0].action))
            for name in witnesses
        ]  # fmt: skip

    def initial(self, seen: Seen, tally: Tally) -> Found:
        """Return the initial states within the model's bounds, each once."""
        vector = self._spec.tool.getInitStates()
        states = [vector.elementAt(index) for index in range(vector.size())]
        prints = [int(state.fingerPrint()) for state in states]
        tally.generated += len(states)
        chunk = self._batch.chunk(states)
        for place, (name, test) in enumerate(self._beginnings, start=-len(self._beginnings)):
            holds = self._batch.satisfying(test, chunk)
            for position in _false(holds):
                tally.blame(self._beyond(0, place, name, prints[position], states[position]))
        found = Found()
        self._admit(states, prints, [None] * len(states), -1, seen, found, tally, 0)
        return found

    def expand(
        self, prints: Sequence[int], states: Sequence[Any], depth: int, seen: Seen, tally: Tally
    ) -> Found:
        """Return what some states at a depth lead to that was not seen, within the bounds.

        Each state is asked for its invariants and witnesses here, once.
        """
        found = Found()
        for start in range(0, len(states), CHUNK):
            part = slice(start, start + CHUNK)
            self._expand(prints[part], states[part], depth, seen, found, tally)
        return found

    def _expand(
        self,
        prints: Sequence[int],
        states: Sequence[Any],
        depth: int,
        seen: Seen,
        found: Found,
        tally: Tally,
    ) -> None:
        chunk = self._batch.chunk(states)
        self._ask(chunk, prints, depth, tally)
        goes_on = bytearray(len(states))
        for label, function in self._branches:
            sizes, after, after_prints = self._batch.successors(function, chunk)
            if after is None:
                continue
            origins = [origin for origin, size in enumerate(sizes) for _ in range(size)]
            for origin in origins:
                goes_on[origin] = 1
            tally.generated += len(origins)
            tally.taken[self.actions[label]] += len(origins)
            befores = None
            if self._properties or self._constraint is not None:
                befores = self._batch.array([states[origin] for origin in origins])
            parents = [prints[origin] for origin in origins]
            steps = _Steps(befores, after, parents, after_prints, label, depth)
            self._check_steps(steps, tally)
            self._take(steps, seen, found, tally)
        tally.expanded += len(states)
        stuck = [prints[state] for state, goes in enumerate(goes_on) if not goes]
        tally.stepless += len(stuck)
        nearest = [(depth, one) for one in stuck] + ([tally.stuck] if tally.stuck else [])
        tally.stuck = min(nearest, default=None)

    def _ask(self, chunk: Any, prints: Sequence[int], depth: int, tally: Tally) -> None:
        for place, (name, test) in enumerate(self._invariants):
            holds = self._batch.satisfying(test, chunk)
            for position in _false(holds):
                tally.blame(Fault(depth, place, name, prints[position]))
        self._watch(chunk, tally.reached)

    def _watch(self, chunk: Any, reached: set[str]) -> None:
        for name, test in self._witnesses:
            if name in reached:
                continue
            if test is None:
                holds = self._spec.evaluate(name) is True
            else:
                holds = any(self._batch.satisfying(test, chunk))
            if holds:
                reached.add(name)

    def _check_steps(self, steps: _Steps, tally: Tally) -> None:
        for place, (name, test) in enumerate(self._properties, start=len(self._invariants)):
            holds = self._batch.steps_satisfying(test, steps.befores, steps.after)
            for position in _false(holds):
                fault = self._beyond(
                    steps.depth, place, name, steps.prints[position], steps.after[position],
                    steps.parents[position], steps.label, is_step=True,
                )  # fmt: skip
                tally.blame(fault)

    def _take(self, steps: _Steps, seen: Seen, found: Found, tally: Tally) -> None:
        allowed = self._allowed(steps)
        positions = seen.fresh(steps.prints, allowed)
        if positions:
            self._admit(*_at(steps, positions), steps.label, seen, found, tally, steps.depth)
        if allowed is None:
            return
        positions = _false(allowed) if self._has_view else seen.forbidden(steps.prints, allowed)
        if positions:
            self._ask_outside(*_at(steps, positions), steps.label, steps.depth, tally)

    def _allowed(self, steps: _Steps) -> Sequence[int] | None:
        """Return which steps may be taken, None for all.

        With a VIEW a state out of the model's bounds may have the fingerprint of one in them.
        """
        allowed: Sequence[int] | None = None
        if self._constraint is not None:
            allowed = self._batch.steps_satisfying(self._constraint, steps.befores, steps.after)
        if self._has_view and self._in_model is not None:
            inside = self._batch.satisfying(self._in_model, self._batch.chunk([*steps.after]))
            allowed = inside if allowed is None else [*map(int.__and__, allowed, inside)]
        return allowed

    def _admit(
        self,
        states: list[Any],
        prints: Sequence[int],
        parents: Sequence[int | None],
        label: int,
        seen: Seen,
        found: Found,
        tally: Tally,
        depth: int,
    ) -> None:
        """Add new states that lie in the model; ask those out of its bounds at once."""
        inside = None
        if self._in_model is not None:
            inside = self._batch.satisfying(self._in_model, self._batch.chunk(states))
        new = []
        for position, fingerprint in enumerate(prints):
            if inside is not None and not inside[position]:
                continue
            if seen.add(fingerprint):
                new.append(position)
        if inside is not None and not all(inside):
            outside = list(_false(inside))
            if not self._has_view:
                seen.leave_out(prints[position] for position in outside)
            self._ask_outside(
                [states[position] for position in outside],
                [prints[position] for position in outside],
                [parents[position] for position in outside], label, depth, tally,
            )  # fmt: skip
        java = [states[position] for position in new]
        found.prints += [prints[position] for position in new]
        found.parents += [parents[position] for position in new]
        found.labels += [label] * len(new)
        found.java += java
        found.packed += self._codec.encode(java)
        tally.emitted += len(new)

    def _ask_outside(
        self,
        states: list[Any],
        prints: Sequence[int],
        parents: Sequence[int | None],
        label: int,
        depth: int,
        tally: Tally,
    ) -> None:
        chunk = self._batch.chunk(states)
        self._watch(chunk, tally.beyond)
        for place, (name, test) in enumerate(self._invariants):
            holds = self._batch.satisfying(test, chunk)
            for position in _false(holds):
                fault = self._beyond(
                    depth, place, name, prints[position], states[position],
                    parents[position], label,
                )  # fmt: skip
                tally.blame(fault)

    def _beyond(
        self,
        depth: int,
        place: int,
        name: str,
        fingerprint: int,
        state: Any,
        parent: int | None = None,
        label: int = -1,
        *,
        is_step: bool = False,
    ) -> Fault:
        """Return a fault whose state may be in no table."""
        (packed,) = self._codec.encode([state])
        return Fault(depth, place, name, fingerprint, parent, label, packed.hex(), is_step=is_step)


def _at(steps: _Steps, positions: Sequence[int]) -> tuple[list[Any], list[int], list[int]]:
    """Return the states, fingerprints and parents of some steps."""
    return (
        [steps.after[position] for position in positions],
        [steps.prints[position] for position in positions],
        [steps.parents[position] for position in positions],
    )


def _tests(batch: Batch, names: Any, actions: Any) -> list[tuple[str, Any]]:
    return [
        (str(name), batch.predicate(action)) for name, action in zip(names, actions, strict=True)
    ]


def _false(holds: Sequence[int]) -> list[int]:
    return [] if all(holds) else [position for position, one in enumerate(holds) if not one]
