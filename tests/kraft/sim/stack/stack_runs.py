"""Helpers of the tests of the stack: short runs, and access to its processes."""

from __future__ import annotations

from collections import Counter

from kraft.broker.lease import BrokerState
from kraft.controller.state import is_active
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import Knobs, RaftConfiguration
from kraft.sim.raft.kinds import KINDS
from kraft.sim.stack.configuration import StackKnobs
from kraft.sim.stack.workload import stack_workload

SECOND = 10**9
SHORT = RaftConfiguration(
    voters=3, observers=3, calm=4 * SECOND, chaos=5 * SECOND, kinds=tuple(KINDS)
)
CALM = Knobs(segment_bytes=100_000)
BUSY = StackKnobs(admin_every_ms=60, topics=3, partitions=3)


def only(kind, every_ms=900):
    """Return the knobs of a run in which one kind of fault happens again and again."""
    return Knobs(rates=((kind, every_ms * MILLISECOND),), down=500 * MILLISECOND)


def simulate(seed, quorum_knobs=CALM, knobs=BUSY, configuration=SHORT):
    return Simulation(configuration, seed, knobs=quorum_knobs, workload=stack_workload(knobs))


def play(simulation):
    """Play a run to its end; return how often each kind of step above Raft was taken."""
    taken = Counter()
    for step in simulation.steps():
        if step.listener is not None:
            taken[step.listener.kind, type(step.listener.event).__name__] += 1
        if simulation.liveness is not None and step.number % 16 == 0 and simulation.liveness.look():
            break
    return taken


def until(simulation, holds):
    """Play a run until a condition holds; return that step."""
    for step in simulation.steps():
        if holds():
            return step
    raise AssertionError("the run is over")


def hosts(simulation, kind):
    return [
        machine.process.listener
        for machine in simulation.nodes
        if machine.process is not None and machine.process.listener.kind == kind
    ]


def active(simulation):
    return [host for host in hosts(simulation, "controller") if is_active(host.state)]


def running(simulation):
    return [
        host
        for host in hosts(simulation, "broker")
        if host.life.lifecycle.state is BrokerState.RUNNING
    ]
