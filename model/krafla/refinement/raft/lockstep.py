"""Raft in lockstep with KRaftSteps: the spec judges every step of every replica.

A step is read as one action, or as a few that belong together. The spec applies them to its own
state. Then the replica, and what is in flight, must be as the spec says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.refinement.common.judgement import Agreed, Judgement, SpecAction
from krafla.refinement.common.spec_run import Action
from krafla.refinement.raft.actions import RaftReader, is_piece
from krafla.refinement.raft.agreement import RaftAgreement
from krafla.refinement.raft.crashes import crash_in, happened
from krafla.refinement.raft.network import CARRIED, Exchange
from krafla.refinement.raft.requests import request_of
from krafla.testing import Explanation
from kraft.raft.effects import Fatal, SendRequest, SendResponse
from kraft.raft.events import Poll
from kraft.raft.roles import Leader
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest
from kraft.rpc.raft_voters import ApiVersionsRequest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from krafla.refinement.raft.terms import Message
    from krafla.refinement.raft.vocabulary import Quorum
    from kraft.raft.effects import Effect
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState
    from kraft.sim.raft.steps import Envelope, SimStep

__all__ = ["RaftLockstep"]


class RaftLockstep(RaftAgreement):
    """The judge of one run.

    With properties, every state and step must also keep those of KRaft, which is slow.
    """

    def __init__(
        self,
        quorum: Quorum,
        path: Path | None = None,
        *,
        with_properties: bool = False,
    ) -> None:
        super().__init__(quorum, path, with_properties=with_properties)
        self.reader = RaftReader(self.naming)
        self._incarnations: dict[str, int] = {}
        self._pending: dict[str, SimStep] = {}

    def _judge(self, step: SimStep) -> Judgement:
        match step.kind:
            case "event":
                return self._event(step)
            case "start":
                return self._start(step)
            case "crash":
                return self._ended(step.incarnation)
            case "lose":
                return self._lost(step)
            case "duplicate":
                return self._duplicated(step)
        return Agreed(None)

    # The network

    def _lost(self, step: SimStep) -> Judgement:
        envelope = step.received
        if envelope is None or not envelope.is_request:
            return Agreed(None)
        return self.judge_actions(None, None, [], list(self.exchanges.lose(envelope.message_id)))

    def _duplicated(self, step: SimStep) -> Judgement:
        copy = step.received
        message = None if copy is None else self.exchanges.request(copy.copy_of)
        if copy is None or message is None or message.type == "FetchSnapshotRequest":
            return Agreed(None)
        late = self.terms.unawaited(message)
        self.exchanges.put(late)
        self.exchanges.late[copy.message_id] = late
        return self.judge_actions(None, None, [Action("DuplicateMessage", (message,))], [])

    # One event

    def _event(self, step: SimStep) -> Judgement:
        name = self.vocabulary.name(step.replica)
        self._incarnations[name] = step.incarnation
        if any(isinstance(effect, Fatal) for effect in step.effects):
            return self._died(step)
        if step.after is not None:
            return self._taken(name, step, step.after, step.effects)
        whole = step.whole
        assert whole is not None, "a crash has cut it short"
        if not step.sent:
            # No other process can have seen anything of this step.
            self._pending[name] = step
            return self._ended(step.incarnation)
        judged = self._taken(name, step, whole.state, whole.effects)
        return self._ended(step.incarnation) if isinstance(judged, Agreed) else judged

    def _taken(
        self, name: str, step: SimStep, after: RaftState, effects: Sequence[Effect]
    ) -> Judgement:
        """Judge a complete step of a replica."""
        before, event = step.before, step.event
        assert before is not None, "an event happens to a process"
        assert event is not None, "an event is of a kind"
        if isinstance(after.role, Leader) and not isinstance(before.role, Leader):
            assert after.configuration.node_id is not None, "a leader has an id"
            self.naming.leaders[after.role.epoch, after.configuration.node_id] = name
        has_new_log = self.spec_run.disks[name].perform(effects)
        if not self.spec_run.disks[name].matches(after.log):
            return self.log_divergence(name, after)
        lost: list[Message] = []
        envelope = step.received
        actions = self._read(name, step, after, effects, lost)
        for effect in effects:
            if isinstance(effect, SendResponse):
                request_id = effect.source.correlation_id
                if envelope is None or request_id != envelope.message_id:
                    actions += self._answer_parked(step.incarnation, request_id, effect)
        if after.connections is not before.connections:
            self._close(step, before, after, name, actions, lost)
        self._send(name, step.incarnation, after, step.sent, effects)
        actions += self.reader.forgotten(name, before, after)
        unchanged = (
            after.role is before.role
            and after.high_watermark == before.high_watermark
            and after.log.snapshots is before.log.snapshots
        )
        return self.judge_actions(name, None if unchanged else after, actions, lost, has_new_log)

    def _read(
        self, name: str, step: SimStep, after: RaftState, effects: Sequence[Effect],
        lost: list[Message],
    ) -> list[Action]:  # fmt: skip
        """Return the actions of a step's message or event, and update what is in flight."""
        before, event, envelope = step.before, step.event, step.received
        assert before is not None, "an event happens to a process"
        assert event is not None, "an event is of a kind"
        if envelope is None:
            return self._own(name, event, before, after, effects, step.incarnation)
        if envelope.is_request:
            message = self.exchanges.request(envelope.message_id)
            if message is None:
                return self._own(name, event, before, after, effects, step.incarnation)
            return self._take_request(name, step, message, effects, lost)
        exchange = self.exchanges.awaited(step.incarnation, envelope.correlation_id)
        if exchange is None or after is before:
            return []
        message = exchange.message
        if message is None:
            self.exchanges.forget(exchange)
            return []
        if message.is_request:
            if is_piece(envelope.payload):
                self.exchanges.carry(exchange)
                return []
            late = self.exchanges.end(exchange)
            if late is not None:
                lost.append(late)
            return [Action("RequestTimeout", (name, message.receiver))]
        taken = self.reader.response(message, before, after, envelope.payload, effects)  # type: ignore[arg-type] # it is a response
        self.exchanges.forget(exchange)
        self.exchanges.take(message)
        # Values that the state machine had prepared enter the log before the record of the voters.
        prepared = self.reader.prepared(name, effects) if taken == "CompleteAddVoter" else []
        return [*prepared, Action(taken, (message,))]

    def _take_request(
        self, name: str, step: SimStep, message: Message, effects: Sequence[Effect],
        lost: list[Message],
    ) -> list[Action]:  # fmt: skip
        envelope = step.received
        assert envelope is not None, "a request came"
        request_id = envelope.message_id
        response = None
        for effect in effects:
            if isinstance(effect, SendResponse) and effect.source.correlation_id == request_id:
                response = effect.response
        taken = self.reader.request(name, message, envelope.payload, response)
        if taken.is_lost:
            lost += self.exchanges.lose(request_id)
        elif not taken.is_held:
            self.exchanges.replace(request_id, taken.answer if message.awaited else None)
        elif message.type == "FetchRequest":
            if taken.request is not message:
                self.exchanges.replace(request_id, taken.request)
            self.exchanges.park(step.incarnation, request_id)
        return list(taken.actions)

    def _own(
        self, name: str, event: Event, before: RaftState, after: RaftState,
        effects: Sequence[Effect], incarnation: int,
    ) -> list[Action]:  # fmt: skip
        actions = self.reader.own(name, event, before, after, effects)
        for effect in effects:
            if isinstance(effect, SendRequest) and isinstance(effect.request, FetchSnapshotRequest):
                carried = self.exchanges.awaited(incarnation, CARRIED)
                if carried is None:
                    actions.append(Action("SendFetchSnapshot", (name,)))
        return actions

    def _answer_parked(
        self, incarnation: int, request_id: int, effect: SendResponse
    ) -> list[Action]:
        message = self.exchanges.request(request_id)
        if message is None or message.type != "FetchRequest":
            return []
        action, answer = self.reader.parked(message, effect.response)  # type: ignore[arg-type] # of a fetch
        self.exchanges.replace(request_id, answer if message.awaited else None)
        self.exchanges.unpark(incarnation, request_id)
        return [action]

    def _close(
        self, step: SimStep, before: RaftState, after: RaftState, name: str,
        actions: list[Action], lost: list[Message],
    ) -> None:  # fmt: skip
        """End the connections that a step has closed: one that took too long, or all of them."""
        still = {connection.correlation_id for connection in after.connections.values()}
        left, role = before.role, after.role
        if role.__class__ is left.__class__ and role.epoch == left.epoch:
            still.add(CARRIED)
        expires = isinstance(step.event, Poll) and role is left
        for exchange in self.exchanges.open_of(step.incarnation):
            if exchange.correlation_id in still:
                continue
            if expires and exchange.message is not None:
                receiver = exchange.message.receiver
                if not exchange.message.is_request:
                    receiver = exchange.message.sender
                actions.append(Action("RequestTimeout", (name, receiver)))
            late = self.exchanges.end(exchange)
            if late is not None:
                lost.append(late)

    def _send(
        self, name: str, incarnation: int, after: RaftState, sent: Sequence[Envelope],
        effects: Sequence[Effect],
    ) -> None:  # fmt: skip
        """Put the requests of a step in flight; those that a crash prevented are lost."""
        requests = [effect for effect in effects if isinstance(effect, SendRequest)]
        if not requests:
            return
        envelopes = {one.correlation_id: one for one in sent if one.is_request}
        for effect in requests:
            correlation_id = effect.correlation_id
            envelope = envelopes.get(correlation_id)
            request_id = -1 - correlation_id if envelope is None else envelope.message_id
            request = effect.request
            carried = None
            if isinstance(request, FetchSnapshotRequest):
                carried = self.exchanges.awaited(incarnation, CARRIED)
            if carried is not None:
                self.exchanges.forget(carried)
                message = carried.message
            elif isinstance(request, ApiVersionsRequest):
                message = self.terms.message(
                    "ApiVersionsResponse", self.reader.added(after), name, None,
                    ("epoch", after.role.epoch), ("leader", None),
                )  # fmt: skip
            else:
                message = request_of(self.naming, name, after, effect.destination, request)
            exchange = Exchange(
                name, incarnation, effect.destination, correlation_id, request_id, message
            )
            exchange.is_present = envelope is not None
            self.exchanges.send(exchange, is_new=carried is None)

    # The end and the beginning of a process

    def _ended(self, incarnation: int) -> Judgement:
        """Note that the requests which a process held will not be answered."""
        lost: list[Message] = []
        for request_id in self.exchanges.parked_by(incarnation):
            lost += self.exchanges.lose(request_id)
        return self.judge_actions(None, None, [], lost)

    def _start(self, step: SimStep) -> Judgement:
        after = step.after
        if after is None:
            return Agreed(None)
        name = self.vocabulary.name(step.replica)
        lost: list[Message] = []
        cut = self._pending.pop(name, None)
        actions: list[Action] = []
        disk = self.spec_run.disks[name]
        if cut is not None:
            whole = cut.whole
            assert whole is not None, "a crash has cut it short"
            exchange = None
            crash = crash_in(cut, whole, after)
            if crash is not None and cut.received is not None:
                exchange = self.exchanges.awaited(cut.incarnation, cut.received.correlation_id)
            if crash is not None and exchange is not None and exchange.message is not None:
                message = exchange.message
                actions.append(Action(crash, (message, after.log.end_offset)))
            elif happened(cut, whole, after):
                judged = self._taken(name, cut, whole.state, whole.effects)
                if not isinstance(judged, Agreed):
                    return judged
            if cut.received is not None and cut.received.is_request:
                lost += self.exchanges.lose(cut.received.message_id)
        if not actions:
            # A log that begins anew after a snapshot kept nothing that was not flushed.
            begins_anew = after.log.start_offset > disk.start
            end = disk.flushed if begins_anew else after.log.end_offset
            actions.append(Action("StartAgain", (name, end)))
        previous = self._incarnations.get(name)
        if previous is not None:
            for open_exchange in self.exchanges.open_of(previous):
                late = self.exchanges.end(open_exchange)
                if late is not None:
                    lost.append(late)
        self._incarnations[name] = step.incarnation
        disk.read(after.log)
        self._send(name, step.incarnation, after, step.sent, step.effects)
        return self.judge_actions(name, after, actions, lost, has_new_log=True)

    def _died(self, step: SimStep) -> Judgement:
        """Judge that a process ends itself: a finding, unless Kafka's process would end as well.

        Kafka distinguishes two disks of one node in votes only. A process that hears that its own
        node leads, and whose disk is not the leader's, ends for that reason.
        """
        name = self.vocabulary.name(step.replica)
        reason = next(effect.reason for effect in step.effects if isinstance(effect, Fatal))
        if not self.dies_in_kafka(step):
            finding = f"replica {name} cannot go on: {reason}"
            return self._divergence(SpecAction("Fatal", ()), Explanation(finding))
        self.deaths += 1
        lost: list[Message] = []
        if step.received is not None and step.received.is_request:
            lost += self.exchanges.lose(step.received.message_id)
        judged = self.judge_actions(None, None, [], lost)
        return self._ended(step.incarnation) if isinstance(judged, Agreed) else judged
