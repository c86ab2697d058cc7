"""Check one model of the manifest: run it, judge the run, and list the evidence."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.counted import counted
from krafla.tlc.command import Simulation
from krafla.tlc.inputs import statements_of
from krafla.tlc.judge import Judgement, judge
from krafla.tlc.measured_coverage import find_coverage
from krafla.tlc.outcome import Finished
from krafla.tlc.run import RunResult, run
from krafla.verdict import Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.manifest import Model
    from krafla.tlc.output import Progress

__all__ = ["Check", "check_model", "evidence", "run_of"]


@dataclass(frozen=True, slots=True)
class Check:
    """A model, the run it had, and the sentence passed on it.

    ``is_kept``: the run was an earlier one, of the same files. ``coverage_is_kept``: its coverage
    was measured before, of the same files. ``statements`` is the result of `statements_of` before
    the search.
    """

    model: Model
    result: RunResult
    judgement: Judgement
    is_kept: bool = False
    coverage_is_kept: bool = False
    statements: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the model."""
        return self.judgement.verdict

    @property
    def is_measured(self) -> bool:
        """Return whether this run counted how often each action was taken, to its end."""
        whole = isinstance(self.result.outcome, Finished) and self.result.coverage is not None
        return whole and not self.is_kept and not self.coverage_is_kept


def check_model(
    model: Model,
    *,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    timeout: float | None = None,
    simulation: Simulation | None = None,
    heap_mb: int | None = None,
    measure: bool = False,
) -> Check:
    """Check a model; return the verdict with everything that led to it.

    ``workers`` are threads of TLC: by default the manifest's number, else one for each processor.
    ``heap_mb`` is the most memory that TLC may use. A model of kind ``simulation`` is simulated
    within the manifest's bounds. With ``measure`` TLC counts how often each action is taken, which
    it otherwise does only where that is asked for and not kept (`find_coverage`).
    ``KraflaError`` if the model could not be run, or its spec or cfg is at fault.
    """
    statements = statements_of(model)
    has_coverage = model.expect == "holds" and model.kind != "simulation" and simulation is None
    kept = find_coverage(model) if has_coverage else None
    result = run_of(
        model, workers=workers, progress=progress, timeout=timeout, simulation=simulation,
        heap_mb=heap_mb, coverage=measure or (has_coverage and kept is None),
    )  # fmt: skip
    if kept is None or not isinstance(result.outcome, Finished):
        return Check(model, result, judge(model, result), statements=statements)
    doubt = kept.doubt(result)
    if doubt is None and not measure:
        result = replace(result, coverage=kept.actions)
    judgement = judge(model, result)
    if doubt is not None:
        worse = worst([judgement.verdict, Verdict.INCONCLUSIVE])
        held = judgement.verdict is Verdict.HELD
        reasons = (doubt,) if held else (*judgement.reasons, doubt)
        judgement = Judgement(worse, reasons, judgement.notes)
    return Check(model, result, judgement, coverage_is_kept=not measure, statements=statements)


def run_of(
    model: Model,
    *,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    timeout: float | None = None,
    simulation: Simulation | None = None,
    heap_mb: int | None = None,
    coverage: bool = True,
) -> RunResult:
    """Return the run of a model within the manifest's bounds, not judged; see ``check_model``."""
    if simulation is None and model.kind == "simulation" and model.behaviours is not None:
        simulation = Simulation(model.behaviours, model.depth)
    return run(
        model,
        workers=workers or model.workers or os.cpu_count() or 1,
        progress=progress,
        timeout=timeout,
        coverage=coverage and simulation is None,
        simulation=simulation,
        heap_mb=heap_mb,
    )


def evidence(check: Check) -> tuple[str, ...]:
    """Return the counts and observations of the run, one short sentence each."""
    model, result = check.model, check.result
    facts: list[str] = []
    if result.simulation is not None:
        simulation = result.simulation
        behaviours = counted(simulation.behaviours, "random behaviour")
        facts.append(f"{behaviours} of at most {simulation.depth} steps, seed {simulation.seed}")
    if result.distinct is not None:
        pinned = " (as pinned)" if result.distinct == model.distinct else ""
        if model.distinct is None and not model.listing.needs_pins:
            pinned = " (not pinned)"
        facts.append(f"{counted(result.distinct, 'distinct state')}{pinned}")
    if result.generated is not None:
        facts.append(f"{result.generated:,} generated")
    if result.depth is not None and isinstance(result.outcome, Finished):
        facts.append(f"depth {result.depth}")
    if result.queue_left:
        facts.append(f"{result.queue_left:,} left unexplored")
    if result.coverage is not None and isinstance(result.outcome, Finished):
        taken = sum(action.taken > 0 for action in result.coverage)
        before = ", as measured before" if check.coverage_is_kept else ""
        facts.append(f"{taken} of {len(result.coverage)} actions taken{before}")
    if result.checked and isinstance(result.outcome, Finished):
        facts.append(f"{counted(len(result.checked), 'property', 'properties')} checked")
    if model.witnesses:
        seen = sum(name in result.reached for name in model.witnesses)
        facts.append(f"{seen} of {len(model.witnesses)} witnesses reached")
    if isinstance(result.outcome, Finished) and result.outcome.collision_probability is not None:
        facts.append(f"odds of a missed state {result.outcome.collision_probability:.1g}")
    facts.append(f"{result.seconds:.1f} s{' in an earlier run' if check.is_kept else ''}")
    return tuple(facts)
