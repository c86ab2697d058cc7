"""Bred runs on machines: the faults of a run up to a time, and others from then on.

A message's fate depends on the seed and its place on its link. So a child with the seed of its
parent does the same up to the first fault that differs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from krafla.fuzz.engine.machine_run import Case, MachinePlayer
from krafla.fuzz.engine.novelty import Paths, Tried
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.faults import LEADER, Fault
from kraft.sim.raft.kinds import KINDS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable
    from random import Random

    from krafla.fuzz.engine.machine_run import Observer
    from krafla.fuzz.engine.machine_system import MachineSystem
    from krafla.fuzz.engine.novelty import Parent
    from krafla.fuzz.engine.violation import Violation
    from kraft.sim.raft.steps import SimStep
    from kraft.sim.raft.workload import Acknowledged

__all__ = ["bred_faults", "play_machines"]

_FRESH_MAX: Final = 4
_SOON_MS: Final = (0, 20, 200, 1_000, 3_000)
_LASTS_MS: Final = (20, 200, 1_000, 4_000)


class _Watched:
    """An observer that also notes what each machine did."""

    def __init__(self, checks: Observer, paths: Paths) -> None:
        self._checks = checks
        self._paths = paths
        self._labels: dict[Any, str] = {}

    @property
    def violation(self) -> Violation | None:
        return self._checks.violation

    @violation.setter
    def violation(self, violation: Violation | None) -> None:
        self._checks.violation = violation

    def observe(self, step: SimStep) -> None:
        self._paths.add(_label(step), step.time, step.replica.node_id)
        self._checks.observe(step)

    def finish(self, acknowledged: Iterable[Acknowledged], /) -> None:
        self._checks.finish(acknowledged)

    @property
    def hazards(self) -> Counter[str]:
        return self._checks.hazards

    @property
    def unpromised(self) -> int:
        return self._checks.unpromised


def play_machines(system: MachineSystem, plan: bytes) -> Tried:
    """Return the run of a plan, which is a case."""
    case, paths = msgspec.json.decode(plan, type=Case), Paths()
    watched = replace(system, checks=lambda stable: _Watched(system.checks(stable), paths))
    player = MachinePlayer(case, watched)
    player.play_whole()
    run = player.run
    return Tried(run, run.case.encoded, paths.found)


def bred_faults(parent: Parent, other: Parent, chance: Random) -> bytes:
    """Return the case of a child: its parent's up to what is rarest there, then other faults.

    They are the parent's, those of another run, or none; with some new ones soon after that time.
    """
    case: Case = msgspec.json.decode(parent.plan, type=Case)
    donor: Case = msgspec.json.decode(other.plan, type=Case)
    early = [one for one in case.plan or () if one.time <= parent.place]
    rest = chance.choice((case.plan, donor.plan, ())) or ()
    allowed = case.configuration.kinds
    late = [one for one in rest if one.time > parent.place and one.kind in allowed]
    fresh = [_fault(case, parent.place, chance) for _ in range(chance.randint(1, _FRESH_MAX))]
    machines = case.configuration.voters + case.configuration.observers
    end = case.configuration.calm + case.configuration.chaos
    # Two faults of one time would have no order of their own.
    plan = {
        one.time: one._replace(target=_fitted(one, machines))
        for one in (*early, *late, *fresh)
        if one.time < end
    }
    return replace(case, plan=tuple(sorted(plan.values()))).encoded


def _fault(case: Case, place: int, chance: Random) -> Fault:
    configuration = case.configuration
    kind = KINDS[chance.choice(sorted(configuration.kinds))]
    machines = configuration.voters + configuration.observers
    end = configuration.calm + configuration.chaos - MILLISECOND
    time = max(configuration.calm, place) + chance.choice(_SOON_MS) * MILLISECOND
    target = chance.randrange(1 << machines) if kind.hits_groups else chance.randrange(machines)
    if kind.aimed and chance.random() < kind.aimed / 5:
        target = LEADER
    lasts = kind.is_down or kind.lasts_ms is not None
    duration = chance.choice(_LASTS_MS) * MILLISECOND if lasts else 0
    return Fault(
        min(time, end) + chance.randrange(MILLISECOND),
        kind.name,
        target,
        chance.getrandbits(63),
        duration,
    )


def _fitted(fault: Fault, machines: int) -> int:
    """Return the target of a fault in a run with so many machines."""
    if KINDS[fault.kind].hits_groups:
        return fault.target & ((1 << machines) - 1)
    return fault.target if fault.target == LEADER else fault.target % machines


def _label(step: SimStep) -> tuple[str, ...]:
    """Return what a step is, without its numbers."""
    event: Any = step.event if step.listener is None else step.listener.event
    told = getattr(event, "request", None) or getattr(event, "response", None) or event
    role = "" if step.after is None else type(step.after.role).__name__
    effects = step.effects if step.listener is None else step.listener.effects
    kinds = dict.fromkeys(type(one).__name__ for one in effects)
    return (step.kind, type(told).__name__, role, step.fault, *kinds)
