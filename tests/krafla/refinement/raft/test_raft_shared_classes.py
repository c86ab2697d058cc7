"""Runs in lockstep whose specs share TLC's classes: each is judged as if it were alone."""

from dataclasses import replace

import pytest

from krafla.refinement.common.loading import load_generated
from krafla.refinement.raft import spec as raft_spec
from krafla.refinement.raft.lockstep import RaftLockstep
from krafla.refinement.raft.vocabulary import quorum_of
from kraft.raft.roles import Leader
from kraft.raft.state import Step
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.faults import Fault
from kraft.sim.raft.kraft_core import KRAFT

SECOND = 10**9
# With this seed leaders come early.
SEED, STEPS = 32, 400


def commit_early(state, event):
    """Take a step of a replica; a leader with some records calls all of them committed."""
    step = KRAFT.on_event(state, event)
    end = step.state.log.end_offset
    if isinstance(step.state.role, Leader) and end > 3:
        return Step(replace(step.state, high_watermark=end), step.effects)
    return step


def simulation(voters, version, plan=(), on_event=KRAFT.on_event):
    configuration = RaftConfiguration(
        voters=voters, observers=0, kraft_version=version, calm=SECOND, chaos=9 * SECOND
    )
    return Simulation(configuration, SEED, plan, core=KRAFT._replace(on_event=on_event))


def wrong_run():
    """Return a run of three voters, one with two disks, whose leaders commit too early."""
    return simulation(3, 1, (Fault(SECOND // 2, "other-disk", 1, 5, 2 * SECOND),), commit_early)


def judged_in_turn(*simulations):
    """Judge a step of each run in turn; return the judges."""
    judges = [(RaftLockstep(quorum_of(one)), one.steps()) for one in simulations]
    for _ in range(STEPS):
        for lockstep, steps in judges:
            if lockstep.finding is None:
                lockstep.judge(next(steps))
    return [lockstep for lockstep, _ in judges]


def said(lockstep):
    """Return what was said of a run, and the spec's state at the end."""
    spec, state = lockstep.spec, lockstep.spec_run.state
    values = {name: spec.read_variable(state, name) for name in spec.variables}
    return str(lockstep.finding), lockstep.steps, lockstep.coverage, values


@pytest.mark.nightly
def test_a_run_judged_in_turn_with_others_is_judged_as_it_is_alone(monkeypatch):
    # Names and constants that the run does not have, seen before its own.
    others = simulation(2, 1), simulation(3, 0)
    *right, shared = judged_in_turn(*others, wrong_run())
    monkeypatch.setattr(
        raft_spec,
        "_load",
        lambda text, settings, _: load_generated("KRaftLockstep", text, settings, "KRaftSteps"),
    )
    [alone] = judged_in_turn(wrong_run())

    assert said(shared) == said(alone)
    assert "high_watermark" in shared.finding.variables
    assert [(one.finding, one.steps) for one in right] == [(None, STEPS), (None, STEPS)]
    assert {one.spec.classes for one in right} == {shared.spec.classes}
    assert alone.spec.classes is not shared.spec.classes
