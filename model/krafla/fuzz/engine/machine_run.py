"""One run on machines: a seed's simulation, held to every property, and to progress at its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from krafla.fuzz.engine.violation import Violation
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.handler_error import HandlerError
from kraft.sim.raft.runs import Digest

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable

    from krafla.fuzz.engine.machine_system import MachineSystem
    from kraft.sim.raft.configuration import Knobs, RaftConfiguration
    from kraft.sim.raft.faults import Plan
    from kraft.sim.raft.steps import SimStep
    from kraft.sim.raft.workload import Acknowledged
    from kraft.sim.stack.configuration import StackKnobs

__all__ = ["Case", "MachineJudge", "Observer", "Played", "play"]

_LOOK_EVERY: Final = 16


@dataclass(frozen=True, slots=True)
class Case:
    """All that decides a run. Without ``plan`` and ``knobs`` they are those of the seed.

    ``above`` are the knobs of what runs above Raft, where the system is the stack.
    """

    configuration: RaftConfiguration
    seed: int
    plan: Plan | None = None
    knobs: Knobs | None = None
    above: StackKnobs | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """What a run came to.

    ``case`` has its plan and knobs. ``simulated`` is in nanoseconds; ``faults`` counts by kind the
    effects that faults had; ``hazards`` what broke after promises were over, ``unpromised`` the
    steps after that; ``liveness`` is what the simulation says of the end: progress, stuck, excused,
    not tried. ``digest`` is of all that happened: equal digests, equal runs. ``actions``: how often
    each action of the spec was taken, and ``judged``: of how many events the spec was asked; empty
    and 0 without lockstep.
    """

    case: Case
    violation: Violation | None
    digest: str
    events: int
    simulated: int
    acknowledged: int
    faults: tuple[tuple[str, int], ...]
    hazards: tuple[tuple[str, int], ...]
    liveness: str
    actions: tuple[tuple[str, int], ...] = ()
    judged: int = 0
    unpromised: int = 0


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


def play(
    case: Case,
    system: MachineSystem,
    judge_of: Callable[[Simulation], MachineJudge] | None = None,
) -> Played:
    """Play a case; ``judge_of`` returns the judge of each step besides the properties."""
    workload = system.workload(case)
    simulation = Simulation(case.configuration, case.seed, case.plan, case.knobs, workload=workload)
    judge = None if judge_of is None else judge_of(simulation)
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
    return Played(
        replace(case, plan=simulation.plan, knobs=simulation.knobs),
        checks.violation,
        digest.end(simulation),
        simulation.number,
        simulation.time,
        len(simulation.workload.acknowledged),
        tuple(sorted((simulation.faults + simulation.network.counts).items())),
        tuple(sorted(checks.hazards.items())),
        liveness,
        () if judge is None else tuple(sorted(judge.actions.items())),
        0 if judge is None else judge.judged,
        checks.unpromised,
    )


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
