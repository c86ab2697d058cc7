"""The states of a mutated model: only what changes is evaluated, the rest is looked up.

In known states, only the steps of the actions that the mutant touches are evaluated; in new states,
all steps are. Likewise a property is evaluated only for new states and steps, unless the mutant
changes the property itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from krafla.oracle.batch import Batch
from krafla.oracle.errors import EvaluationError
from krafla.oracle.jvm import java_error

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from krafla.mutate.baseline import Baseline
    from krafla.mutate.scope import Impact
    from krafla.oracle.spec import Spec

__all__ = ["Limits", "SearchResult", "search"]

_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up: at so many distinct states, or after so many seconds."""

    states: int
    seconds: float


@dataclass(slots=True)
class SearchResult:
    """The result of the search.

    ``violated`` is the property that failed. ``cut`` names the limit that ended it. With
    ``is_same`` every state, and every step that changes anything, is as before.
    """

    distinct: int = 0
    generated: int = 0
    violated: str | None = None
    cut: str | None = None
    is_same: bool = True
    taken: frozenset[str] = frozenset()
    witnessed: set[str] = field(default_factory=set)


def search(baseline: Baseline, spec: Spec, impact: Impact, limits: Limits) -> SearchResult:
    """Return the findings in the states of a mutated spec.

    ``spec`` shares the classes of the baseline's. ``EvaluationError`` where TLC has no value for
    something.
    """
    with spec.reduced():
        try:
            return _MutantSearch(baseline, spec, impact, limits).run()
        except java_error() as error:
            message = " ".join(str(error.getMessage() or error).split())
            raise EvaluationError(f"{spec.name}: {message}") from None


