"""All proofs of a subject: every obligation is answered, every action is shown possible."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

from krafla.collector import gc_paused
from krafla.manifest import search_path
from krafla.proofs.depth import deeply_nested
from krafla.proofs.obligations import Kind, cases
from krafla.proofs.plans import Proof, load_plans, shows_that_it_is_defined
from krafla.proofs.reach import Reach
from krafla.proofs.solver import EFFORT, Answer, Solver
from krafla.proofs.theory import Theory
from krafla.proofs.types import TYPE_INVARIANT
from krafla.verdict import KraflaError, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from krafla.proofs.obligations import Case, Goal

__all__ = ["CaseReport", "Progress", "Proofs", "ProofsReport"]

# The obligations of these kinds are worth nothing if no state has what they assume.
_ABOUT_STATES = (Kind.INITIAL, Kind.IMPLIED, Kind.KEPT)
# Called with the current task, the number of finished cases, and the number of all cases.
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The answers to one case: the start of a proof, its properties, or one action.

    ``is_possible`` is None if it was not asked: a stronger proof, or another case of the same
    action, has shown it.
    """

    proof: Proof
    name: str
    action: str | None
    answers: tuple[Answer, ...]
    is_possible: bool | None
    seconds: float

    @property
    def possibility(self) -> Verdict:
        """Return held unless the action is possible and should not be, or the other way round."""
        if self.is_possible is None:
            return Verdict.HELD
        expected = self.action not in dict(self.proof.never)
        return Verdict.HELD if self.is_possible is expected else Verdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class ProofsReport:
    """The answers to the obligations of a subject, case by case."""

    cases: tuple[CaseReport, ...]
    seconds: float

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Return the answers to all obligations."""
        return tuple(answer for case in self.cases for answer in case.answers)

    @property
    def verdict(self) -> Verdict:
        """Return the worst of all answers; an unknown one or an impossible action is not held."""
        return worst(
            [answer.verdict for answer in self.answers] + [case.possibility for case in self.cases]
        )


class Proofs:
    """The proofs of a subject in a folder of specs, or the ``plans`` given instead.

    Each theory is translated once. ``effort`` is the most steps of z3 for each obligation.
    """

    def __init__(
        self, specs: Path, subject: str, *, effort: int = EFFORT,
        progress: Progress = lambda _what, _done, _of: None, plans: Sequence[Proof] | None = None,
    ) -> None:  # fmt: skip
        self.subject = subject
        self._specs = specs
        self._searches: dict[str, Reach] = {}
        self.effort = effort
        self.plans = load_plans(specs, subject) if plans is None else tuple(plans)
        self.progress = progress
        self._theories = {
            module: Theory.load(
                module.stem, path=module, search_path=search_path(specs, module),
                needed=self._invariants_of(module),
            )
            for module in dict.fromkeys(plan.module for plan in self.plans)
        }  # fmt: skip
        self._solvers = {
            module: Solver(theory, specs, effort=effort)
            for module, theory in self._theories.items()
        }

    def _invariants_of(self, module: Path) -> list[str]:
        """Return what proofs of a module name; what it lacks of TypeOK has an error of its own."""
        named = (name for plan in self.plans if plan.module == module for name in plan.invariants)
        return [name for name in dict.fromkeys(named) if name != TYPE_INVARIANT]

    def theory(self, proof: Proof) -> Theory:
        """Return the theory of the module that a proof is about."""
        return self._theories[proof.module]

    def solver(self, proof: Proof) -> Solver:
        """Return the solver for the obligations of a proof."""
        return self._solvers[proof.module]

    def reach(self, proof: Proof) -> Reach:
        """Return the search for states by the steps that a proof is about."""
        if proof.name not in self._searches:
            self._searches[proof.name] = Reach(
                self.theory(proof), self._specs, proof.module, proof.step_conditions
            )
        return self._searches[proof.name]

    def cases_of(self, proof: Proof, place: str | None = None) -> Iterator[Case]:
        """Yield the cases of one proof, or those of one action or kind."""
        index = self.plans.index(proof)
        yield from cases(self.theory(proof), proof, self.plans[:index], place)

    def cases(self) -> Iterator[Case]:
        """Yield the cases of every proof that must succeed, in order."""
        for proof in self.plans:
            if not proof.is_refuted:
                yield from self.cases_of(proof)

    def chosen(self, only: str | None = None, *, alone: bool = False) -> list[Case]:
        """Return the cases that ``run`` asks about."""
        # If the pattern begins with the name of a proof, the others need not be translated.
        first = "*" if only is None else only.partition("/")[0]
        named = [one for one in self.plans if not one.is_refuted and fnmatchcase(one.name, first)]
        is_whole = only is not None and "/" not in only
        relied = self._relied(named) if is_whole and not alone else frozenset()
        chosen = []
        for proof in self.plans:
            pattern = only if proof in named else None
            if proof in named or proof.name in relied:
                found = self.cases_of(proof, _place(pattern))
                narrowed = (_narrowed(case, pattern) for case in found)
                chosen += [case for case in narrowed if case is not None]
        return chosen

    def _relied(self, named: Sequence[Proof]) -> frozenset[str]:
        """Return the names of the proofs that some rely on, directly or through others.

        A proof relies on those in its `after` and, unless it is `defined` itself, on the first
        proof that shows that what its actions evaluate has a meaning.
        """
        relied: set[str] = set()
        waiting = list(named)
        while waiting:
            proof = waiting.pop()
            others = {one for one in self.plans if one.name in proof.after}
            if not proof.is_defined:
                defining = (one for one in self.plans if shows_that_it_is_defined(one, proof))
                others.update([*defining][:1])
            waiting += [one for one in others if one.name not in relied]
            relied.update(one.name for one in others)
        return frozenset(relied)

    @gc_paused()
    @deeply_nested()
    def run(self, only: str | None = None, *, alone: bool = False) -> ProofsReport:
        """Return the answers to all obligations, or to those whose names match a pattern.

        ``only`` is a name, the beginning of one up to a slash, or has wildcards as in a shell. If
        it names whole proofs, those that they rely on are asked too, unless they are asked
        elsewhere: ``alone``. ``KraflaError`` if it matches nothing.
        """
        started = time.perf_counter()
        chosen = self.chosen(only, alone=alone)
        if not chosen:
            example = next(self.cases()).goals[0].obligation.name
            raise KraflaError(f"no obligation is named {only}; one is {example}")
        possible = self._possible(chosen)
        reports = []
        for number, case in enumerate(chosen):
            self.progress(case.name, number, len(chosen))
            before = time.perf_counter()
            answers = tuple(self.solver(case.proof).answers(case))
            seconds = time.perf_counter() - before
            reports.append(
                CaseReport(
                    case.proof, case.name, case.action, answers, possible.get(case.name), seconds
                )
            )
        return ProofsReport(tuple(reports), time.perf_counter() - started)

    def _possible(self, chosen: Sequence[Case]) -> dict[str, bool]:
        """Return for each case whether it can happen.

        A case is left out if a proof that builds on this one has a possible step of the same
        action, and that is a step here too.
        """
        plans = {proof.name: proof for proof in self.plans}
        found: dict[str, bool] = {}
        known: set[tuple[str, Kind, str | None]] = set()
        wanted = [case for case in reversed(chosen) if case.kind in _ABOUT_STATES]
        # Whether an action is defined has its own states and parameters, so ask for these too.
        wanted += [case for case in chosen if case.kind is Kind.DEFINED and case.action is not None]
        for number, case in enumerate(wanted):
            if (case.proof.name, case.kind, case.action) in known:
                continue
            self.progress(f"can {case.name} happen", number, len(wanted))
            found[case.name] = self.solver(case.proof).is_possible(case)
            if found[case.name]:
                kinds = (case.kind, Kind.DEFINED)
                weaker = [
                    name
                    for name in case.proof.after
                    if name in plans and _has_action(plans[name], case)
                ]
                known |= {(name, kind, case.action) for name in weaker for kind in kinds}
                known.add((case.proof.name, Kind.DEFINED, case.action))
        return found


def _has_action(proof: Proof, case: Case) -> bool:
    """Return whether a step of `case` is also a step in `proof`, on which the case's proof builds.

    It is not if only the case's proof allows any parameters, or if `proof` never expects it.
    """
    action = case.action
    is_free = action in case.proof.any_parameters and action not in proof.any_parameters
    return not is_free and action not in dict(proof.never)


def _place(only: str | None) -> str | None:
    """Return the action or kind that a pattern names: the others need no translation."""
    parts = [] if only is None else only.split("/")[:2]
    is_one = len(parts) == 2 and not set("*?[").intersection("".join(parts))
    return parts[1] if is_one else None


def _narrowed(case: Case, only: str | None) -> Case | None:
    """Return the case with the goals that match; None if none does."""
    goals = tuple(goal for goal in case.goals if only is None or _matches(goal, only))
    return replace(case, goals=goals) if goals else None


def _matches(goal: Goal, only: str) -> bool:
    name = goal.obligation.name
    return name.startswith(f"{only}/") or fnmatchcase(name, only)
