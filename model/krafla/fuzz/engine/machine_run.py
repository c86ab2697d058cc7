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
    from collections.abc import Callable, Iterable

    from krafla.fuzz.engine.machine_system import MachineSystem
    from kraft.sim.raft.steps import SimStep
    from kraft.sim.raft.workload import Acknowledged

__all__ = ["Case", "MachineJudge", "MachinePlayer", "Observer", "play"]

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


class MachinePlayer:
    """Plays a run on machines step by step until its first finding, and counts what it showed.

    The plan of a run that ``grows`` gets more faults on the way, so it is not held to what must
    hold without any.
    """

    def __init__(self, case: Case, system: MachineSystem, *, grows: bool = False) -> None:
        self._case = case
        self._system = system
        self.simulation = simulation = Simulation(
            case.configuration, case.seed, case.plan, case.knobs, workload=system.workload(case)
        )
        self._judge = system.judge(simulation) if case.lockstep else None
        self._checks = system.checks(not (grows or simulation.plan))
        self._digest = Digest()
        self._liveness = "not tried"

    @property
    def finding(self) -> Violation | None:
        """Return what ended the run."""
        return self._checks.violation

    def play_before(self, time: int) -> None:
        """Take the steps that happen before a true time, or those up to the first finding."""
        self._guarded(lambda: self.simulation.step_before(time))

    def play_whole(self) -> None:
        """Take all steps, with those after the healing, and check the end."""
        self._guarded(self.simulation.step)
        checks, liveness = self._checks, self.simulation.liveness
        self.finish()
        if checks.violation is None and liveness is not None:
            verdict = liveness.verdict()
            self._liveness = verdict.kind
            if verdict.kind == "stuck":
                self._violate("ProgressProp", verdict.detail)

    def finish(self) -> None:
        """Check what can be known only at the end of a run, which is now."""
        if self._checks.violation is None:
            self._checks.finish(self.simulation.workload.acknowledged.values())

    def _guarded(self, next_step: Callable[[], SimStep | None]) -> None:
        try:
            self._watch(next_step)
        except HandlerError as error:
            self._violate("HandlersReturnInv", str(error))

    def _watch(self, next_step: Callable[[], SimStep | None]) -> None:
        """Take steps until there is none, until there is progress, or until a property breaks."""
        simulation, checks, judge = self.simulation, self._checks, self._judge
        while (step := next_step()) is not None:
            self._digest.add(step)
            checks.observe(step)
            if judge is not None and checks.violation is None:
                checks.violation = judge.judge(step)
            if checks.violation is not None:
                return
            liveness = simulation.liveness
            if liveness is not None and step.number % _LOOK_EVERY == 0 and liveness.look():
                return

    def _violate(self, name: str, text: str) -> None:
        now = self.simulation
        self._checks.violation = Violation(name, text, now.number, now.time, "the quorum")

    @property
    def case(self) -> Case:
        """Return the case with the plan and the knobs that were drawn, or have grown."""
        return replace(self._case, plan=self.simulation.plan, knobs=self.simulation.knobs)

    @property
    def run(self) -> Run:
        """Return the run up to now."""
        simulation, checks, judge = self.simulation, self._checks, self._judge
        tallies = {
            "actions": {}
            if judge is None
            else dict.fromkeys(self._system.actions(), 0) | judge.actions,
            "faults": simulation.faults + simulation.network.counts,
            "hazards": dict(checks.hazards),
            "liveness": {self._liveness: 1},
            "totals": {
                "judged": 0 if judge is None else judge.judged,
                "unpromised": checks.unpromised,
                "simulated_ns": simulation.time,
                "acknowledged": len(simulation.workload.acknowledged),
            },
        }
        return Run(
            self.case, checks.violation, simulation.number, self._digest.end(simulation), tallies
        )


def play(case: Case, system: MachineSystem) -> Run:
    """Return the run of a case, judged by the specs as well if the case says so.

    Its tallies have the effects of faults by kind, the ``hazards`` that broke after promises were
    over, the ``unpromised`` steps after that, and what the simulation says of the end: progress,
    stuck, excused, not tried.
    """
    player = MachinePlayer(case, system)
    player.play_whole()
    return player.run
