"""Runs of the stack in lockstep: Raft's steps by KRaftSteps, those above by MetadataLogSteps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.raft.lockstep_judge import LockstepJudge, RaftJudge, raft_action_names
from krafla.refinement.raft.vocabulary import quorum_of
from krafla.refinement.stack.lockstep import StackLockstep
from krafla.refinement.stack.spec import ACTIONS

if TYPE_CHECKING:
    from collections import Counter

    from krafla.fuzz.engine.violation import Violation
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.steps import SimStep

__all__ = [
    "METADATA_REFINEMENT",
    "RARE_IN_THE_STACK",
    "StackJudge",
    "VisibleJudge",
    "stack_action_names",
]

METADATA_REFINEMENT: Final = "MetadataLogSteps"
"""The property reported when a controller or broker takes a step that the spec forbids."""
RARE_IN_THE_STACK: Final = ("BecomeSoleLeader", "ForgetObserver", "LosePreVoteByName")
"""Actions of Raft that a quorum of three or five controllers may never take.

A controller is never the only voter there, and observers are seldom away for long. A replica that
knows only the id of its leader needs a change of the voters at the right moment. Campaigns of raft
must take all three.
"""


class VisibleJudge(LockstepJudge):
    """Judges the steps of controllers and brokers by MetadataLogSteps.

    It relies on what Raft promises, and stops where a fault takes that back.
    """

    reported_as = METADATA_REFINEMENT

    def __init__(self, simulation: Simulation) -> None:
        self._stack = StackLockstep(quorum_of(simulation), simulation.configuration.voters)
        super().__init__(self._stack)

    def _ends(self, step: SimStep) -> bool:
        return super()._ends(step) or self._stack.is_over

    def _counts(self, step: SimStep) -> bool:
        return step.listener is not None


class StackJudge:
    """Both judges of one run; Raft comes first, because the other relies on it."""

    def __init__(self, simulation: Simulation) -> None:
        self._raft = RaftJudge(simulation)
        self._visible = VisibleJudge(simulation)

    def judge(self, step: SimStep) -> Violation | None:
        """Return the violation if one of the specs forbids a step."""
        return self._raft.judge(step) or self._visible.judge(step)

    @property
    def judged(self) -> int:
        """Return how many steps one of them judged."""
        return self._raft.judged + self._visible.judged

    @property
    def actions(self) -> Counter[str]:
        """Return how often each action was taken, of both specs."""
        found = self._raft.actions.copy()
        found.update({_named(name): many for name, many in self._visible.actions.items()})
        return found


def stack_action_names() -> tuple[str, ...]:
    """Return the actions that a campaign of the stack must take, of both specs."""
    raft = (name for name in raft_action_names() if name not in RARE_IN_THE_STACK)
    return (*raft, *map(_named, ACTIONS))


def _named(name: str) -> str:
    """Return the name of an action of MetadataLog, apart from one of KRaft of the same name."""
    return f"MetadataLog!{name}"
