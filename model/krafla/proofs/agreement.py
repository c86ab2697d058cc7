"""The comparison of z3's Init and actions with TLC's on small models.

For each state and each parameter, TLC enumerates the steps of an action. With that state and
parameter put into the formula that the proofs use, z3 must show two things: each of these steps
satisfies the formula, and no other next state does. The same holds for Init and its states.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.collector import gc_paused
from krafla.oracle import Spec, explore
from krafla.proofs.concrete import Substitution, Universe
from krafla.proofs.depth import deeply_nested
from krafla.proofs.terms import SetTerm, conjunction, disjunction, negation
from krafla.proofs.types import BOOLEAN, INTEGER, ElementType, FunctionType, Type
from krafla.values import Function, Value, fmt, freeze, function, sort_key, sorted_values
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from krafla.oracle import State as KnownState
    from krafla.proofs.next_actions import NextAction
    from krafla.proofs.terms import Term
    from krafla.proofs.theory import State, Theory

__all__ = ["ActionAgreement", "Agreement", "Difference", "Instance", "agreement"]

# z3 needs a hundredth of these steps; a question that takes more is reported as undecided.
_EFFORT = 20_000_000
# The operator that bounds the states, in a module around the one of the instance.
_BOUNDS = "KraflaBounds"
# The numbers tried for a parameter: below, within and above what the guards allow.
_NUMBERS = (-1, 0, 1, 2)


@dataclass(frozen=True, slots=True)
class Instance:
    """A small model whose states are compared.

    ``bounds`` is TLA+ text that bounds it. ``limit`` is the number of states compared for each
    action; half of them have the action enabled, if there are enough.
    """

    label: str
    module: str
    constants: Mapping[str, Any]
    bounds: str
    init: str = "Init"
    limit: int = 20
    states: int = 4000


@dataclass(frozen=True, slots=True)
class Difference:
    """A step that only one of the two allows, or that z3 could not decide.

    ``before`` is the state before the step, ``None`` for Init.
    """

    instance: str
    action: str
    parameters: tuple[Value, ...]
    before: Function | None
    reason: str

    def __str__(self) -> str:
        given = ", ".join(map(fmt, self.parameters))
        return f"{self.action}({given}) in {self.instance}: {self.reason}"


@dataclass(slots=True)
class ActionAgreement:
    """The comparison of one action: how many states and parameters, and what both answered.

    ``steps_tlc`` counts TLC's steps. ``steps_z3`` counts the steps that the formula allows, TLC's
    or others. ``refused`` counts pairs of state and parameters for which neither allows a step.
    """

    action: str
    states: int = 0
    questions: int = 0
    steps_tlc: int = 0
    steps_z3: int = 0
    refused: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Return violated if the two differ, and inconclusive if TLC took no step to compare."""
        if self.differences:
            return Verdict.VIOLATED
        return Verdict.HELD if self.steps_tlc else Verdict.INCONCLUSIVE

    def as_json(self) -> dict[str, object]:
        """Return the counts and the differences as plain values."""
        return {
            "action": self.action, "verdict": self.verdict.value, "states": self.states,
            "questions": self.questions, "steps_tlc": self.steps_tlc, "steps_z3": self.steps_z3,
            "refused": self.refused, "differences": [str(one) for one in self.differences],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agreement:
    """The comparison of all actions; z3 and TLC agree if there are no differences.

    ``initial`` is the comparison of Init: its steps are the initial states.
    """

    initial: ActionAgreement
    actions: tuple[ActionAgreement, ...]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return every difference."""
        return tuple(one for row in self.rows for one in row.differences)

    @property
    def rows(self) -> tuple[ActionAgreement, ...]:
        """Return the comparison of Init, then that of each action."""
        return (self.initial, *self.actions)


@gc_paused()
@deeply_nested()
def agreement(
    theory: Theory,
    instances: Sequence[Instance],
    progress: Callable[[str], None] | None = None,
) -> Agreement:
    """Return the comparison of a theory's Init and actions with TLC's, on some small models."""
    initial = ActionAgreement("Init")
    rows = {action.name: ActionAgreement(action.name) for action in theory.actions}
    for instance in instances:
        comparison = _Comparison(theory, instance)
        comparison.compare_initial(initial)
        for action in theory.actions:
            if progress is not None:
                progress(f"{instance.label}: {action.name}")
            comparison.compare(action, rows[action.name])
    return Agreement(initial, tuple(rows.values()))


class _Comparison:
    """One instance: its states, and the theory over its elements."""

    def __init__(self, theory: Theory, instance: Instance) -> None:
        self._instance = instance
        self._spec = Spec.load(
            instance.module,
            instance.constants,
            path=theory.module.path.parent,
            init=instance.init,
            expressions={_BOUNDS: instance.bounds},
            constraints=(_BOUNDS,),
        )
        found = explore(self._spec, limit=instance.states)
        self._states = found.states
        self._enabled: dict[str, dict[int, None]] = {}
        for source, label in zip(found.sources, found.labels, strict=True):
            self._enabled.setdefault(found.actions[label], {})[source] = None
        self._elements = {
            name: list(sorted_values(instance.constants[name]))
            for name, term in theory.constants.items()
            if isinstance(term, SetTerm) and term.is_everything
        }
        sizes = {name: len(members) for name, members in self._elements.items()}
        self._theory = theory.bounded(sizes, is_written_out=False)
        self._universe = Universe(self._theory.algebra, self._elements)
        self._before = self._theory.state("before")
        self._after = self._theory.state("after")
        self._constants = Substitution(self._theory.algebra)
        for name, term in self._theory.constants.items():
            if name not in self._elements:
                value = freeze(instance.constants[name])
                self._constants.replace(term, self._universe.term(value, term.type))
        # A variable has few values in many states, so their terms are kept.
        self._known: dict[tuple[Any, ...], Substitution] = {}
        self._different: dict[tuple[Any, ...], z3.BoolRef] = {}
        self._next: dict[int, dict[tuple[str, tuple[Any, ...]], set[int]]] = {}

    def compare_initial(self, row: ActionAgreement) -> None:
        """Compare the initial states, by the instance's operator if the theory has it, else Init.

        The symbols of the state after a step stand for the initial state.
        """
        theory, instance = self._theory, self._instance
        is_known = instance.init in theory.module.operators
        name = instance.init if is_known else "Init"
        constants = {one: instance.constants[one] for one in theory.constants}
        spec = Spec.load(theory.name, constants, path=theory.module.path.parent, init=name)
        formula = self._constants(theory.predicate(name, self._after))
        states = spec.initial_states()
        row.states += len(states)
        row.questions += 1
        row.steps_tlc += len(states)
        for reason in self._states_differ(formula, states, row):
            row.differences.append(Difference(instance.label, "Init", (), None, reason))

    def compare(self, action: NextAction, row: ActionAgreement) -> None:
        """Compare one action in the chosen states."""
        theory = self._theory
        parameters = theory.parameters(action.name)
        formula = self._constants(theory.action(action.name, parameters, self._before, self._after))
        bounds = self._constants(conjunction(*theory.bounds(action.name, parameters, self._before)))
        for index in self._chosen(action.name):
            before = self._states[index]
            put_in = self._state(before, self._before)
            question = _Question(
                action.name, parameters, put_in(formula), put_in(bounds), index, before
            )
            row.states += 1
            self._compare_state(question, row)

    def _chosen(self, action: str) -> list[int]:
        """Return the indexes of evenly spread states, half of them with the action enabled."""
        half = self._instance.limit // 2
        enabled = list(self._enabled.get(action, ()))
        every = range(len(self._states))
        return sorted({*_spread(enabled, half), *_spread(every, half)})

    def _compare_state(self, question: _Question, row: ActionAgreement) -> None:
        steps = self._steps(question.index, question.before)
        mine = {key[1] for key in steps if key[0] == question.action}
        tried = set()
        for values in self._candidates(question):
            key = tuple(map(sort_key, values))
            tried.add(key)
            row.questions += 1
            for reason in self._differences(question, values, steps, row):
                row.differences.append(
                    Difference(
                        self._instance.label, question.action, values,
                        question.before.as_function(), reason,
                    )
                )  # fmt: skip
        if not mine <= tried:
            raise KraflaError(
                f"{question.action}: Next takes parameters that the comparison does not try",
                self._instance.label,
            )

    def _differences(
        self, question: _Question, values: tuple[Value, ...],
        steps: Mapping[tuple[str, tuple[Any, ...]], set[int]], row: ActionAgreement,
    ) -> Iterator[str]:  # fmt: skip
        found = self._spec.outcomes(question.before, question.action, *values)
        given = Substitution(self._theory.algebra)
        for parameter, value in zip(question.parameters, values, strict=True):
            given.replace(parameter, self._universe.term(value, parameter.type))
        row.steps_tlc += len(found)
        by_next = steps.get((question.action, tuple(map(sort_key, values))), set())
        in_next = _is_satisfied(z3.simplify(given(question.bounds)))
        if by_next != ({after.fingerprint for after in found} if in_next else set()):
            yield "Next and the translated Next take the action with other parameters"
        yield from self._states_differ(z3.simplify(given(question.formula)), found, row)

    def _states_differ(
        self, formula: z3.BoolRef, found: Sequence[KnownState], row: ActionAgreement
    ) -> Iterator[str]:
        """Yield the reasons why a formula allows other next states than TLC found."""
        if not found and z3.is_false(formula):
            row.refused += 1
            return
        allowed = 0
        others = []
        for after in found:
            put_in = self._state(after, self._after)
            if _is_satisfied(z3.simplify(put_in(formula))):
                allowed += 1
            else:
                yield "TLC takes a step that the formula refuses"
            others.append(self._differs(after))
        solver = _solver()
        solver.add(formula, *others)
        answer = solver.check()
        if answer == z3.unknown:
            yield f"z3 cannot say whether there are other steps: {solver.reason_unknown()}"
        elif answer == z3.sat:
            allowed += 1
            yield "the formula allows a step that TLC does not take"
        elif not found:
            row.refused += 1
        row.steps_z3 += allowed

    def _differs(self, after: KnownState) -> z3.BoolRef:
        """Return the formula that the state after the step differs from this one."""
        found = []
        for symbol in self._theory.module.variables:
            key = symbol.key, sort_key(after[symbol.name])
            if key not in self._different:
                value = self._universe.term(after[symbol.name], self._theory.types[symbol.name])
                same = self._theory.algebra.equal(self._after.terms[symbol.key], value)
                self._different[key] = negation(same)
            found.append(self._different[key])
        return disjunction(*found)

    def _state(self, known: KnownState, unknown: State) -> Substitution:
        """Return the substitution of the values of a state for the symbols of an unknown one."""
        put_in = Substitution(self._theory.algebra)
        for symbol in self._theory.module.variables:
            key = unknown.name, symbol.key, sort_key(known[symbol.name])
            if key not in self._known:
                value = self._universe.term(known[symbol.name], self._theory.types[symbol.name])
                self._known[key] = Substitution(self._theory.algebra)
                self._known[key].replace(unknown.terms[symbol.key], value)
            put_in.extend(self._known[key])
        return put_in

    def _steps(
        self, index: int, before: KnownState
    ) -> Mapping[tuple[str, tuple[Any, ...]], set[int]]:
        """Return the next states by action and parameters."""
        if index not in self._next:
            found: dict[tuple[str, tuple[Any, ...]], set[int]] = {}
            for action, values, after in self._spec.successors(before):
                key = action, tuple(map(sort_key, values))
                found.setdefault(key, set()).add(after.fingerprint)
            self._next[index] = found
        return self._next[index]

    def _candidates(self, question: _Question) -> Iterator[tuple[Value, ...]]:
        choices = [
            self._values(parameter.type, question.before) for parameter in question.parameters
        ]
        return product(*choices)

    def _values(self, type_: Type, before: KnownState) -> list[Value]:
        """Return the values tried for a parameter; they include those of Next."""
        if type_ == BOOLEAN:
            return [False, True]
        if type_ == INTEGER:
            numbers = [one for one in before.values() if type(one) is int]
            return list(range(-1, max([*numbers, *_NUMBERS]) + 1))
        if isinstance(type_, ElementType):
            return list(self._elements[type_.constant])
        if isinstance(type_, FunctionType) and isinstance(type_.argument, ElementType):
            members = self._elements[type_.argument.constant]
            return [
                function(zip(members, results, strict=True))
                for results in product(_NUMBERS, repeat=len(members))
            ]
        # The remaining type is a message: only one in flight can be taken.
        return [
            argument
            for name, known in self._theory.types.items()
            if isinstance(known, FunctionType) and known.argument == type_
            for argument in before[name]  # type: ignore[union-attr]  # it is a function, by its type
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """An action in one state: its formula and the bounds of Next, with that state substituted."""

    action: str
    parameters: tuple[Term, ...]
    formula: z3.BoolRef
    bounds: z3.BoolRef
    index: int
    before: KnownState


def _spread(indexes: Sequence[int], number: int) -> list[int]:
    """Return ``number`` of the indexes, evenly spread, with the first and the last."""
    if len(indexes) <= number:
        return list(indexes)
    last = max(number - 1, 1)
    return [indexes[at * (len(indexes) - 1) // last] for at in range(number)]


def _solver() -> z3.Solver:
    solver = z3.Solver()
    solver.set("rlimit", _EFFORT)
    return solver


def _is_satisfied(formula: z3.BoolRef) -> bool:
    """Return whether a formula about known values is true for some choice of CHOOSE."""
    if z3.is_true(formula) or z3.is_false(formula):
        return bool(z3.is_true(formula))
    solver = _solver()
    solver.push()
    solver.add(z3.Not(formula))
    if solver.check() == z3.unsat:
        return True
    solver.pop()
    solver.add(formula)
    return bool(solver.check() == z3.sat)
