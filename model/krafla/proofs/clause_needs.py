"""The clauses that an invariant needs: what fails without each of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from krafla.collector import gc_paused
from krafla.proofs.depth import deeply_nested
from krafla.proofs.obligations import Kind, own_clauses
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from krafla.proofs.counterexample import Counterexample
    from krafla.proofs.obligations import Case
    from krafla.proofs.prove import Proofs
    from krafla.proofs.solver import Answer

__all__ = ["Need", "needs"]


@dataclass(frozen=True, slots=True)
class Need:
    """The obligation that fails if one clause is left out of every invariant.

    Without a ``counterexample`` none was found to fail, so the clause is not shown needed.
    ``tried`` counts the obligations that were tried.
    """

    clause: str
    proof: str
    counterexample: Counterexample | None
    tried: int
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Return held if the clause is shown needed, else inconclusive."""
        return Verdict.INCONCLUSIVE if self.counterexample is None else Verdict.HELD

    def as_json(self) -> dict[str, object]:
        """Return the answer as plain values."""
        found = self.counterexample
        return {
            "clause": self.clause, "proof": self.proof, "verdict": self.verdict.value,
            "fails": None if found is None else found.obligation.name,
            "step": None if found is None else found.step,
            "tried": self.tried, "seconds": round(self.seconds, 3),
        }  # fmt: skip


@gc_paused()
@deeply_nested()
def needs(proofs: Proofs, only: str | None = None) -> tuple[Need, ...]:
    """Return for each clause an obligation that fails without it, with the step that shows so.

    ``only`` is a clause's name, or has wildcards as in a shell; ``KraflaError`` if it matches none.
    """
    wanted = [
        (proof.name, clause)
        for index, proof in enumerate(proofs.plans)
        for clause in own_clauses(proofs.theory(proof), proof, proofs.plans[:index])
        if not proof.is_refuted and (only is None or fnmatchcase(clause, only))
    ]
    if not wanted:
        raise KraflaError(f"no clause is named {only}")
    # An obligation can fail only if its proof used the clause, so no others are tried.
    answered = []
    all_cases = list(proofs.cases())
    for number, case in enumerate(all_cases):
        proofs.progress(case.name, number, len(all_cases))
        answered += [(case, answer) for answer in proofs.solver(case.proof).answers(case)]
    found = []
    for number, (proof, clause) in enumerate(wanted):
        proofs.progress(f"without {clause}", number, len(wanted))
        found.append(_need(proofs, proof, clause, answered))
    return tuple(found)


def _need(
    proofs: Proofs, proof: str, clause: str, answered: list[tuple[Case, Answer]]
) -> Need:  # fmt: skip
    started = time.perf_counter()
    tried = 0
    for case, answer in answered:
        obligation = answer.obligation
        # Without the clause, keeping it is no obligation; properties remain obligations.
        is_asked = obligation.goal != clause or obligation.kind is Kind.IMPLIED
        if clause not in answer.used or not is_asked:
            continue
        tried += 1
        goal = next(goal for goal in case.goals if goal.obligation == obligation)
        found = proofs.solver(case.proof).failing(case, goal, without=clause)
        if found is not None:
            return Need(clause, proof, found, tried, time.perf_counter() - started)
    return Need(clause, proof, None, tried, time.perf_counter() - started)
