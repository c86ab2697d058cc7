"""Whole clusters in lockstep: Raft's steps by KRaftSteps, those above by MetadataLogSteps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violation
from krafla.fuzz.raft.history import name_of
from krafla.fuzz.raft.lockstep_judge import NOT_IN_THE_SPEC, LockstepJudge, raft_action_names
from krafla.refinement.raft.vocabulary import quorum_of
from krafla.refinement.stack.lockstep import StackLockstep
from krafla.refinement.stack.spec import ACTIONS

if TYPE_CHECKING:
    from collections import Counter

    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.steps import SimStep

__all__ = [
    "METADATA_REFINEMENT",
    "SELDOM_OF_RAFT",
    "ClusterJudge",
    "VisibleJudge",
    "cluster_action_names",
]

METADATA_REFINEMENT: Final = "MetadataLogSteps"
"""The name under which a step of a controller or a broker that the spec has not is reported."""


SELDOM_OF_RAFT: Final = ("BecomeSoleLeader", "ForgetObserver", "LosePreVoteByName")
"""The actions of Raft that a cluster of three or five controllers may well not come to.

Nobody is left alone there, observers are seldom away for long, and a name that nobody has read of
as a voter needs a change of voters at the right moment. Campaigns of Raft alone must take them all.
"""


class VisibleJudge:
    """The judgement of MetadataLogSteps on controllers and brokers of one run.

    It rests on what Raft promises, and ends where a fault takes that back.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._lockstep = StackLockstep(quorum_of(simulation), simulation.configuration.voters)
        self._is_over = False
        self.judged = 0

    def judge(self, step: SimStep) -> Violation | None:
        """Return what the spec has against a step, if anything."""
        if step.fault in NOT_IN_THE_SPEC or self._lockstep.is_over:
            self._is_over = True
        if self._is_over:
            return None
        self.judged += step.listener is not None
        self._lockstep.judge(step)
        finding = self._lockstep.finding
        if finding is None:
            return None
        who = name_of(step.replica)
        return Violation(METADATA_REFINEMENT, str(finding), step.number, step.time, who)

    @property
    def actions(self) -> Counter[str]:
        """How often each action of the spec was taken."""
        return self._lockstep.coverage


class ClusterJudge:
    """Both judgements of one run; what Raft does comes first, all else rests on it."""

    def __init__(self, simulation: Simulation) -> None:
        self._raft = LockstepJudge(simulation)
        self._visible = VisibleJudge(simulation)

    def judge(self, step: SimStep) -> Violation | None:
        """Return what a spec has against a step, if anything."""
        return self._raft.judge(step) or self._visible.judge(step)

    @property
    def judged(self) -> int:
        """Of how many steps one of them had an opinion."""
        return self._raft.judged + self._visible.judged

    @property
    def actions(self) -> Counter[str]:
        """How often each action was taken, of the two specs together."""
        found = self._raft.actions.copy()
        found.update({_named(name): many for name, many in self._visible.actions.items()})
        return found


def cluster_action_names() -> tuple[str, ...]:
    """Return the actions that a campaign of clusters should come to, of the two specs together."""
    raft = (name for name in raft_action_names() if name not in SELDOM_OF_RAFT)
    return (*raft, *map(_named, ACTIONS))


def _named(name: str) -> str:
    """Tell an action of MetadataLog from one of KRaft that is called the same."""
    return f"MetadataLog!{name}"