class _MutantSearch:
    def __init__(self, baseline: Baseline, spec: Spec, impact: Impact, limits: Limits) -> None:
        tool = spec.tool
        owners = tuple(branch.owner.name for branch in spec.branches)
        is_comparable = owners == baseline.owners and not impact.is_whole
        self._base = baseline
        self._spec = spec
        self._limits = limits
        self._batch = batch = Batch(spec)
        self._impact = impact
        self._owners = owners
        self._known = dict(baseline.index) if is_comparable else {}
        self._old = len(self._known)
        self._java = list(baseline.states) if is_comparable else []
        self._functions = [
            batch.action(branch.node, branch.context, branch.owner.definition)
            for branch in spec.branches
        ]
        self._touched = [
            branch for branch, owner in enumerate(owners)
            if not is_comparable or impact.reaches(owner)
        ]  # fmt: skip
        self._is_touched = bytearray(branch in set(self._touched) for branch in range(len(owners)))
        self._bounded = batch.in_model() if list(tool.getModelConstraints()) else None
        constrained = list(tool.getActionConstraints())
        self._allowed = batch.action_constraint() if constrained else None
        self._invariants = [
            (str(name), batch.predicate(action), str(name) in impact.properties)
            for name, action in zip(tool.getInvNames(), tool.getInvariants(), strict=True)
        ]
        named = [baseline.property_at(str(name)) for name in tool.getImpliedActNames()]
        self._properties = [
            (name, batch.step_predicate(action), baseline.may_differ(name, impact.properties))
            for name, action in zip(named, tool.getImpliedActions(), strict=True)
        ]
        named = [baseline.property_at(str(name)) for name in tool.getImpliedInitNames()]
        self._begins = [
            (name, batch.predicate(action))
            for name, action in zip(named, tool.getImpliedInits(), strict=True)
        ]
        self._asks_steps = any(changed for _, _, changed in self._properties)
        self._checksum = 0
        self._outside: set[int] = set()
        self._reached = bytearray(self._old)
        self._frontier: list[int] = []
        self._taken = bytearray(len(owners))
        self._deadline = time.monotonic() + limits.seconds
        self.found = SearchResult()

    def run(self) -> SearchResult:
        """Search level by level until nothing new is found, something fails, or time is up."""
        found = self.found
        self._begin()
        while self._frontier and not self._is_over():
            level, self._frontier = self._frontier, []
            for start in range(0, len(level), _CHUNK):
                self._expand(level[start : start + _CHUNK])
                if self._is_over():
                    break
        found.distinct = sum(self._reached)
        pairs = zip(self._owners, self._taken, strict=True)
        found.taken = frozenset(owner for owner, taken in pairs if taken)
        if found.violated is None and found.cut is None:
            self._witness()
            found.is_same = found.is_same and self._is_same()
        return found

    def _is_same(self) -> bool:
        """Return whether the states and steps are the same as before, none missing.

        Steps that change nothing are ignored: every specification allows them.
        """
        base = self._base
        if not self._old == self.found.distinct == len(self._java):
            return False
        expected = 0
        for index in range(self._old):
            for position in base.steps(index):
                branch, target = base.branches[position], base.targets[position]
                if self._is_touched[branch] and target != index:
                    expected += hash((index, target, branch))
        return self._checksum == expected

    def _is_over(self) -> bool:
        found = self.found
        if found.violated is None and found.cut is None:
            if len(self._java) - self._old > self._limits.states:
                found.cut = f"more than {self._limits.states:,} new states"
            elif time.monotonic() > self._deadline:
                found.cut = f"more than {self._limits.seconds:.0f} s"
        return found.violated is not None or found.cut is not None

    def _begin(self) -> None:
        initial = self._spec.asked(self._spec.tool.getInitStates)
        states = [initial.elementAt(index) for index in range(initial.size())]
        fingerprints = [int(state.fingerPrint()) for state in states]
        self.found.generated = len(states)
        self.found.is_same = self._base.initial == set(fingerprints)
        for name, test in self._begins:
            if self.found.violated is None and not self._all_hold(test, states):
                self.found.violated = name
        self._arrive(states, fingerprints)

    def _expand(self, sources: list[int]) -> None:
        """Take every step from some states."""
        old = [index for index in sources if index < self._old]
        new = [index for index in sources if index >= self._old]
        self._follow(old)
        busy = self._step(old, self._touched) | self._step(new, range(len(self._owners)))
        if self._base.checks_deadlock:
            self._look_for_deadlock(old, new, busy)

    def _follow(self, sources: list[int]) -> None:
        """Take the steps that are as they were before from states that were there before."""
        base, touched, reached = self._base, self._is_touched, self._reached
        fresh: list[int] = []
        kept: list[tuple[int, int]] = []
        again = self._to_ask_outside(sources)
        for index in sources:
            for position in base.steps(index):
                branch, target = base.branches[position], base.targets[position]
                if touched[branch] or (again and index in again.get(branch, ())):
                    continue
                self.found.generated += 1
                self._taken[branch] = 1
                if target >= 0:
                    if not reached[target]:
                        reached[target] = 1
                        fresh.append(target)
                    if self._asks_steps:
                        kept.append((index, target))
        self._frontier.extend(fresh)
        self._ask_again(fresh)
        if kept:
            befores = self._batch.array([self._java[source] for source, _ in kept])
            afters = self._batch.array([self._java[target] for _, target in kept])
            self._check_steps(befores, afters, only_changed=True)
        for branch, indexes in again.items():
            self._step(indexes, [branch])

    def _to_ask_outside(self, sources: list[int]) -> dict[int, list[int]]:
        """Return by branch the states whose steps leave the bounds, if these must be checked again.

        States outside are not kept, but a property that changed must be evaluated there as well.
        """
        found: dict[int, list[int]] = {}
        if not self._asks_steps and not any(changed for _, _, changed in self._invariants):
            return found
        base = self._base
        for index in sources:
            for position in base.steps(index):
                branch = base.branches[position]
                if base.targets[position] < 0 and not self._is_touched[branch]:
                    indexes = found.setdefault(branch, [])
                    if not indexes or indexes[-1] != index:
                        indexes.append(index)
        return found

    def _step(self, sources: list[int], branches: Any) -> set[int]:
        """Take the steps of some branches of Next; return the states that have any."""
        busy: set[int] = set()
        if not sources:
            return busy
        chunk = self._batch.chunk([self._java[index] for index in sources])
        for branch in branches:
            asked = self._spec.asked(self._batch.successors, self._functions[branch], chunk)
            sizes, states, fingerprints = asked
            if states is None:
                continue
            self._taken[branch] = 1
            origins = [one for one, size in zip(sources, sizes, strict=True) for _ in range(size)]
            busy.update(origins)
            self.found.generated += len(origins)
            self._take(origins, states, list(fingerprints))
            self._sum_up(branch, origins, fingerprints)
            if self.found.violated is not None:
                break
        return busy

    def _take(self, origins: list[int], states: Any, fingerprints: list[int]) -> None:
        allowed = None
        befores = None
        if self._allowed is not None:
            befores = self._batch.array([self._java[origin] for origin in origins])
            allowed = self._batch.steps_satisfying(self._allowed, befores, states)
        arriving = [
            position
            for position, fingerprint in enumerate(fingerprints)
            if (allowed is None or allowed[position]) and not self._is_reached(fingerprint)
        ]
        if arriving:
            self._arrive(
                [states[position] for position in arriving],
                [fingerprints[position] for position in arriving],
            )
        if self.found.violated is None and self._properties:
            self._check_new(origins, states, fingerprints)

    def _is_reached(self, fingerprint: int) -> bool:
        index = self._known.get(fingerprint, -1)
        return bool(self._reached[index]) if index >= 0 else fingerprint in self._outside

    def _sum_up(self, branch: int, origins: list[int], fingerprints: Iterable[int]) -> None:
        """Add steps to the sum over all, by which they are compared with those that were."""
        if self._is_touched[branch]:
            for origin, fingerprint in zip(origins, fingerprints, strict=True):
                target = self._known.get(fingerprint, -1)
                if target != origin:
                    self._checksum += hash((origin, target, branch))

    def _check_new(self, origins: list[int], states: Any, fingerprints: list[int]) -> None:
        """Ask the properties of steps that were not there before; of all, where they changed."""
        fresh = self._new_steps(origins, fingerprints)
        if fresh:
            every = len(fresh) == len(origins)
            befores = self._batch.array([self._java[origins[position]] for position in fresh])
            afters = states if every else self._batch.array([states[one] for one in fresh])
            self._check_steps(befores, afters, only_changed=False)
            if every:
                return
        if self._asks_steps and self.found.violated is None:
            befores = self._batch.array([self._java[origin] for origin in origins])
            self._check_steps(befores, states, only_changed=True)

    def _new_steps(self, origins: list[int], fingerprints: list[int]) -> list[int]:
        base = self._base
        if not base.keeps_identity:
            return list(range(len(origins)))
        fresh = []
        get = self._known.get
        for position, origin in enumerate(origins):
            target = get(fingerprints[position], -1)
            if origin < self._old and 0 <= target < self._old:
                steps = base.steps(origin)
                if target in base.targets[steps.start : steps.stop]:
                    continue
            fresh.append(position)
        return fresh

    def _check_steps(self, befores: Any, afters: Any, *, only_changed: bool) -> None:
        for name, handle, changed in self._properties:
            if self.found.violated is None and (changed or not only_changed):
                ask = self._batch.steps_satisfying
                if not all(self._spec.asked(ask, handle, befores, afters)):
                    self.found.violated = name

    def _arrive(self, states: list[Any], fingerprints: list[int]) -> None:
        """Note states that a step of the mutant leads to, and ask the invariants of new ones."""
        again: list[int] = []
        fresh: dict[int, Any] = {}
        for state, fingerprint in zip(states, fingerprints, strict=True):
            index = self._known.get(fingerprint, -1)
            if index < 0:
                if fingerprint not in self._outside:
                    fresh.setdefault(fingerprint, state)
            elif not self._reached[index]:
                self._reached[index] = 1
                again.append(index)
        self._frontier.extend(again)
        self._ask_again(again)
        if not fresh:
            return
        chunk = self._batch.chunk(list(fresh.values()))
        inside = None
        if self._bounded is not None:
            inside = self._spec.asked(self._batch.satisfying, self._bounded, chunk)
        for position, (fingerprint, state) in enumerate(fresh.items()):
            if inside is not None and not inside[position]:
                self._outside.add(fingerprint)
                continue
            self._known[fingerprint] = len(self._java)
            self._frontier.append(len(self._java))
            self._java.append(state)
            self._reached.append(1)
        for name, test, _ in self._invariants:
            if self.found.violated is None:
                holds = self._spec.asked(self._batch.satisfying, test, chunk)
                if not all(holds):
                    self.found.violated = name

    def _ask_again(self, indexes: list[int]) -> None:
        """Ask the invariants that the mutant changed of states that were there before."""
        if not indexes:
            return
        for name, test, changed in self._invariants:
            if changed and self.found.violated is None:
                states = [self._java[index] for index in indexes]
                if not self._all_hold(test, states):
                    self.found.violated = name

    def _all_hold(self, test: Any, states: list[Any]) -> bool:
        ask = self._batch.satisfying
        return all(self._spec.asked(ask, test, self._batch.chunk(states)))

    def _look_for_deadlock(self, old: list[int], new: list[int], busy: set[int]) -> None:
        base, touched = self._base, self._is_touched
        stuck = [index for index in new if index not in busy]
        stuck += [
            index
            for index in old
            if index not in busy
            and all(touched[base.branches[position]] for position in base.steps(index))
        ]
        if stuck and self.found.violated is None:
            self.found.violated = "Deadlock"

    def _witness(self) -> None:
        """Note which witnesses are true somewhere."""
        new = self._java[self._old :]
        for name in self._base.model.witnesses:
            changed = name in self._impact.properties or not self._old
            held = self._base.witnessed[name]
            if not changed and any(
                held[index] and self._reached[index] for index in range(self._old)
            ):
                self.found.witnessed.add(name)
                continue
            states = new
            if changed:
                states = [
                    one for one, is_in in zip(self._java, self._reached, strict=True) if is_in
                ]
            (part,) = self._spec.predicates.of_state(name)
            test = self._batch.predicate(part.action)
            ask = self._batch.satisfying
            for start in range(0, len(states), _CHUNK):
                chunk = self._batch.chunk(states[start : start + _CHUNK])
                if any(self._spec.asked(ask, test, chunk)):
                    self.found.witnessed.add(name)
                    break
