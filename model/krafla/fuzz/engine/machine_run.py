"""One run on machines: a seed's simulation, held to every property, and to progress at its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from krafla.fuzz.engine.runs import Run
from krafla.fuzz.engine.violation import Violation
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import Knobs, RaftConfiguration  # noqa: TC001 - msgspec reads
from kraft.sim.raft.faults import Plan  # noqa: TC001 - msgspec reads the annotations
from kraft.sim.raft.handler_error import HandlerError
from kraft.sim.raft.runs import Digest
from kraft.sim.stack.configuration import StackKnobs  # noqa: TC001 - msgspec reads the annotations

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from krafla.fuzz.engine.machine_system import MachineSystem
    from kraft.sim.raft.steps import SimStep
    from kraft.sim.raft.workload import Acknowledged

__all__ = ["Case", "MachineJudge", "Observer", "play"]

_LOOK_EVERY: Final = 16


@dataclass(frozen=True, slots=True)
class Case:
    """All that decides a run. Without ``plan`` and ``knobs`` they are those of the seed.

    ``above`` are the knobs of what runs above Raft, where the system is the stack. ``lockstep``
    says whether specs judge the events, too.
    """

    configuration: RaftConfiguration
    seed: int
    plan: Plan | None = None
    knobs: Knobs | None = None
    above: StackKnobs | None = None
    lockstep: bool = False

    @property
    def profile(self) -> str:
        """Return how many voters and observers there are, as text."""
        return f"{self.configuration.voters} voters, {self.configuration.observers} observers"

    @property
    def size(self) -> int:
        """Return how many faults are planned."""
        return len(self.plan or ())

    @property
    def encoded(self) -> bytes:
        """Return the case as a JSON object."""
        return msgspec.json.encode(self)


class Observer(Protocol):
    """Holds every step to the properties."""

    violation: Violation | None

    def observe(self, step: SimStep) -> None:
        """Check a step, unless a property is broken already."""

    def finish(self, acknowledged: Iterable[Acknowledged], /) -> None:
        """Check at the end what clients were told."""

    @property
    def hazards(self) -> Counter[str]:
        """What broke after promises were over, by name."""

    @property
    def unpromised(self) -> int:
        """How many steps came after that."""


class MachineJudge(Protocol):
    """Judges each step by a spec, besides the properties."""

    def judge(self, step: SimStep) -> Violation | None:
        """Return the violation of a step, if it is one."""

    @property
    def actions(self) -> Counter[str]:
        """How often each action of the spec was taken."""

    @property
    def judged(self) -> int:
        """How many steps it judged."""


def play(case: Case, system: MachineSystem) -> Run:
    """Return the run of a case, judged by the specs as well if the case says so.

    Its tallies have the effects of faults by kind, the ``hazards`` that broke after promises were
    over, the ``unpromised`` steps after that, and what the simulation says of the end: progress,
    stuck, excused, not tried.
    """
    workload = system.workload(case)
    simulation = Simulation(case.configuration, case.seed, case.plan, case.knobs, workload=workload)
    judge = system.judge(simulation) if case.lockstep else None
    checks = system.checks(not simulation.plan)
    digest = Digest()
    liveness = "not tried"
    try:
        _watch(simulation, checks, digest, judge)
    except HandlerError as error:
        checks.violation = _violation("HandlersReturnInv", str(error), simulation)
    if checks.violation is None:
        checks.finish(simulation.workload.acknowledged.values())
    if checks.violation is None and simulation.liveness is not None:
        verdict = simulation.liveness.verdict()
        liveness = verdict.kind
        if liveness == "stuck":
            checks.violation = _violation("ProgressProp", verdict.detail, simulation)
    tallies = {
        "actions": {} if judge is None else dict.fromkeys(system.actions(), 0) | judge.actions,
        "faults": simulation.faults + simulation.network.counts,
        "hazards": dict(checks.hazards),
        "liveness": {liveness: 1},
        "totals": {
            "judged": 0 if judge is None else judge.judged,
            "unpromised": checks.unpromised,
            "simulated_ns": simulation.time,
            "acknowledged": len(simulation.workload.acknowledged),
        },
    }
    decided = replace(case, plan=simulation.plan, knobs=simulation.knobs)
    return Run(decided, checks.violation, simulation.number, digest.end(simulation), tallies)


def _watch(
    simulation: Simulation,
    checks: Observer,
    digest: Digest,
    judge: MachineJudge | None,
) -> None:
    """Take the steps of a simulation until its end, or until a property breaks."""
    while (step := simulation.step()) is not None:
        digest.add(step)
        checks.observe(step)
        if judge is not None and checks.violation is None:
            checks.violation = judge.judge(step)
        if checks.violation is not None:
            return
        liveness = simulation.liveness
        if liveness is not None and step.number % _LOOK_EVERY == 0 and liveness.look():
            return


def _violation(name: str, text: str, simulation: Simulation) -> Violation:
    return Violation(name, text, simulation.number, simulation.time, "the quorum")
