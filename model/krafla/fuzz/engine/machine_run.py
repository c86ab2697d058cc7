"""One run: a quorum of a seed, simulated, held to every property, and to progress at its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from krafla.fuzz.engine.violation import Violation
from krafla.fuzz.raft.checks import PROPERTIES, Checks
from kraft.chance import Stream, derive
from kraft.raft.configuration import MILLISECOND, Timeouts
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import QuorumConfiguration, draw_knobs
from kraft.sim.raft.handler_error import HandlerError
from kraft.sim.raft.kinds import DEFAULT_KINDS
from kraft.sim.raft.register import Register
from kraft.sim.raft.runs import Digest

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable

    from kraft.sim.raft.configuration import Knobs
    from kraft.sim.raft.faults import Plan
    from kraft.sim.raft.steps import SimStep
    from kraft.sim.raft.workload import Acknowledged, Workload
    from kraft.sim.stack.configuration import StackKnobs

__all__ = ["RAFT", "Case", "Judge", "Observer", "Played", "System", "case_of", "play"]

_VOTERS: Final = (1, 2, 3, 3, 3, 4, 5, 5)
_OBSERVERS: Final = (0, 0, 1, 2)
# Kafka's own, mostly. With the others a leader forgets observers that are silent for seconds, and
# who has resigned gives up on a voter and tells it again.
_OBSERVER_SESSIONS_MS: Final = (300_000, 300_000, 3_000)
_REQUESTS_MS: Final = (2_000, 2_000, 700)
# To change the voters takes seconds in which a leader stays: one run in six has no other faults,
# and all of these.
_MOVING: Final = frozenset(
    ("add-voter", "kill", "newcomer-isolation", "new-port", "remove-voter", "shutdown")
)
_ONE_IN: Final = 6
_ALWAYS: Final = 1_000_000
_SEED_BITS: Final = 63
_LOOK_EVERY: Final = 16


@dataclass(frozen=True, slots=True)
class Case:
    """All that decides a run. Without ``plan`` and ``knobs`` they are those of the seed.

    ``above`` are the knobs of what runs above Raft, where that is a whole cluster.
    """

    configuration: QuorumConfiguration
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


def case_of(seed: int, example: int, kinds: tuple[str, ...] = DEFAULT_KINDS) -> Case:
    """Return the case of one example of a campaign: its sizes are drawn, too."""
    own = derive(seed, "example", example) & ((1 << _SEED_BITS) - 1)
    chance = Stream(own, "sizes")
    voters = chance.choice(_VOTERS)
    configuration = QuorumConfiguration(
        voters=voters,
        observers=chance.choice(_OBSERVERS),
        kraft_version=0 if chance.below(4) == 0 else 1,
        timeouts=Timeouts(
            observer_session=chance.choice(_OBSERVER_SESSIONS_MS) * MILLISECOND,
            request=chance.choice(_REQUESTS_MS) * MILLISECOND,
        ),
        kinds=kinds,
    )
    few = tuple(kind for kind in kinds if kind in _MOVING)
    if few and chance.below(_ONE_IN) == 0:
        configuration = replace(
            configuration,
            kraft_version=1,
            kinds=few,
            observers=max(configuration.observers, 1),
        )
        return Case(configuration, own, knobs=draw_knobs(own, configuration, _ALWAYS))
    return Case(configuration, own)


class Observer(Protocol):
    """Who holds every step to the properties."""

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


@dataclass(frozen=True, slots=True)
class System:
    """What is simulated, and what it is held to.

    ``name`` is the one of the command. ``case_of`` gives an example of a campaign by its seed, its
    number and the kinds of faults; ``checks`` is told whether the run has no faults. ``modules``
    are the specs that they ask.
    """

    name: str
    properties: tuple[str, ...]
    kinds: tuple[str, ...]
    case_of: Callable[[int, int, tuple[str, ...]], Case]
    workload: Callable[[Case], Callable[[Simulation], Workload]]
    checks: Callable[[bool], Observer]
    modules: tuple[str, ...] = ()


class Judge(Protocol):
    """Who is asked of each step besides."""

    def judge(self, step: SimStep) -> Violation | None:
        """Return what there is against a step, if anything."""

    @property
    def actions(self) -> Counter[str]:
        """How often each action of the spec was taken."""

    @property
    def judged(self) -> int:
        """Of how many steps it was asked and had an opinion."""


RAFT: Final = System(
    "raft",
    PROPERTIES,
    DEFAULT_KINDS,
    case_of,
    lambda _case: Register,
    lambda stable: Checks(stable=stable),
)
"""Raft alone: replicas of `kraft.raft`, whose state machines are registers."""


def play(
    case: Case, judge_of: Callable[[Simulation], Judge] | None = None, system: System = RAFT
) -> Played:
    """Return what a case comes to; ``judge_of`` gives who is asked of each step besides."""
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
    judge: Judge | None,
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
