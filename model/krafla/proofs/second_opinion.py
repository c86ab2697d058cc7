"""A second solver about what z3 has proved: cvc5, which shares no code with z3."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import z3  # type: ignore[import-untyped]  # z3 ships no types

from krafla.collector import gc_paused
from krafla.proofs.depth import deeply_nested
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from krafla.proofs.obligations import Case, Goal, Obligation
    from krafla.proofs.prove import Proofs
    from krafla.proofs.solver import Answer

__all__ = ["Opinion", "second_opinions"]

# The most steps of cvc5 for an obligation, its rlimit.
_EFFORT = 2_000_000


@dataclass(frozen=True, slots=True)
class Opinion:
    """What cvc5 says of an obligation that z3 has proved.

    Held: it proves it too. Violated: it has a model of the assumptions and the denied goal.
    """

    obligation: Obligation
    verdict: Verdict
    seconds: float

    def as_json(self) -> dict[str, object]:
        """Return the answer as plain values."""
        return {
            "name": self.obligation.name, "conjunct": self.obligation.conjunct,
            "verdict": self.verdict.value, "seconds": round(self.seconds, 3),
        }  # fmt: skip


@gc_paused()
@deeply_nested()
def second_opinions(proofs: Proofs, only: str | None = None) -> tuple[Opinion, ...]:
    """Return cvc5's opinion on each obligation, or on those whose names match a pattern.

    cvc5 gets the assumptions that z3's proof needed; fewer make it faster, and more would not make
    a proof wrong. ``KraflaError`` if cvc5 is not installed, or z3 has not proved an obligation.
    """
    cvc5 = _cvc5()
    cases = proofs.chosen(only)
    if not cases:
        raise KraflaError(f"no obligation is named {only}")
    found = []
    for number, case in enumerate(cases):
        proofs.progress(f"cvc5: {case.name}", number, len(cases))
        answers = proofs.solver(case.proof).answers(case)
        pairs = zip(case.goals, answers, strict=True)
        found += [_opinion(cvc5, case, goal, answer) for goal, answer in pairs]
    return tuple(found)


def _cvc5() -> Any:
    try:
        import cvc5  # type: ignore[import-untyped]  # it ships no types
    except ImportError:
        raise KraflaError(
            "cvc5 is not installed here: pip install 'krafla[second-opinion]'"
        ) from None
    return cvc5


def _opinion(cvc5: Any, case: Case, goal: Goal, answer: Answer) -> Opinion:
    if answer.verdict is not Verdict.HELD:
        return Opinion(goal.obligation, Verdict.INCONCLUSIVE, 0.0)
    started = time.perf_counter()
    asked = z3.Solver()
    asked.add(*case.premises)
    asked.add(*(one.formula for one in case.hypotheses if one.clause in answer.used))
    asked.add(z3.Not(goal.formula))
    word = _word(cvc5, asked.to_smt2())
    verdicts = {"unsat": Verdict.HELD, "sat": Verdict.VIOLATED}
    seconds = time.perf_counter() - started
    return Opinion(goal.obligation, verdicts.get(word, Verdict.INCONCLUSIVE), seconds)


def _word(cvc5: Any, text: str) -> str:
    """Return cvc5's answer to formulas in SMT-LIB: sat, unsat or unknown."""
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit-per", str(_EFFORT))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"(set-logic ALL)\n{text}", "obligation")
    names = parser.getSymbolManager()
    word = "unknown"
    while True:
        command = parser.nextCommand()
        if command.isNull():
            return word
        word = str(command.invoke(solver, names)).strip() or word
