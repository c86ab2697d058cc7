"""Controllers and brokers in lockstep with MetadataLogSteps.

A step is read as one action, or as a few that belong together. The spec takes them. Then what the
node has, and the answers it sent, must be as the spec says. Of Raft only what its listeners hear
counts: a batch is committed for the spec as soon as any node hears of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krafla.oracle.difference import differences
from krafla.refinement.common.action_lockstep import ActionLockstep
from krafla.refinement.common.judgement import Agreed, Divergence, Judgement, SpecAction
from krafla.refinement.common.spec_run import Action
from krafla.refinement.raft.vocabulary import Quorum, Vocabulary
from krafla.refinement.stack.actions import StackReader
from krafla.refinement.stack.log import NO_END, Images, Log
from krafla.refinement.stack.spec import StackSpecRun
from krafla.refinement.stack.views import NOTHING, Node
from krafla.testing import EvaluationError, Explanation
from kraft.controller.effects import Append
from kraft.controller.events import CommittedBatch
from kraft.controller.record_bytes import decode_records
from kraft.controller.state import NO_EPOCH
from kraft.ids import Offset
from kraft.raft.effects import HandleCommit, HandleLoadSnapshot
from kraft.raft.roles import Leader

if TYPE_CHECKING:
    from krafla.refinement.stack.actions import Reading
    from krafla.values import Value
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["StackLockstep"]


class StackLockstep(ActionLockstep[StackSpecRun]):
    """The judge of one run.

    The nodes below `controllers` are controllers, the others are brokers. `is_over` is true once a
    sole voter has lost what only it had: the spec cannot express that.
    """

    def __init__(self, quorum: Quorum, controllers: int) -> None:
        self.vocabulary = Vocabulary(quorum)
        names = quorum.names()
        self._controllers = {name for name, node in names if node < controllers}
        brokers = {name for name, node in names if node >= controllers}
        super().__init__(StackSpecRun(self._controllers, brokers))
        self.log, self.images = Log(), Images()
        self.nodes = {name: Node(self.log, self.images) for name, _ in names}
        self.reader = StackReader(self.log, self.images, self.nodes)
        self.is_over = False
        self._ended: tuple[str, int] | None = None
        self._last: dict[str, Any] = {}

    def _judge(self, step: SimStep) -> Judgement:
        self._end(step)
        if step.kind == "listener":
            return self._listener(step)
        if step.kind in ("event", "start"):
            self._raft(step)
        if step.kind == "start" and step.error is None:
            self._start(step)
        elif step.kind == "crash":
            self._ended = self.vocabulary.name(step.replica), step.incarnation
        return Agreed(None)

    # Raft and processes

    def _end(self, step: SimStep) -> None:
        """End a process once all that it did before has been judged."""
        if self._ended is None:
            return
        name, incarnation = self._ended
        if step.kind == "listener" and step.incarnation == incarnation:
            return
        self._ended = None
        node = self.nodes[name]
        node.raft_leads = None
        self._lose_leadership(name)

    def _raft(self, step: SimStep) -> None:
        """Note the leader; a process that crashed in the middle of the step has ended."""
        name = self.vocabulary.name(step.replica)
        state = step.after
        if state is None and step.whole is not None:
            state = step.whole.state
        if step.after is None:
            self._ended = name, step.incarnation
        if state is None:
            return
        node, role = self.nodes[name], state.role
        node.raft_leads = role.epoch if isinstance(role, Leader) else None
        if node.raft_leads is not None:
            self.reader.leaders[node.raft_leads] = name
        if node.raft_leads != node.leads:
            self._lose_leadership(name)

    def _lose_leadership(self, name: str) -> None:
        node = self.nodes[name]
        if node.leads is not None:
            node.leads = None
            self._take(Action("LoseLeadership", (name,)))

    def _start(self, step: SimStep) -> None:
        """Start a process with what is on its disk and nothing in memory."""
        state = step.after if step.whole is None else step.whole.state
        if state is None:
            return
        name, log = self.vocabulary.name(step.replica), self.log
        voters = state.controls.voters
        alone = voters.node_ids == (step.replica.node_id,)
        if alone and state.log.end_offset < log.end:
            self.is_over = True
            return
        latest = state.log.latest_snapshot
        end = 0 if latest is None else log.ends.get(latest.snapshot_id.end_offset, NO_END)
        node, was_known = self.nodes[name], self.nodes[name].is_known
        node.start()
        node.is_known = True
        self.reader.forget(name)
        self._last.pop(name, None)
        if not was_known and not end:
            return
        if end == node.snapshot[0] == 0:
            self._take(Action("Restart", (name,)))
            return
        self._take(Action("StartAnew", (name, end)))
        node.snapshot = end, log.at[end].image

    # Controllers and brokers

    def _listener(self, step: SimStep) -> Judgement:
        listener, name = step.listener, self.vocabulary.name(step.replica)
        assert listener is not None, "a listener step has a listener"
        if listener.kind == "controller":
            return self._controller(name, listener)
        if listener.kind == "broker":
            return self._broker(name, listener)
        return Agreed(None)

    def _controller(self, name: str, listener: ListenerStep) -> Judgement:
        reading = self.reader.controller(name, listener)
        wrong = _epochs_not_active(listener)
        if wrong:
            return self._divergence(None, Explanation(
                f"node {name} appends in epoch {wrong[0]} but is active in another", (), ()
            ))  # fmt: skip
        if reading.is_pending:
            return Agreed(None)
        taken = self._take_all(reading.actions)
        is_same = self._last.get(name) is listener.after
        self._last[name] = listener.after
        if is_same and not reading.actions and not reading.answers:
            return Agreed(None)
        view = self.nodes[name].of_controller(listener.after, self.reader.requests[name])
        return (
            self._compare(name, taken, view)
            or self._compare_answers(taken, reading)
            or Agreed(taken)
        )

    def _broker(self, name: str, listener: ListenerStep) -> Judgement:
        memory = listener.after.memory
        actions: list[Action] = []
        if isinstance(listener.event, HandleCommit):
            actions += self.reader.read_commits(_decoded(listener.event, self.log))
            actions += self.reader.committed(name, listener.event.batches[-1].end_offset)
        elif isinstance(listener.event, HandleLoadSnapshot):
            actions += self.reader.loaded(name, listener.event.snapshot_id)
        is_same = self._last.get(name) is memory
        self._last[name] = memory
        if is_same and not actions:
            return Agreed(None)
        taken = self._take_all(actions)
        return self._compare(name, taken, self.nodes[name].of_broker(memory)) or Agreed(taken)

    def _take_all(self, actions: tuple[Action, ...] | list[Action]) -> SpecAction | None:
        for action in actions:
            self._take(action)
        return SpecAction(*actions[-1]) if actions else None

    def _take(self, action: Action) -> None:
        self.spec_run.take(action)
        self.coverage[action.name] += 1

    def _compare(self, name: str, taken: SpecAction | None, got: Value) -> Divergence | None:
        """Return the finding that a node has something else than the spec says, if it has."""
        expected = self.spec_run.value("ViewOf", name)
        if expected == got:
            return None
        what = f"{taken} leads to another" if taken else "a step that is no action changes the"
        return self._divergence(taken, Explanation(
            f"{what} state of node {name}", (), differences(name, expected, got)
        ))  # fmt: skip

    def _compare_answers(self, taken: SpecAction | None, reading: Reading) -> Divergence | None:
        """Return the finding that other answers were sent than the spec says, if they were."""
        try:
            expected = self.spec_run.value("ToldTo", reading.due) if reading.due else frozenset()
        except EvaluationError:
            # The spec has no such request: what came before was read as another step.
            expected = NOTHING
        if expected == reading.answers:
            return None
        return self._divergence(taken, Explanation(
            f"{taken} gives other answers", (), differences("answers", expected, reading.answers)
        ))  # fmt: skip

    def _variables_of(self, explanation: Explanation) -> tuple[str, ...]:
        """Return the fields that differ. The path of a field begins with the name of its node."""
        return tuple(sorted({
            re.split(r"[.\[]", one.path)[1] if "." in one.path else one.path
            for one in explanation.differences
        }))  # fmt: skip


def _epochs_not_active(listener: ListenerStep) -> list[int]:
    """Return the epochs in which a controller appends without being active in them."""
    active = {listener.before.claim_epoch, listener.after.claim_epoch} - {NO_EPOCH}
    appended = [one.epoch for one in listener.effects if isinstance(one, Append)]
    return [epoch for epoch in appended if epoch not in active]


def _decoded(effect: HandleCommit, log: Log) -> tuple[CommittedBatch, ...]:
    """Return the batches that no node has heard of before."""
    return tuple(
        CommittedBatch(
            Offset(one.base_offset), one.epoch,
            decode_records(one.values, one.base_offset) if one.values else (), one.count,
        )
        for one in effect.batches
        if one.base_offset >= log.end
    )  # fmt: skip
