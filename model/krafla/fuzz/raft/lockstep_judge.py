"""Runs in lockstep: besides the properties, every step must be a step of the spec."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.machine_run import RAFT, play
from krafla.fuzz.engine.violation import Violation
from krafla.fuzz.raft.checks import DAMAGING
from krafla.refinement.raft.lockstep import RaftLockstep
from krafla.refinement.raft.vocabulary import Quorum, quorum_of
from kraft.ids import NodeId, ReplicaKey

if TYPE_CHECKING:
    from collections import Counter

    from krafla.fuzz.engine.machine_run import Case, Played, System
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.steps import SimStep

__all__ = [
    "NOT_IN_THE_SPEC", "REFINEMENT", "LockstepJudge", "action_names", "play_judged",
    "raft_action_names",
]  # fmt: skip

REFINEMENT: Final = "KRaftSteps"
"""The name under which a step that the spec has not is reported."""

# The spec says that a sole voter may lose what it did not flush; there is no other way to say that
# a fault changed a disk.
NOT_IN_THE_SPEC: Final = DAMAGING - {"lost-disk"}
"""The faults after which nothing is judged any more."""


class LockstepJudge:
    """The spec's judgement of one run. A step that no action is ends it.

    So does a fault that the spec does not know, such as a disk that loses what was flushed:
    ``judged`` counts the steps up to there.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._lockstep = RaftLockstep(quorum_of(simulation))
        self._is_over = False
        self.judged = 0

    def judge(self, step: SimStep) -> Violation | None:
        """Return what the spec has against a step, if anything."""
        if step.listener is not None:
            return None
        if step.fault in NOT_IN_THE_SPEC:
            self._is_over = True
        if self._is_over:
            return None
        self.judged += 1
        self._lockstep.judge(step)
        finding = self._lockstep.finding
        if finding is None:
            return None
        node = f"node {step.replica.node_id}"
        return Violation(REFINEMENT, str(finding), step.number, step.time, node)

    @property
    def actions(self) -> Counter[str]:
        """How often each action of the spec was taken."""
        return self._lockstep.coverage


def play_judged(case: Case, system: System = RAFT) -> Played:
    """Return what a case comes to when specs judge each step of Raft, and of what is above it."""
    if system is RAFT:
        return play(case, LockstepJudge, system)
    from krafla.fuzz.stack.lockstep_judge import ClusterJudge

    return play(case, ClusterJudge, system)


_NEVER_TAKEN: Final = frozenset(
    {
        "AppendRecord", "Restart", "Boot", "CrashLosingTail", "ResignRemoved", "FollowAndFetch",
    }
)  # fmt: skip


def action_names(system: System = RAFT) -> tuple[str, ...]:
    """Return the names of the actions that a run of a system can take."""
    if system is RAFT:
        return raft_action_names()
    from krafla.fuzz.stack.lockstep_judge import cluster_action_names

    return cluster_action_names()


@cache
def raft_action_names() -> tuple[str, ...]:
    """Return the names of the actions of KRaftSteps that a run can take.

    Not those that another name of the same step stands for: values are appended in batches, a start
    is any start, and who leads no longer resigns, whether or not it is a voter.
    """
    key = ReplicaKey(NodeId(0))
    spec = RaftLockstep(Quorum({NodeId(0): 1}, (key,), is_dynamic=True)).spec
    names = dict.fromkeys(action.name for action in spec.actions)
    return tuple(name for name in names if name not in _NEVER_TAKEN)
