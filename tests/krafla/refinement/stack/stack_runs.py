"""Runs of the stack for the tests of its lockstep."""

from __future__ import annotations

from dataclasses import replace

from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.stack.system import SYSTEM
from krafla.refinement.raft.vocabulary import quorum_of
from krafla.refinement.stack.lockstep import StackLockstep
from kraft.controller.events import AppendRefused, RequestReceived
from kraft.controller.state import is_active
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import SECOND, Knobs, RaftConfiguration
from kraft.sim.stack.configuration import StackKnobs

DROPPED = object()
"""What an alteration returns for a step that is left out."""

STORMY = Case(
    RaftConfiguration(
        voters=3, observers=3, calm=2 * SECOND, chaos=6 * SECOND, kinds=("resign", "kill")
    ),
    19,
    None,
    Knobs(
        segment_bytes=100_000,
        rates=(("resign", 800 * MILLISECOND), ("kill", 1_500 * MILLISECOND)),
    ),
    StackKnobs(admin_every_ms=60, snapshot_bytes=2_000),
)
"""A short run in which leaders resign and processes end, so that it takes every action."""


class SeesNothing:
    """An observer that checks no property."""

    def __init__(self) -> None:
        self.violation = None
        self.hazards: dict[str, int] = {}
        self.unpromised = 0

    def observe(self, _step):
        """Do nothing."""

    def finish(self, _acknowledged):
        """Do nothing."""


UNCHECKED = replace(SYSTEM, checks=lambda _stable: SeesNothing())
"""The stack, judged by a lockstep only."""


def stormy_simulation():
    """Return the run before its first step."""
    return Simulation(
        STORMY.configuration, STORMY.seed, None, STORMY.knobs, workload=SYSTEM.workload(STORMY)
    )


def stormy_run():
    """Return the quorum of the run and all its steps."""
    simulation = stormy_simulation()
    return quorum_of(simulation), tuple(simulation.steps())


def judged(run, alter=None, key=lambda listener: listener):
    """Judge a run. `alter` may replace the first step whose `key` it knows."""
    quorum, steps = run
    lockstep = StackLockstep(quorum, STORMY.configuration.voters)
    altered = alter is None
    for step in steps:
        other = None if altered or step.listener is None else alter(key(step.listener))
        if other is not None:
            altered = True
        if other is DROPPED:
            continue
        lockstep.judge(step if other is None else step._replace(listener=other))
        if lockstep.finding is not None:
            break
    assert altered, "no step was altered"
    return lockstep


def refused_append(steps):
    """Return a step that appends for a request, and the step in which Raft refuses that."""
    last = {}
    for step in steps:
        if step.listener is None or step.listener.kind != "controller":
            continue
        before = last.get(step.incarnation)
        last[step.incarnation] = step.listener
        if (
            before is not None
            and isinstance(step.listener.event, AppendRefused)
            and is_active(step.listener.before)
            and isinstance(before.event, RequestReceived)
        ):
            return before, step.listener
    raise AssertionError("nothing is refused")
