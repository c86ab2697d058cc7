"""Compares a replica and the network with KRaftSteps after some actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.refinement.common.action_lockstep import ActionLockstep
from krafla.refinement.common.judgement import (
    Agreed,
    Divergence,
    Judgement,
    PropertyViolated,
    SpecAction,
)
from krafla.refinement.common.spec_run import Action
from krafla.refinement.raft.names import Naming
from krafla.refinement.raft.network import Exchanges
from krafla.refinement.raft.properties import RaftProperties
from krafla.refinement.raft.replica import row_of
from krafla.refinement.raft.spec import load_raft
from krafla.refinement.raft.spec_run import RaftSpecRun
from krafla.refinement.raft.terms import Terms
from krafla.refinement.raft.vocabulary import Vocabulary
from krafla.testing import Explanation

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.refinement.raft.terms import Message
    from krafla.refinement.raft.vocabulary import Quorum
    from kraft.raft.state import RaftState
    from kraft.sim.raft.steps import SimStep

__all__ = ["RaftAgreement"]


class RaftAgreement(ActionLockstep[RaftSpecRun]):
    """A lockstep that compares a replica and the network with the spec.

    `deaths` counts the processes that ended themselves where Kafka's process would.
    """

    def __init__(self, quorum: Quorum, path: Path | None, *, with_properties: bool) -> None:
        self.vocabulary = Vocabulary(quorum)
        self.spec = load_raft(self.vocabulary, path, with_properties=with_properties)
        self.terms = Terms(self.spec, self.vocabulary.names)
        self.naming = Naming(self.vocabulary, self.terms)
        super().__init__(RaftSpecRun(self.spec, self.terms, self.naming))
        self.exchanges = Exchanges(self.terms)
        self.deaths = 0
        self._properties = RaftProperties(self.spec) if with_properties else None

    def judge_actions(
        self, name: str | None, after: RaftState | None, actions: list[Action],
        lost: list[Message], has_new_log: bool = False,
    ) -> Judgement:  # fmt: skip
        """Judge some actions, after which a replica has this state (None: an unchanged one)."""
        if lost:
            actions = [*actions, *(Action("LoseMessage", (message,)) for message in lost)]
            self.exchanges.has_changed = True
        names = self.spec_run.names
        row = None
        if name is not None and after is not None:
            row = row_of(name, after, self.naming, names)
        if not actions:
            same = name is None or row is None or row == self.spec_run.rows[name]
            if same and not has_new_log and not self.exchanges.has_changed:
                return Agreed(None)
            explanation = self.spec_run.explain_change(
                name or names[0], row, has_new_log, self.exchanges
            )
            if not explanation.differences:
                return Agreed(None)
            return self._divergence(None, explanation)
        before, reached, changed = self.spec_run.take(
            name or names[0], row, has_new_log, self.exchanges, actions
        )
        properties = self._properties
        broken = None if properties is None else properties.broken_by(before, reached, changed)
        if broken is not None:
            return PropertyViolated(self.steps, self.spec_run.spec_action(actions[-1]), *broken)
        for action in actions:
            self.coverage[action.name] += 1
        return Agreed(SpecAction(actions[0].name, ()))

    def dies_in_kafka(self, step: SimStep) -> bool:
        """Return whether a process that could not go on would have ended in Kafka as well."""
        envelope, before = step.received, step.before
        if envelope is None or before is None:
            return False
        payload = envelope.payload
        named = getattr(payload, "leader_id", None)
        epoch = getattr(payload, "epoch", None)
        if named is None or epoch is None or named != step.replica.node_id:
            return False
        return self.naming.leader(epoch, named) != self.vocabulary.name(step.replica)

    def log_divergence(self, name: str, after: RaftState) -> Divergence:
        """Return the finding that a replica's log in memory is not the one on its disk."""
        disk, log = self.spec_run.disks[name], after.log
        finding = (
            f"the log of replica {name} is {disk.start} .. {disk.end} on its disk"
            f" and {log.start_offset} .. {log.end_offset} in memory"
        )
        return Divergence(self.steps, SpecAction("", ()), Explanation(finding), ("log",))
