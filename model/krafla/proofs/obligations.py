"""The obligations of a proof: each clause at the start and after each action, each property."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from krafla.oracle.syntax import Apply, Call
from krafla.proofs.specification import INIT
from krafla.proofs.terms import conjunction, implication
from krafla.proofs.types import TYPE_INVARIANT
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import z3  # type: ignore[import-untyped]  # z3 ships no types

    from krafla.proofs.plans import Proof
    from krafla.proofs.terms import Term
    from krafla.proofs.theory import State, Theory
    from krafla.proofs.translate import Requirement

__all__ = [
    "Case", "Goal", "Hypothesis", "Kind", "Obligation", "cases", "clauses", "clauses_of",
    "own_clauses",
]  # fmt: skip


class Kind(Enum):
    """The kind of an obligation."""

    INITIAL = "initial"
    KEPT = "kept"
    IMPLIED = "implied"
    STEP = "step"
    DEFINED = "defined"
    FITS = "fits"


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
        place = self.action or ("initial" if self.kind is Kind.FITS else self.kind.value)
        return "/".join((self.proof, place, self.goal))


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
        if self.action is None:
            kind = Kind.INITIAL if self.kind is Kind.FITS else self.kind
            return f"{self.proof.name}/{kind.value}"
        name = f"{self.proof.name}/{self.action}"
        return f"{name}/{self.kind.value}" if self.kind in (Kind.DEFINED, Kind.FITS) else name


def clauses(theory: Theory, invariant: str) -> tuple[str, ...]:
    """Return the operators in the conjunction of an invariant, also through nested conjunctions.

    ``TypeOK`` is one clause: the proof is about its types.
    """
    body = theory.module.operator(invariant).body
    if invariant == TYPE_INVARIANT:
        return (invariant,)
    if not isinstance(body, Apply) or body.operator not in ("$ConjList", "\\land"):
        return (invariant,)
    names = [
        part.definition.name
        for part in body.arguments
        if isinstance(part, Call)
        and not part.arguments
        # A LOCAL operator of an extended module may have a namesake here.
        and theory.module.operators.get(part.definition.name) is part.definition
    ]
    if len(names) < len(body.arguments):
        return (invariant,)
    return tuple(dict.fromkeys(clause for name in names for clause in clauses(theory, name)))


def clauses_of(theory: Theory, proof: Proof) -> tuple[str, ...]:
    """Return the clauses of all invariants of a proof."""
    found = (clause for name in proof.invariants for clause in clauses(theory, name))
    return tuple(dict.fromkeys(found))


def own_clauses(theory: Theory, proof: Proof, earlier: Sequence[Proof]) -> tuple[str, ...]:
    """Return the clauses of the invariant that the proofs it builds on do not have."""
    known = {
        clause
        for other in earlier
        if other.name in proof.after
        for clause in clauses_of(theory, other)
    }
    return tuple(one for one in clauses_of(theory, proof) if one not in known)


def cases(
    theory: Theory, proof: Proof, earlier: Sequence[Proof] = (), place: str | None = None
) -> Iterator[Case]:
    """Yield the obligations of a proof: at the start, of every state, of each action of Next.

    ``earlier`` are the proofs before it. The clauses of those in ``proof.after`` are assumed, and
    not shown again. ``place`` asks for those of one action only, or of ``initial``, ``implied`` or
    ``defined``. ``KraflaError`` if no clause gives the variables their types.
    """
    _check_names(theory, proof)
    own = own_clauses(theory, proof, earlier)
    builder = _Builder(theory, proof, own)
    if TYPE_INVARIANT not in clauses_of(theory, proof):
        raise KraflaError(
            f"{TYPE_INVARIANT} is no clause of {', '.join(proof.invariants)}: its types would be "
            "assumed and not shown",
            proof.place,
        )
    are_types_own = TYPE_INVARIANT in own
    if place in (None, Kind.INITIAL.value):
        yield builder.initial()
        if are_types_own:
            yield builder.initial_fits()
    if place in (None, Kind.DEFINED.value):
        yield from builder.meanings()
    if place in (None, Kind.IMPLIED.value):
        yield builder.implied()
    for action in theory.actions:
        if place not in (None, action.name):
            continue
        yield builder.step(action.name)
        if are_types_own:
            yield builder.fits(action.name)
        if proof.is_defined:
            yield builder.defined(action.name)


class _Builder:
    def __init__(self, theory: Theory, proof: Proof, own: tuple[str, ...]) -> None:
        self.theory, self.proof, self.own = theory, proof, own
        self.before, self.after = theory.state("before"), theory.state("after")
        self.constants = (
            *(conjunct.formula for conjunct in theory.assumptions()),
            *(theory.predicate(name, None) for name in proof.conditions),
        )
        self.hypotheses = tuple(
            Hypothesis(clause, conjunct.formula)
            for clause in clauses_of(theory, proof)
            for conjunct in theory.conjuncts(clause, self.before)
        )

    def initial(self) -> Case:
        premises = (*self.constants, self.theory.predicate(INIT, self.before))
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
        premises = (
            *self._of_action(action, parameters),
            theory.action(action, parameters, before, after),
            *(theory.step_property(name, before, after) for name in self.proof.step_conditions),
        )
        kept = self._goals(Kind.KEPT, action, self.own, after)
        steps = tuple(
            Goal(
                Obligation(self.proof.name, Kind.STEP, action, name),
                theory.step_property(name, before, after),
            )
            for name in self.proof.steps
        )
        return Case(
            self.proof, Kind.KEPT, action, premises, self.hypotheses, (*kept, *steps),
            tuple(parameters),
        )  # fmt: skip

    def initial_fits(self) -> Case:
        """Return the case that every initial value belongs to its variable's type."""
        found = self.theory.misfits(INIT, (), None, self.before)
        goals = self._required(Kind.FITS, None, Kind.FITS.value, found)
        return Case(self.proof, Kind.FITS, None, self.constants, (), goals, ())

    def fits(self, action: str) -> Case:
        """Return the case that every value that an action assigns belongs to its variable's type.

        The action is not assumed: its formula has no steps to other values.
        """
        theory, kind = self.theory, Kind.FITS
        parameters = theory.parameters(action)
        found = theory.misfits(action, parameters, self.before, self.after)
        goals = self._required(kind, action, kind.value, found)
        return Case(
            self.proof, kind, action, self._of_action(action, parameters), self.hypotheses, goals,
            tuple(parameters),
        )  # fmt: skip

    def defined(self, action: str) -> Case:
        """Return the case that everything the action evaluates has a meaning, taken or not.

        That a parameter is in its set is no premise: whether the set has a meaning is asked, too.
        """
        theory, kind = self.theory, Kind.DEFINED
        parameters = theory.parameters(action)
        found = theory.requirements(
            action, parameters, self.before, self.after,
            within_bounds=action not in self.proof.any_parameters,
        )  # fmt: skip
        goals = self._required(kind, action, kind.value, found)
        return Case(
            self.proof, kind, action, self.constants, self.hypotheses, goals, tuple(parameters)
        )  # fmt: skip

    def _of_action(self, action: str, parameters: Sequence[Term]) -> tuple[z3.BoolRef, ...]:
        """Return what is known of the parameters of an action, and of the constants."""
        if action in self.proof.any_parameters:
            return self.constants
        return (*self.constants, *self.theory.bounds(action, parameters, self.before))

    def meanings(self) -> Iterator[Case]:
        """Yield the cases that what is assumed, started from, claimed and concluded has a meaning.

        A clause may rely on those before it, a conclusion on all of them.
        """
        theory, kind = self.theory, Kind.DEFINED
        assumed = conjunction(*(conjunct.formula for conjunct in theory.assumptions()))
        found = theory.assumption_requirements()
        for name in self.proof.conditions:
            for one in theory.requirements(name, (), None):
                found.append(replace(one, formula=implication(assumed, one.formula)))
        goals = self._required(kind, None, "ASSUME", found)
        yield Case(self.proof, kind, None, (), (), goals, ())
        found = theory.requirements(INIT, (), self.before)
        goals = self._required(kind, None, INIT, found)
        yield Case(self.proof, kind, None, self.constants, (), goals, ())
        for clause in self.own:
            known = tuple(self._before(clause))
            goals = self._required(
                kind, None, clause, theory.requirements(clause, (), self.before)
            )  # fmt: skip
            yield Case(self.proof, kind, None, self.constants, known, goals, ())
        goals = tuple(
            goal
            for name in self.proof.implies
            for goal in self._required(kind, None, name, theory.requirements(name, (), self.before))
        )
        yield Case(self.proof, kind, None, self.constants, self.hypotheses, goals, ())
        yield self._steps_defined()

    def _before(self, clause: str) -> Iterator[Hypothesis]:
        for one in self.hypotheses:
            if one.clause == clause:
                return
            yield one

    def _steps_defined(self) -> Case:
        """Return the case that properties of steps have a meaning, whatever the step."""
        theory = self.theory
        names = (*self.proof.step_conditions, *self.proof.steps)
        goals = tuple(
            goal
            for name in names
            for goal in self._required(
                Kind.DEFINED, None, name,
                theory.requirements(name, (), self.before, self.after),
            )
        )  # fmt: skip
        kept = () if not goals else tuple(
            conjunct.formula
            for clause in clauses_of(theory, self.proof)
            for conjunct in theory.conjuncts(clause, self.after)
        )  # fmt: skip
        premises = (*self.constants, *kept)
        return Case(self.proof, Kind.DEFINED, None, premises, self.hypotheses, goals, ())

    def _required(
        self, kind: Kind, action: str | None, goal: str, found: Sequence[Requirement]
    ) -> tuple[Goal, ...]:
        return tuple(
            Goal(Obligation(self.proof.name, kind, action, goal, number), one.formula)
            for number, one in enumerate(found, start=1)
        )

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
