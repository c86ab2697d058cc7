"""A cluster of replicas stepped by hand: each message, timer and crash comes on request.

There is no simulator in between: a test, or Hypothesis, says what happens. Every property is
checked after each step. A disk is a value here: the file, the log, and the end of what is flushed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from krafla.fuzz.raft.checks import Checks
from krafla.fuzz.raft.log_checks import log_after
from kraft.chance import mix
from kraft.ids import ZERO_UUID, DirectoryId, NodeId, OffsetAndEpoch, ReplicaKey, uuid_text
from kraft.log.image import LogImage, Snapshot
from kraft.log.text_files import QuorumState
from kraft.raft.boot import boot
from kraft.raft.configuration import MILLISECOND, Configuration
from kraft.raft.effects import (
    AppendLog,
    CleanLog,
    Fatal,
    FlushLog,
    FreezeSnapshot,
    HandleCommit,
    HandleLoadSnapshot,
    SendRequest,
    SendResponse,
    ShutdownCompleted,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraft.raft.events import (
    CleanRequested,
    Poll,
    PrepareAppend,
    RequestReceived,
    ResignRequested,
    ResponseReceived,
    ScheduleAppend,
    SnapshotCreated,
    Source,
)
from kraft.raft.machine import is_busy, next_deadline, on_event
from kraft.raft.roles import NEVER, Leader
from kraft.raft.snapshot_file import read_snapshot, snapshot_bytes
from kraft.raft.voters import Voter, VoterSet
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.raft_voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from kraft.sim.raft.steps import CLIENT, Envelope, SimStep

CLUSTER = "a-cluster-by-hand"
POLLS_MAXIMUM = 50
COPY = 10**9
"""Copies are numbered from here on: an answer to a copy is not awaited."""


def key_of(node: int) -> ReplicaKey:
    return ReplicaKey(NodeId(node), DirectoryId(uuid_text(bytes([7]) * 15 + bytes([node]))))


def endpoints_of(node: int) -> tuple[Endpoint, ...]:
    return (Endpoint("CONTROLLER", f"node-{node}", 9093),)


@dataclass
class Node:
    """One replica: its process, if it runs, its disk, and its state machine."""

    configuration: Configuration
    log: LogImage
    state: Any = None
    file: QuorumState | None = None
    flushed: int = 0
    parts: bytes = b""
    now: int = 10**12
    told: int = 0
    fold: int = 0

    @property
    def key(self) -> ReplicaKey:
        key = self.configuration.key
        assert key is not None
        return key


class HandCluster:
    """Voters and then observers; `messages` are in flight."""

    def __init__(self, voters: int, observers: int = 0) -> None:
        self.checks = Checks()
        self.messages: list[Envelope] = []
        self.asked: dict[int, int] = {}
        self.number = self.chance = self.values = 0
        first = VoterSet.of(Voter(key_of(n), endpoints_of(n)) for n in range(voters))
        bootstrap = OffsetAndEpoch(0, 0)
        snapshot = Snapshot(bootstrap, snapshot_bytes(bootstrap, (), first, 1, 0))
        self.nodes = [
            Node(
                Configuration(
                    CLUSTER, NodeId(n), key_of(n).directory_id or DirectoryId(""),
                    endpoints_of(n), VoterSet(), first.node_ids,
                ),
                LogImage().with_snapshot(snapshot) if n < voters else LogImage(),
            )
            for n in range(voters + observers)
        ]  # fmt: skip
        for node in self.nodes:
            self.start(node)

    # What may happen

    def start(self, node: Node) -> None:
        """Start a process from its disk."""
        node.told = node.fold = 0
        step = boot(node.configuration, node.file, node.log, node.now, self._chance())
        self._conclude(node, "start", None, None, step)

    def crash(self, node: Node, *, keeps_tail: bool) -> None:
        """End a process; its disk loses what it did not flush, unless it keeps that."""
        self._observe("crash", node)
        if not keeps_tail:
            node.log = node.log.truncate(node.flushed)
        node.flushed = node.log.end_offset
        node.state = None
        self.messages = [m for m in self.messages if m.is_request or m.destination != node.key[0]]

    def deliver(self, index: int) -> None:
        message = self.messages.pop(index)
        node = self.nodes[message.destination]
        if node.state is None:
            return
        now, chance = node.now, self._chance()
        if message.is_request:
            source = Source(message.source, message.message_id)
            event: Any = RequestReceived(now, chance, source, message.payload)
        else:
            event = ResponseReceived(
                now, chance, message.source, message.correlation_id, message.payload
            )
        self._event(node, event, message)

    def lose(self, index: int) -> None:
        self.messages.pop(index)

    def duplicate(self, index: int) -> None:
        message = self.messages[index]
        self.number += 1
        self.messages.append(message._replace(message_id=COPY + self.number))

    def fire_timer(self, node: Node) -> None:
        """Move a replica's clock to its next deadline, and do what is due."""
        deadline = next_deadline(node.state)
        if deadline < NEVER:
            node.now = max(node.now, deadline)
            self._event(node, Poll(node.now, self._chance()), None)

    def let_time_pass(self, node: Node, milliseconds: int) -> None:
        """Move a replica's clock on, and do all that is due then."""
        node.now += milliseconds * MILLISECOND
        self.poll(node)

    def append(self, node: Node, count: int) -> None:
        if isinstance(node.state.role, Leader):
            epoch, first = node.state.role.epoch, self.values + 1
            self.values += count
            values = tuple(n.to_bytes(8, "big") for n in range(first, first + count))
            self._event(node, PrepareAppend(node.now, self._chance(), epoch, values), None)
            self._event(node, ScheduleAppend(node.now, self._chance()), None)
            node.now += node.configuration.timeouts.append_linger
            self.poll(node)

    def snapshot(self, node: Node) -> None:
        """Make the state machine create a snapshot of what it was told."""
        if node.told:
            identity = OffsetAndEpoch(node.told, node.state.log.epoch_before(node.told))
            values = (node.fold.to_bytes(8, "big"),)
            self._event(node, SnapshotCreated(node.now, self._chance(), identity, values, 0), None)

    def clean(self, node: Node) -> None:
        self._event(node, CleanRequested(node.now, self._chance()), None)

    def resign(self, node: Node) -> None:
        if isinstance(node.state.role, Leader):
            epoch = node.state.role.epoch
            self._event(node, ResignRequested(node.now, self._chance(), epoch), None)

    def add_voter(self, leader: Node, new: Node) -> None:
        listeners = endpoints_of(new.key.node_id)
        self._ask(leader, AddRaftVoterRequest(CLUSTER, 5000, *new.key, listeners))

    def remove_voter(self, leader: Node, old: Node) -> None:
        self._ask(leader, RemoveRaftVoterRequest(CLUSTER, *old.key))

    def poll(self, node: Node) -> None:
        """Do all that is due now."""
        for _ in range(POLLS_MAXIMUM):
            if node.state is None or next_deadline(node.state) > node.now:
                return
            self._event(node, Poll(node.now, self._chance()), None)

    # Questions

    @property
    def running(self) -> list[Node]:
        return [node for node in self.nodes if node.state is not None]

    @property
    def leaders(self) -> list[Node]:
        return [node for node in self.running if isinstance(node.state.role, Leader)]

    # How it happens

    def _ask(self, node: Node, request: Any) -> None:
        source = Source(CLIENT, 0)
        self._event(node, RequestReceived(node.now, self._chance(), source, request), None)

    def _chance(self) -> int:
        self.chance = mix(self.chance)
        return self.chance

    def _event(self, node: Node, event: Any, message: Envelope | None) -> None:
        self._conclude(node, "event", event, message, on_event(node.state, event))
        for _ in range(POLLS_MAXIMUM):
            if node.state is None or not is_busy(node.state):
                return
            poll = Poll(node.now, self._chance())
            self._conclude(node, "event", poll, None, on_event(node.state, poll))

    def _conclude(self, node: Node, kind: str, event: Any, message: Any, step: Any) -> None:
        before, node.state = node.state, step.state
        for effect in step.effects:
            self._perform(node, effect)
        self._observe(
            kind, node, received=message, event=event, before=before, after=step.state,
            effects=step.effects,
        )  # fmt: skip
        if any(isinstance(effect, Fatal | ShutdownCompleted) for effect in step.effects):
            self.crash(node, keeps_tail=True)

    def _observe(self, kind: Any, node: Node, **fields: Any) -> None:
        self.number += 1
        self.checks.observe(SimStep(self.number, node.now, kind, node.key, **fields))

    def _perform(self, node: Node, effect: Any) -> None:
        match effect:
            case WriteQuorumState(epoch, leader, voted, version):
                node.file = QuorumState(
                    Path("quorum-state"), version, -1 if leader is None else leader, epoch,
                    -1 if voted is None else voted.node_id,
                    ZERO_UUID if voted is None else voted.directory_id or ZERO_UUID, None,
                )  # fmt: skip
            case FlushLog():
                node.flushed = node.log.end_offset
            case AppendLog():
                node.log = log_after(node.log, (effect,))
            case TruncateLog():
                node.log = log_after(node.log, (effect,))
                node.flushed = node.log.end_offset
            case CleanLog() | WriteSnapshot() | FreezeSnapshot() | TruncateToSnapshot():
                self._snapshot(node, effect)
            case WriteSnapshotPart(_, position, data):
                node.parts = node.parts[:position] + data
            case _:
                self._tell(node, effect)

    def _snapshot(self, node: Node, effect: Any) -> None:
        match effect:
            case CleanLog(snapshot_id):
                node.log = node.log.clean_to(snapshot_id)
            case WriteSnapshot(snapshot_id, data):
                node.log = node.log.with_snapshot(Snapshot(snapshot_id, data))
            case FreezeSnapshot(snapshot_id):
                node.log = node.log.with_snapshot(Snapshot(snapshot_id, node.parts))
            case TruncateToSnapshot(snapshot_id):
                found = node.log.snapshot(snapshot_id)
                assert found is not None
                node.log = node.log.begin_at(found)
                node.flushed = node.log.end_offset

    def _tell(self, node: Node, effect: Any) -> None:
        match effect:
            case SendRequest(destination, correlation_id, request):
                self._send(node, destination, correlation_id, request, is_request=True)
            case SendResponse(source, response) if source.node_id != CLIENT:
                self._answer(node, source, response)
            case HandleCommit(batches):
                for batch in batches:
                    node.told = batch.end_offset
                    for value in batch.values:
                        node.fold = mix(node.fold ^ int.from_bytes(value[:8], "big"))
            case HandleLoadSnapshot(snapshot_id):
                found = node.log.snapshot(snapshot_id)
                assert found is not None
                values = read_snapshot(found.data).values
                node.told = snapshot_id.end_offset
                node.fold = int.from_bytes(values[0], "big") if values else 0

    def _send(
        self, node: Node, to: int, correlation_id: int, payload: Any, *, is_request: bool
    ) -> None:
        if to < len(self.nodes):
            self.number += 1
            self.asked[self.number] = correlation_id
            envelope = Envelope(
                self.number, node.key.node_id, NodeId(to), correlation_id, payload, is_request, 0
            )
            self.messages.append(envelope)

    def _answer(self, node: Node, source: Source, response: Any) -> None:
        correlation_id = self.asked.get(source.correlation_id)
        if correlation_id is not None:
            self._send(node, source.node_id, correlation_id, response, is_request=False)
