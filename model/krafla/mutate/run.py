"""One run over mutants: choose them, try them, and judge the results."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.mutate.pool import Pool, jobs
from krafla.mutate.population import Choice, Population, narrowed, population
from krafla.mutate.results import Results
from krafla.mutate.sample import sample
from krafla.mutate.summary import fates, summarize
from krafla.mutate.survivors import explanations
from krafla.mutate.workspace import lay_out
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from krafla.mutate.mutants import Mutant
    from krafla.mutate.summary import Summary
    from krafla.mutate.survivors import Explained
    from krafla.mutate.trial import Trial
    from krafla.mutate.workspace import Workspace
    from krafla.project import Project

__all__ = ["MutationReport", "Plan", "plan_of", "run_plan", "snapshot"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The mutants to try, and all mutants that there are.

    No number of states is pinned for the models ``unpinned``.
    """

    population: Population
    mutants: tuple[Mutant, ...]
    explained: Explained
    unpinned: frozenset[str] = frozenset()

    @property
    def known(self) -> dict[str, Mutant]:
        """Return all mutants by their id."""
        return {mutant.id: mutant for mutant in self.population.mutants}


@dataclass(frozen=True, slots=True)
class MutationReport:
    """What came of a plan; ``broken`` are models that are not held as they stand, and why."""

    plan: Plan
    summary: Summary
    broken: dict[str, str]


@contextmanager
def snapshot(
    project: Project, names: tuple[str, ...], progress: Callable[[str], None]
) -> Iterator[Workspace]:
    """Yield a copy of a project's specs that stays unchanged while mutants are made of them.

    For ``names`` and ``progress`` see ``lay_out``.
    """
    with scratch_folder("mutate") as scratch:
        yield lay_out(project, names, scratch / "specs", progress)


def plan_of(
    specs: Path,
    choice: Choice,
    *,
    size: int | None = None,
    seed: int | None = None,
    only: tuple[str, ...] = (),
    takes_all: bool = False,
    explained: Explained | None = None,
    unpinned: Iterable[str] = (),
    progress: Callable[[int, int], None] = lambda _read, _all: None,
) -> Plan:
    """Return the mutants to try: those named, all, or a sample with those that are explained.

    Without a size and a seed the sample is the fixed one of the explanations, which are by default
    those in the folder of the specs. ``unpinned`` are the models whose numbers notice nothing.
    ``progress`` gets the number of models that have been read, and the total.
    """
    if explained is None:
        explained = explanations(specs)
    found = population(specs, narrowed(specs, choice, only) if only else choice, progress)
    if only:
        mutants = tuple(_named(found, only))
    elif takes_all:
        mutants = found.mutants
    else:
        drawn = sample(found.mutants, size or explained.size, seed or explained.seed)
        wanted = {mutant.id for mutant in drawn}
        if size is None:
            wanted |= {one.id for one in explained.entries}
        mutants = tuple(mutant for mutant in found.mutants if mutant.id in wanted)
    return Plan(found, mutants, explained, frozenset(unpinned))


def _named(found: Population, only: tuple[str, ...]) -> Iterator[Mutant]:
    for name in only:
        fitting = [mutant for mutant in found.mutants if mutant.id.startswith(name)]
        if not fitting:
            raise KraflaError(f"no mutant is called {name}; --list shows all")
        yield from fitting


def run_plan(
    plan: Plan,
    *,
    workers: int,
    timeout: float,
    path: Path | None,
    progress: Callable[[Trial | None, Results], None],
) -> MutationReport:
    """Try every mutant of a plan on its models and judge the results."""
    results = Results(path, plan.population.inputs)
    pool = Pool(plan.population.specs, results, workers=workers, timeout=timeout)
    work = jobs(plan.mutants, plan.population.models, workers)
    pool.run(work, lambda trial: progress(trial, results))
    outcomes = fates(plan.mutants, results, plan.explained.equivalent, plan.unpinned)
    summary = summarize(
        outcomes,
        plan.explained,
        known=plan.known,
        modules=frozenset(mutant.module for mutant in plan.population.mutants),
        untried=len(pool.broken),
    )
    return MutationReport(plan, summary, pool.broken)
