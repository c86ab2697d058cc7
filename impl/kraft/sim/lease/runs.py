"""A whole run of the lease simulation from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from kraft.sim.common.recording import Recording
from kraft.sim.lease.cluster import Cluster, first_cluster
from kraft.sim.lease.faults import FaultPlan, draw_fault_plan
from kraft.sim.lease.scheduler import Scheduler
from kraft.sim.lease.step import step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraft.sim.common.step import StepResult
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.configuration import Configuration


@dataclass(frozen=True, slots=True)
class Run:
    """A run: its inputs, and every step of it."""

    configuration: Configuration
    seed: int
    plan: FaultPlan
    results: tuple[StepResult[Cluster, Choice], ...]

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices, which reproduce the run together with the configuration."""
        return tuple(result.choice for result in self.results)

    @property
    def recording(self) -> Recording[Configuration, Choice]:
        """The run as data for a file."""
        return Recording(self.configuration, self.choices)

    @property
    def last(self) -> Cluster:
        """The cluster at the end."""
        return self.results[-1].after if self.results else first_cluster(self.configuration)


def run(configuration: Configuration, seed: int, steps: int, plan: FaultPlan | None = None) -> Run:
    """Return the run of a seed; the seed also draws the fault plan unless one is given."""
    random = Random(seed)  # noqa: S311 - a seed, not a secret
    drawn = draw_fault_plan(random, configuration)
    chosen = drawn if plan is None else plan
    results = tuple(play(configuration, random, chosen, steps))
    return Run(configuration, seed, chosen, results)


def play(
    configuration: Configuration, random: Random, plan: FaultPlan, steps: int
) -> Iterator[StepResult[Cluster, Choice]]:
    """Yield the steps of a scheduled run without storing them."""
    scheduler = Scheduler(configuration, plan, random)
    cluster = first_cluster(configuration)
    for _ in range(steps):
        result = step(cluster, scheduler.next_choice(cluster))
        yield result
        scheduler.observe(result)
        cluster = result.after
