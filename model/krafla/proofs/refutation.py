"""Claims that must fail: a step that breaks the claim, from a state that a behaviour reaches."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.collector import gc_paused
from krafla.proofs.counterexample import Counterexample
from krafla.proofs.depth import deeply_nested
from krafla.proofs.obligations import Kind
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from krafla.proofs.plans import Proof
    from krafla.proofs.prove import Proofs
    from krafla.proofs.reach import Reached

__all__ = ["Refutation", "refute"]

# For one action. z3 gives a different state each time; only some of them are reachable.
_STATES_TRIED = 200


@dataclass(frozen=True, slots=True)
class Refutation:
    """The result for a claim that must fail.

    ``counterexample`` is a step that breaks it, ``reached`` the search for the state before that
    step. The verdict is held (the claim failed, as it must) only if that state was reached.
    ``tried`` counts the states that z3 gave.
    """

    proof: Proof
    counterexample: Counterexample | None
    reached: Reached | None
    tried: int
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Return held if the claim was refuted by a behaviour, else inconclusive."""
        is_shown = self.reached is not None and self.reached.path is not None
        return Verdict.HELD if is_shown else Verdict.INCONCLUSIVE

    def as_json(self) -> dict[str, object]:
        """Return the answer as plain values."""
        path = None if self.reached is None else self.reached.path
        return {
            "proof": self.proof.name, "verdict": self.verdict.value,
            "step": None if self.counterexample is None else self.counterexample.step,
            "path": None if path is None else [action for action, _ in path],
            "tried": self.tried, "seconds": round(self.seconds, 3),
        }  # fmt: skip


@gc_paused()
@deeply_nested()
def refute(proofs: Proofs, proof: Proof) -> Refutation:
    """Return a step that breaks a claim, and the way to the state before it.

    z3 finds the step in a small world. TLC's evaluator confirms it, and searches for the way.
    """
    started = time.perf_counter()
    reach = proofs.reach(proof)
    last: tuple[Counterexample, Reached] | None = None
    tried = 0
    for case in proofs.cases_of(proof):
        if case.kind is not Kind.KEPT:
            continue
        solver = proofs.solver(proof)
        for goal in case.goals:
            situations = solver.situations(case, goal)
            situation = next(situations, None)
            for _ in range(_STATES_TRIED):
                if situation is None:
                    break
                tried += 1
                proofs.progress(f"{case.name}: states tried", tried, 0)
                where = (situation.constants, situation.before)
                reached = reach.search(*where)
                if reached.path is not None or last is None:
                    found = solver.confirm(case, goal, situation, case.hypotheses)
                    if isinstance(found, Counterexample):
                        last = (found, reached)
                        if reached.path is not None:
                            return Refutation(proof, *last, tried, time.perf_counter() - started)
                try:
                    situation = situations.send(reach.never_together(*where))
                except StopIteration:
                    break
    seconds = time.perf_counter() - started
    counterexample, reached_last = last or (None, None)
    return Refutation(proof, counterexample, reached_last, tried, seconds)
