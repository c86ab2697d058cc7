"""Invariants of a module by its path, tried without a list of proofs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.proofs.depth import deeply_nested
from krafla.proofs.plans import trial_plan
from krafla.proofs.prove import Proofs
from krafla.proofs.refutation import refute
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.proofs.prove import Progress, ProofsReport
    from krafla.proofs.reach import Reached
    from krafla.proofs.refutation import Refutation

__all__ = ["Trial", "try_invariants"]


@dataclass(frozen=True, slots=True)
class Trial:
    """The answer for the invariants of a module.

    ``reached`` are the searches for the states from which a step breaks an obligation. The
    invariants are violated only if a behaviour reaches one: else they are merely not inductive.
    ``refutation`` is a further search for such a behaviour, None if none was needed. All of these
    searches took ``search_seconds``.
    """

    proofs: Proofs
    report: ProofsReport
    reached: tuple[Reached, ...]
    refutation: Refutation | None
    search_seconds: float

    @property
    def verdict(self) -> Verdict:
        """Return held if all was proved, violated if a behaviour refutes it, else inconclusive."""
        if self.report.verdict is Verdict.HELD:
            return Verdict.HELD
        is_refuted = any(one.path is not None for one in self.reached) or (
            self.refutation is not None and self.refutation.verdict is Verdict.HELD
        )
        return Verdict.VIOLATED if is_refuted else Verdict.INCONCLUSIVE


@deeply_nested()
def try_invariants(
    specs: Path, module: Path, invariants: tuple[str, ...], *, effort: int, progress: Progress
) -> Trial:
    """Return whether invariants hold together, and ``TypeOK`` with them.

    ``Untranslatable`` if the module has something that no proof can be about.
    """
    plan = trial_plan(module, invariants)
    proofs = Proofs(specs, module.stem, effort=effort, progress=progress, plans=(plan,))
    report = proofs.run()
    began = time.perf_counter()
    found = [one.counterexample for one in report.answers if one.counterexample is not None]
    reached = tuple(
        proofs.reach(plan).search(one.constants, dict(one.before.items())) for one in found
    )
    is_refuted = any(one.path is not None for one in reached)
    refutation = refute(proofs, plan) if found and not is_refuted else None
    return Trial(proofs, report, reached, refutation, time.perf_counter() - began)
