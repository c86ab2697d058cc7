"""z3's answer to an obligation: proved, refuted by a step that TLC confirms, or unknown."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.manifest import search_path
from krafla.proofs.counterexample import Counterexample, confirmed, is_initial
from krafla.proofs.domains import Unlisted
from krafla.proofs.finite import SmallWorlds
from krafla.proofs.model_values import Reader
from krafla.proofs.obligations import Kind
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Sequence
    from pathlib import Path

    from krafla.proofs.finite import Found
    from krafla.proofs.model_values import Situation
    from krafla.proofs.obligations import Case, Goal, Hypothesis, Obligation
    from krafla.proofs.theory import Theory

__all__ = ["EFFORT", "Answer", "Solver"]

# Limits are counted in z3's own steps, its rlimit, so that no answer depends on the machine or on
# what else it does. z3 takes one to two million steps a second among quantifiers.
EFFORT = 20_000_000
# No proof of the lease takes a tenth of this. After it a counterexample is sought, before more is
# spent on the proof.
_FIRST = 2_000_000
# For finding out whether a proof needs a clause.
_AGAIN = 600_000


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an obligation.

    ``used`` names the clauses and conditions that the found proof uses. ``reason`` says why the
    answer is unknown.
    """

    obligation: Obligation
    verdict: Verdict
    seconds: float
    used: frozenset[str] = frozenset()
    counterexample: Counterexample | None = None
    reason: str = ""


class Solver:
    """Asks z3 about the obligations of one theory; ``specs`` is the folder of its modules.

    ``effort`` is the most steps of z3 for each obligation.
    """

    def __init__(self, theory: Theory, specs: Path, *, effort: int = EFFORT) -> None:
        self._theory = theory
        self._specs = specs
        self._effort = effort
        self._worlds = SmallWorlds(theory)

    def answers(self, case: Case) -> Iterator[Answer]:
        """Yield the answer to each obligation of a case."""
        hypotheses = list(case.hypotheses)
        solver = z3.Solver()
        solver.set("random_seed", 0)
        solver.add(*case.premises)
        switches = {}
        for number, hypothesis in enumerate(hypotheses):
            # No symbol of a module begins so.
            switch = z3.Bool(f"?hypothesis.{number}")
            switches[switch.get_id()] = (switch, hypothesis.clause)
            solver.add(z3.Implies(switch, hypothesis.formula))
        for goal in case.goals:
            yield self._answer(case, goal, hypotheses, solver, switches)

    def failing(self, case: Case, goal: Goal, *, without: str) -> Counterexample | None:
        """Return a step that breaks the goal if a clause is left out; None if none was found."""
        hypotheses = [one for one in case.hypotheses if one.clause != without]
        solver = z3.Solver()
        solver.add(*case.premises, *(one.formula for one in hypotheses), z3.Not(goal.formula))
        if _checked(solver, [], _AGAIN) == z3.unsat:
            return None
        found = self._counterexample(case, goal, hypotheses)
        return None if isinstance(found, str) else found

    def is_possible(self, case: Case) -> bool:
        """Return whether the hypotheses and the step of a case hold together in a small world.

        At the start, the state must also be initial for TLC's evaluator.
        """
        formulas = [*case.premises, *(one.formula for one in case.hypotheses)]
        found = self._worlds.model(formulas)
        if found is None or case.kind is not Kind.INITIAL:
            return found is not None
        module = case.proof.module
        situation = self._read(case, found)
        return not isinstance(situation, Unlisted) and is_initial(
            case, situation,
            module=module.stem, path=module, search_path=search_path(self._specs, module),
        )  # fmt: skip

    def _answer(
        self, case: Case, goal: Goal, hypotheses: list[Hypothesis], solver: z3.Solver,
        switches: dict[int, tuple[z3.BoolRef, str]],
    ) -> Answer:  # fmt: skip
        started = time.perf_counter()
        on = [switch for switch, _ in switches.values()]
        solver.push()
        solver.add(z3.Not(goal.formula))
        counterexample: Counterexample | str = ""
        found = _checked(solver, on, min(_FIRST, self._effort))
        if found != z3.unsat:
            counterexample = self._counterexample(case, goal, hypotheses)
            if isinstance(counterexample, str) and self._effort > _FIRST:
                found = _checked(solver, on, self._effort - _FIRST)
        core = [] if found != z3.unsat else solver.unsat_core()
        reason = solver.reason_unknown() if found == z3.unknown else "z3 has a counterexample"
        solver.pop()
        seconds = time.perf_counter() - started
        if found == z3.unsat:
            used = frozenset(switches[switch.get_id()][1] for switch in core)
            return Answer(goal.obligation, Verdict.HELD, seconds, used)
        if isinstance(counterexample, Counterexample):
            return Answer(goal.obligation, Verdict.VIOLATED, seconds, counterexample=counterexample)
        return Answer(
            goal.obligation, Verdict.INCONCLUSIVE, seconds, reason=f"{reason}; {counterexample}"
        )

    def situations(
        self, case: Case, goal: Goal
    ) -> Generator[Situation, Collection[str] | None, None]:
        """Yield states of a small world, with parameters, from which a step breaks the goal.

        z3 says so; ``confirm`` asks TLC. All have the same constants. The caller can send names of
        variables: no later state has their values of the last one.
        """
        formulas = [*case.premises, *(one.formula for one in case.hypotheses)]
        models = self._worlds.models([*formulas, z3.Not(goal.formula)])
        found = next(models, None)
        while found is not None:
            situation = self._read(case, found)
            if isinstance(situation, Unlisted):
                return
            variables = yield situation
            try:
                found = models.send(variables)
            except StopIteration:
                return

    def confirm(
        self, case: Case, goal: Goal, situation: Situation, hypotheses: Sequence[Hypothesis]
    ) -> Counterexample | str:
        """Return a situation as a counterexample if TLC's evaluator agrees, else the reason."""
        module = case.proof.module
        answer = confirmed(
            case, goal.obligation, situation, [one.clause for one in hypotheses],
            module=module.stem, path=module, search_path=search_path(self._specs, module),
        )  # fmt: skip
        return f"TLC does not agree: {answer}" if isinstance(answer, str) else answer

    def _counterexample(
        self, case: Case, goal: Goal, hypotheses: Sequence[Hypothesis]
    ) -> Counterexample | str:
        formulas = [*case.premises, *(one.formula for one in hypotheses), z3.Not(goal.formula)]
        found = self._worlds.model(formulas)
        if found is None:
            return "no counterexample among the few values that were tried"
        situation = self._read(case, found)
        if isinstance(situation, Unlisted):
            return str(situation)
        return self.confirm(case, goal, situation, hypotheses)

    def _read(self, case: Case, found: Found) -> Situation | Unlisted:
        reader = Reader(self._theory, found)
        try:
            return reader.situation(self._theory.state("before"), case.parameters)
        except Unlisted as error:
            return error


def _checked(solver: z3.Solver, on: list[z3.BoolRef], effort: int) -> z3.CheckSatResult:
    solver.set("rlimit", effort)
    return solver.check(*on)
