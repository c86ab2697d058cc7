"""The questions of ``krafla verify`` that are answered without bounds, by proof."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

from krafla.counted import counted
from krafla.manifest import find_specs
from krafla.proofs.plans import load_plans
from krafla.verdict import Verdict
from krafla.verify.foundations import foundation
from krafla.verify.rows import Kind, Question, Row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from krafla.proofs.plans import Proof
    from krafla.proofs.prove import Proofs

__all__ = ["proof_question", "proof_questions"]

_SUBJECT = "lease"


def proof_questions() -> tuple[Question, ...]:
    """Return, for each proof that must succeed, the question whether it does."""
    plans = load_plans(find_specs(), _SUBJECT)
    return tuple(proof_question(plan) for plan in plans if not plan.is_refuted)


def proof_question(plan: Proof) -> Question:
    """Return the question whether z3 proves every obligation of one proof."""
    name = f"{_SUBJECT}: {plan.name}"
    reproduce = f"krafla prove {_SUBJECT} --only {plan.name}"

    def ask(progress: Callable[[str], None]) -> Row:
        started = time.monotonic()
        progress(f"{name}: reading the spec")
        proofs = _proofs(find_specs())
        proofs.progress = lambda what, done, of: progress(f"{what} [{done}/{of}]")
        report = proofs.run(plan.name, alone=True)
        answers = report.answers
        proved = sum(answer.verdict is Verdict.HELD for answer in answers)
        possible = sum(case.is_possible is True for case in report.cases if case.action)
        wrong = [answer for answer in answers if answer.verdict is not Verdict.HELD]
        doubted = [case for case in report.cases if case.possibility is not Verdict.HELD]
        conditions = (*plan.conditions, *plan.step_conditions)
        within = "any number of brokers and processes, any timeouts"
        return Row(
            Kind.PROOF,
            name,
            report.verdict,
            f"{within}, if {', '.join(conditions)}" if conditions else within,
            (
                f"{proved:,} of {len(answers):,} obligations proved",
                f"{counted(possible, 'action')} shown possible",
            ),
            (
                *(f"{one.obligation.name}: {one.reason or one.verdict.value}" for one in wrong),
                *(f"{one.name}: z3 and the plan differ on whether it can be" for one in doubted),
            ),
            reproduce,
            time.monotonic() - started,
        )

    return Question(Kind.PROOF, name, reproduce, ask, weight=8, rests_on=foundation)


@functools.cache
def _proofs(specs: Path) -> Proofs:
    # Translated once for all questions.
    from krafla.proofs.prove import Proofs

    return Proofs(specs, _SUBJECT)
