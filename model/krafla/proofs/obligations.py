"""The obligations of a proof: each clause at the start and after each action, each property."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from krafla.oracle.syntax import Apply, Call
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import z3  # type: ignore[import-untyped]  # z3 ships no types

    from krafla.proofs.plans import Proof
    from krafla.proofs.terms import Term
    from krafla.proofs.theory import State, Theory

__all__ = ["Case", "Goal", "Hypothesis", "Kind", "Obligation", "cases", "clauses", "own_clauses"]


class Kind(Enum):
    """The kind of an obligation."""

    INITIAL = "initial"
    KEPT = "kept"
    IMPLIED = "implied"
    STEP = "step"
    DEFINED = "defined"


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to show: ``goal`` is a clause or property, ``action`` that of the step, if any.

    Each conjunct of the goal is an obligation of its own; ``conjunct`` is its number.
    """

    proof: str
    kind: Kind
    action: str | None
    goal: str
    conjunct: int = 1

    @property
    def name(self) -> str:
        """Return the name for ``--only``."""
        return "/".join((self.proof, self.action or self.kind.value, self.goal))


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """A clause of the invariant, or a condition, that holds before the step."""

    clause: str
    formula: z3.BoolRef


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """A formula to show, and its obligation."""

    obligation: Obligation
    formula: z3.BoolRef


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The obligations with the same assumptions: at the start, without a step, or of one action.

    ``premises`` are always assumed: the action, and the facts about constants. ``hypotheses`` can
    be left out, to find out whether they are needed. ``before`` and ``after`` are the states.
    """

    proof: Proof
    kind: Kind
    action: str | None
    premises: tuple[z3.BoolRef, ...]
    hypotheses: tuple[Hypothesis, ...]
    goals: tuple[Goal, ...]
    parameters: tuple[Term, ...]

    @property
    def name(self) -> str:
        """Return the name of the proof, and the action or the kind."""
        name = f"{self.proof.name}/{self.action or self.kind.value}"
        return f"{name}/{self.kind.value}" if self.kind is Kind.DEFINED else name


def clauses(theory: Theory, invariant: str) -> tuple[str, ...]:
    """Return the operators in the conjunction of an invariant, also through nested conjunctions."""
    body = theory.module.operator(invariant).body
    if not isinstance(body, Apply) or body.operator not in ("$ConjList", "\\land"):
        return (invariant,)
    names = [
        part.definition.name
        for part in body.arguments
        if isinstance(part, Call) and not part.arguments
    ]
    if len(names) < len(body.arguments):
        return (invariant,)
    return tuple(dict.fromkeys(clause for name in names for clause in clauses(theory, name)))


def own_clauses(theory: Theory, proof: Proof, earlier: Sequence[Proof]) -> tuple[str, ...]:
    """Return the clauses of the invariant that the proofs it builds on do not have."""
    known = {
        clause
        for other in earlier
        if other.name in proof.after
        for clause in clauses(theory, other.invariant)
    }
    return tuple(one for one in clauses(theory, proof.invariant) if one not in known)


def cases(theory: Theory, proof: Proof, earlier: Sequence[Proof] = ()) -> Iterator[Case]:
    """Yield the obligations of a proof: at the start, of every state, of each action of Next.

    ``earlier`` are the proofs before it. The clauses of those in ``proof.after`` are assumed, and
    not shown again.
    """
    _check_names(theory, proof)
    builder = _Builder(theory, proof, own_clauses(theory, proof, earlier))
    yield builder.initial()
    yield builder.implied()
    for action in theory.actions:
        yield builder.step(action.name)
        if proof.is_defined:
            yield builder.defined(action.name)


class _Builder:
    def __init__(self, theory: Theory, proof: Proof, own: tuple[str, ...]) -> None:
        self.theory, self.proof, self.own = theory, proof, own
        self.before, self.after = theory.state("before"), theory.state("after")
        self.constants = (
            *(conjunct.formula for conjunct in theory.assumptions()),
            *(theory.predicate(name, self.before) for name in proof.conditions),
        )
        self.hypotheses = tuple(
            Hypothesis(clause, conjunct.formula)
            for clause in clauses(theory, proof.invariant)
            for conjunct in theory.conjuncts(clause, self.before)
        )

    def initial(self) -> Case:
        premises = (*self.constants, self.theory.predicate("Init", self.before))
        goals = self._goals(Kind.INITIAL, None, self.own, self.before)
        return Case(self.proof, Kind.INITIAL, None, premises, (), goals, ())

    def implied(self) -> Case:
        goals = self._goals(Kind.IMPLIED, None, self.proof.implies, self.before)
        return Case(
            self.proof, Kind.IMPLIED, None, self.constants, self.hypotheses, goals, ()
        )  # fmt: skip

    def step(self, action: str) -> Case:
        theory, before, after = self.theory, self.before, self.after
        parameters = theory.parameters(action)
        premises = [*self.constants, theory.action(action, parameters, before, after)]
        if action not in self.proof.any_parameters:
            premises += theory.bounds(action, parameters, before)
        premises += [
            theory.step_property(name, before, after) for name in self.proof.step_conditions
        ]
        kept = self._goals(Kind.KEPT, action, self.own, after)
        steps = tuple(
            Goal(
                Obligation(self.proof.name, Kind.STEP, action, name),
                theory.step_property(name, before, after),
            )
            for name in self.proof.steps
        )
        return Case(
            self.proof, Kind.KEPT, action, tuple(premises), self.hypotheses, (*kept, *steps),
            tuple(parameters),
        )  # fmt: skip

    def defined(self, action: str) -> Case:
        """Return the case that everything the action evaluates has a meaning, taken or not."""
        theory, kind = self.theory, Kind.DEFINED
        parameters = theory.parameters(action)
        premises = [*self.constants]
        if action not in self.proof.any_parameters:
            premises += theory.bounds(action, parameters, self.before)
        found = theory.requirements(action, parameters, self.before, self.after)
        goals = tuple(
            Goal(Obligation(self.proof.name, kind, action, kind.value, number), one.formula)
            for number, one in enumerate(found, start=1)
        )
        return Case(
            self.proof, kind, action, tuple(premises), self.hypotheses, goals, tuple(parameters)
        )  # fmt: skip

    def _goals(
        self, kind: Kind, action: str | None, names: Sequence[str], state: State
    ) -> tuple[Goal, ...]:
        """Return the goals that these operators hold in a state, conjunct by conjunct."""
        return tuple(
            Goal(Obligation(self.proof.name, kind, action, name, number), conjunct.formula)
            for name in names
            for number, conjunct in enumerate(self.theory.conjuncts(name, state), start=1)
        )


def _check_names(theory: Theory, proof: Proof) -> None:
    known = {action.name for action in theory.actions}
    for name in (*dict(proof.never), *proof.any_parameters):
        if name not in known:
            raise KraflaError(f"{name!r} is no action of {proof.module.stem}", proof.place)
