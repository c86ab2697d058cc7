"""Runs of Raft in lockstep: besides the properties, every step must be a step of KRaftSteps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from krafla.fuzz.engine.violation import Violation
from krafla.fuzz.raft.checks import DAMAGING
from krafla.fuzz.raft.history import name_of
from krafla.refinement.raft.lockstep import RaftLockstep
from krafla.refinement.raft.vocabulary import Quorum, quorum_of
from kraft.ids import NodeId, ReplicaKey

if TYPE_CHECKING:
    from collections import Counter

    from krafla.refinement.stack.lockstep import StackLockstep
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.steps import SimStep

__all__ = ["NOT_IN_THE_SPEC", "REFINEMENT", "LockstepJudge", "RaftJudge", "raft_action_names"]

REFINEMENT: Final = "KRaftSteps"
"""The property reported when a replica takes a step that the spec forbids."""
# The only change of a disk in the spec: a sole voter may lose what it did not flush.
NOT_IN_THE_SPEC: Final = DAMAGING - {"lost-disk"}
"""The faults after which nothing is judged any more."""
_NEVER_TAKEN: Final = frozenset(
    {
        "AppendRecord", "Restart", "Boot", "CrashLosingTail", "ResignRemoved", "FollowAndFetch",
    }
)  # fmt: skip


class LockstepJudge(ABC):
    """Judges the steps of one run by the actions that each is read as.

    Judging stops at the first step that matches no action, and at a fault that the spec does not
    know, such as a disk that loses flushed data. ``judged`` counts the steps up to there.
    """

    reported_as: ClassVar[str]

    def __init__(self, lockstep: RaftLockstep | StackLockstep) -> None:
        self._lockstep = lockstep
        self._is_over = False
        self.judged = 0

    def judge(self, step: SimStep) -> Violation | None:
        """Return the violation if the spec forbids a step."""
        self._is_over = self._is_over or self._ends(step)
        if self._is_over:
            return None
        self.judged += self._counts(step)
        self._lockstep.judge(step)
        finding = self._lockstep.finding
        if finding is None:
            return None
        return Violation(
            self.reported_as, str(finding), step.number, step.time, name_of(step.replica),
            getattr(finding, "explanation", None),
        )  # fmt: skip

    def _ends(self, step: SimStep) -> bool:
        return step.fault in NOT_IN_THE_SPEC

    @abstractmethod
    def _counts(self, step: SimStep) -> bool:
        """Return whether a step is one that the spec speaks of."""

    @property
    def actions(self) -> Counter[str]:
        """Return how often each action of the spec was taken."""
        return self._lockstep.coverage


class RaftJudge(LockstepJudge):
    """Judges the steps of replicas by KRaftSteps."""

    reported_as = REFINEMENT

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(RaftLockstep(quorum_of(simulation)))

    def judge(self, step: SimStep) -> Violation | None:
        """Return the violation if the spec forbids a step; those above Raft are not judged."""
        return super().judge(step) if step.listener is None else None

    def _counts(self, step: SimStep) -> bool:
        return step.kind != "fault"


@cache
def raft_action_names() -> tuple[str, ...]:
    """Return the names of the actions of KRaftSteps that a run can take.

    An action is left out if every such step goes by another name: values are appended in batches,
    any start is Start, and a deposed leader resigns whether or not it is a voter.
    """
    key = ReplicaKey(NodeId(0))
    spec = RaftLockstep(Quorum({NodeId(0): 1}, (key,), is_dynamic=True)).spec
    names = dict.fromkeys(action.name for action in spec.actions)
    return tuple(name for name in names if name not in _NEVER_TAKEN)
