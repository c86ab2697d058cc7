"""A finding of the judge ends the run, and no other fault or action makes it skip a step."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from krafla.fuzz.engine.violation import Violation
from krafla.fuzz.raft import lockstep_judge
from krafla.fuzz.raft.lockstep_judge import REFINEMENT, RaftJudge, raft_action_names
from krafla.fuzz.raft.system import SYSTEM, raft_case_of
from kraft.raft.roles import Follower
from kraft.raft.state import Step
from kraft.sim.raft import kraft_core
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration

QUIET = replace(raft_case_of(3, 1), configuration=RaftConfiguration(3, 0, kinds=()), knobs=None)


class FindsAtStep100:
    """A judge that objects to one step."""

    def __init__(self, _simulation: Simulation) -> None:
        self.actions: Counter[str] = Counter()
        self.judged = 0

    def judge(self, step):
        self.judged += 1
        if self.judged == 100:
            return Violation("Anything", "so it is", step.number, step.time, "node 0")
        return None


def test_a_run_ends_where_its_judge_finds_something():
    watched = replace(SYSTEM, judge=FindsAtStep100)
    played = watched.play(replace(QUIET, lockstep=True))
    assert played.kind == ("property", "Anything")
    assert played.tallies["totals"]["judged"] == 100


def test_a_step_that_the_spec_forbids_is_a_violation_of_the_run():
    # Followers forget at once that they have fetched.
    right = kraft_core.KRAFT

    def on_event(state, event):
        step = right.on_event(state, event)
        role = step.state.role
        if isinstance(role, Follower) and role.has_fetched:
            wrong = replace(role, has_fetched=False)
            return Step(replace(step.state, role=wrong), step.effects)
        return step

    simulation = Simulation(QUIET.configuration, QUIET.seed, core=right._replace(on_event=on_event))
    judge = RaftJudge(simulation)
    found = next(
        (found for step in simulation.steps() if (found := judge.judge(step)) is not None), None
    )
    assert found is not None
    assert found.property == REFINEMENT
    assert judge.judged > 1


def test_only_these_faults_and_actions_are_left_to_no_judge():
    assert {
        "misdirected-write", "bit-rot", "old-image", "cloned-disk",
    } == lockstep_judge.NOT_IN_THE_SPEC  # fmt: skip
    assert {
        "AppendRecord", "Restart", "Boot", "CrashLosingTail", "ResignRemoved", "FollowAndFetch",
    } == lockstep_judge._NEVER_TAKEN  # fmt: skip
    assert {"CrashTruncating", "CrashAppending", "LosePreVoteByName"} <= set(raft_action_names())


def test_a_run_without_faults_is_judged_to_its_end():
    played = SYSTEM.play(replace(QUIET, lockstep=True))
    assert played.finding is None
    # The step at which faults end is none of the spec's.
    assert played.tallies["totals"]["judged"] == played.steps - 1 > 100
