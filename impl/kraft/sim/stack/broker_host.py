"""A broker on a machine: it follows the metadata log, keeps its lease, leads and follows.

It sends heartbeats and other requests to the leader of the quorum that Raft names. It opens its
replicas once it has caught up with the metadata for the first time, and is ready to serve then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.broker import lifecycle_manager as broker
from kraft.broker.lease import BrokerLifecycle, BrokerState, Send, is_live
from kraft.controller.memory import EMPTY, Memory, after_batch, after_control_batch
from kraft.controller.memory import visible_of as seen
from kraft.controller.operations.written import written_from_snapshot
from kraft.controller.record_bytes import decode_records
from kraft.errors import ErrorCode
from kraft.hosting.own_requests import Shutdown
from kraft.ids import BrokerId, NodeId, Offset
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import NEVER
from kraft.raft.snapshot_file import read_snapshot
from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationResponse
from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from kraft.rpc.produce import ProduceRequest
from kraft.rpc.replica_fetch import ReplicaFetchRequest, ReplicaFetchResponse
from kraft.sim.raft.machines import SHUTDOWN_TIMEOUT
from kraft.sim.raft.steps import ListenerStep
from kraft.sim.stack.hosts import incarnation_of
from kraft.sim.stack.replicas import Replicas

if TYPE_CHECKING:
    from kraft.broker.lifecycle_manager import BrokerProcess, ProcessStep
    from kraft.broker.partition_leader import PartitionLeader
    from kraft.broker.partitions import BrokerPartitions, PartitionKey
    from kraft.broker.settings import BrokerSettings
    from kraft.image.metadata_image import MetadataImage
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Process
    from kraft.sim.raft.steps import Envelope
    from kraft.sim.stack.broker_disk import BrokerDisk
    from kraft.sim.stack.configuration import StackKnobs
    from kraft.sim.stack.hosts import Decoder

_ALTER: Final = "alter"
_ASSIGN: Final = "assign"


class BrokerView(NamedTuple):
    """An observer's view of a broker after a step, and the time by the broker's clock.

    `own` are its replicas, `leading` the views of those that lead; there are none before it has
    `begun`. `asks` are the partitions with an unanswered AlterPartition. `disk` goes on changing:
    read it at once.
    """

    life: BrokerProcess
    memory: Memory
    leading: dict[PartitionKey, PartitionLeader]
    asks: frozenset[PartitionKey]
    own: BrokerPartitions
    begun: bool
    now_ms: int
    disk: BrokerDisk


class BrokerHost:
    """Hosts a broker process: `life` is its lease, `memory` its replayed metadata."""

    __slots__ = (
        "_correlation", "_in_flight", "_knobs", "_records", "_replicas_due_ms", "_sim", "disk",
        "knows_leader", "life", "memory", "process", "replicas",
    )  # fmt: skip

    kind = "broker"

    def __init__(
        self,
        sim: Simulation,
        process: Process,
        decoder: Decoder,
        knobs: StackKnobs,
        settings: BrokerSettings,
        disk: BrokerDisk,
    ) -> None:
        self._sim = sim
        self.process = process
        self._records = decoder.records
        self.disk = disk
        self.memory: Memory = EMPTY
        self.knows_leader: NodeId | None = None
        self._knobs = knobs
        self._correlation = 0
        self._in_flight: dict[str, tuple[int, int]] = {}
        broker_id = BrokerId(process.machine.node_id)
        lifecycle = BrokerLifecycle(broker_id, incarnation_of(sim.seed, process.incarnation))
        self.life = broker.BrokerProcess(settings, lifecycle)
        self.replicas = Replicas(broker_id, knobs, disk)
        self._replicas_due_ms = self._now_ms()
        process.listener_deadline = process.outside.now()

    @property
    def image(self) -> MetadataImage:
        """The image that it acts on: without an open transaction."""
        return seen(self.memory).image

    def view(self) -> BrokerView:
        """Return the view for observers."""
        replicas = self.replicas
        return BrokerView(
            self.life,
            self.memory,
            replicas.leading,
            replicas.asks,
            replicas.own,
            replicas.begun,
            self._now_ms(),
            self.disk,
        )

    # Calls of Raft

    def committed(self, effect: HandleCommit) -> None:
        """Replay committed batches."""
        before = self.image
        memory = self.memory
        for batch in effect.batches:
            records = self._records(batch)
            end = Offset(batch.end_offset)
            if records:
                memory = after_batch(memory, records, Offset(batch.base_offset), batch.epoch)
            else:
                memory = after_control_batch(memory, end, batch.epoch)
        self._published(before, memory, effect)

    def load(self, effect: HandleLoadSnapshot) -> None:
        """Replace the metadata by a snapshot. Raises ValueError if there is no such snapshot."""
        snapshot = self.process.state.log.snapshot(effect.snapshot_id)
        if snapshot is None:
            raise ValueError(f"snapshot {effect.snapshot_id} is to be loaded and is not there")
        records = decode_records(read_snapshot(snapshot.data).values, 0)
        end, epoch = effect.snapshot_id
        image = replay(EMPTY_IMAGE, records)
        memory = Memory(written_from_snapshot(image, Offset(end)), epoch)
        self._published(self.image, memory, effect)

    def _published(self, before: MetadataImage, memory: Memory, event: Any) -> None:
        self.memory = memory
        end = seen(memory).end
        image = self.image
        if end:
            self.life = broker.replay_metadata(self.life, Offset(end - 1))
        if image is not before:
            self.replicas.learn(image, self._now_ms())
            mine = image.brokers.get(self.replicas.broker_id)
            version = image.metadata_version
            if (
                broker.is_registered(self.life)
                and mine is not None
                and mine.incarnation_id == self.life.lifecycle.incarnation_id
                and broker.needs_registration_again(version, mine)
            ):
                self.life = broker.register_again(self.life, self._now_ms())
        self._done(before, event)

    def leader_changed(self, effect: HandleLeaderChange) -> None:
        """Note the active controller's node."""
        self.knows_leader = effect.leader_id

    def append_refused(self) -> None:
        """Do nothing: a broker appends nothing."""

    # Messages

    def receive(self, envelope: Envelope) -> None:
        """Handle a response, a follower's fetch, or a produce request."""
        message = envelope.payload
        before = self.life
        if isinstance(message, ReplicaFetchRequest):
            response = self.replicas.on_fetch(message, self._now_ms())
            self.process.outside.reply(envelope.message_id, response)
        elif isinstance(message, ReplicaFetchResponse):
            self.replicas.on_fetched(envelope.source, envelope.correlation_id, message)
        elif isinstance(message, ProduceRequest):
            self.replicas.produce(message, envelope.message_id, self._now_ms())
        elif not envelope.is_request:
            self._answered(envelope.correlation_id, message)
        self._done(before, message, envelope)

    def _answered(self, correlation_id: int, message: Any) -> None:
        now_ms, chance = self._now_ms(), self.process.chance()
        match message:
            case BrokerRegistrationResponse():
                self._live(
                    broker.on_registration_response(
                        self.life, correlation_id, message, now_ms, chance
                    )
                )
            case BrokerHeartbeatResponse():
                self._live(
                    broker.on_heartbeat_response(self.life, correlation_id, message, now_ms, chance)
                )
            case AlterPartitionResponse() if self._is_awaited(_ALTER, correlation_id):
                self.replicas.on_altered(message, self._now_ms())
            case AssignReplicasToDirsResponse() if self._is_awaited(_ASSIGN, correlation_id):
                pass
            case _:
                # A response that is no longer awaited, or NOT_CONTROLLER.
                self._refused(correlation_id, now_ms, chance)

    def _is_awaited(self, what: str, correlation_id: int) -> bool:
        found = self._in_flight.get(what)
        if found is None or found[0] != correlation_id:
            return False
        del self._in_flight[what]
        return True

    def _refused(self, correlation_id: int, now_ms: int, chance: int) -> None:
        """Treat NOT_CONTROLLER like any other error of the lease."""
        for what in (_ALTER, _ASSIGN):
            self._is_awaited(what, correlation_id)
        code = ErrorCode.NOT_CONTROLLER
        refused: Any = BrokerHeartbeatResponse(code)
        answer = broker.on_heartbeat_response
        if not broker.is_registered(self.life):
            refused = BrokerRegistrationResponse(code)
            self._live(
                broker.on_registration_response(self.life, correlation_id, refused, now_ms, chance)
            )
            return
        self._live(answer(self.life, correlation_id, refused, now_ms, chance))

    # Due work

    def due(self) -> None:
        """Do everything due: of the lease, and of the partitions."""
        before, now_ms = self.life, self._now_ms()
        if self.life.lifecycle.state is BrokerState.NOT_RUNNING:
            self._live(broker.start(self.life, now_ms))
        elif (at := broker.next_deadline(self.life)) is not None and at <= now_ms:
            self._live(broker.on_due(self.life, now_ms, self.process.chance()))
        if self._replicas_due_ms <= now_ms and is_live(self.life.lifecycle):
            self._replicas_due_ms = now_ms + self._knobs.fetch_every_ms
            self._speak_of_replicas(now_ms)
        self._done(before, "due")

    def shut_down(self) -> None:
        """Ask to shut down; a broker that is not RUNNING stops at once."""
        before = self.life
        self._live(broker.begin_controlled_shutdown(self.life, self._now_ms()))
        self._done(before, "shutdown")

    def lose_directory(self, number: int) -> bool:
        """Fail one of several directories; return False if only one is left."""
        left = [one for one in self.disk.directories if one not in self.disk.failed]
        if len(left) < 2:
            return False
        failed = left[number % len(left)]
        before = self.life
        self.replicas.lose_directory(failed)
        self.life = broker.on_directory_failure(self.life, failed, self._now_ms())
        self._done(before, "directory failure")
        return True

    def _live(self, taken: ProcessStep) -> None:
        epoch = self.life.broker_epoch
        self.life = taken.process
        for effect in taken.effects:
            if isinstance(effect, Send) and self.knows_leader is not None:
                self.process.outside.send(self.knows_leader, effect.correlation_id, effect.request)
        state = self.life.lifecycle.state
        if state is BrokerState.RECOVERY and not self.life.ready_to_unfence:
            self.replicas.begin(self.image, self._now_ms())
            self.life = broker.set_ready_to_unfence(self.life, self._now_ms())
        if state is BrokerState.SHUTTING_DOWN:
            if not any(isinstance(effect, broker.Halt) for effect in taken.effects):
                self.disk.clean_epoch = epoch
            self.process.inbox.append(Shutdown(SHUTDOWN_TIMEOUT))

    def _speak_of_replicas(self, now_ms: int) -> None:
        epoch = self.life.broker_epoch
        for leader_id, fetch in self.replicas.fetches(epoch, now_ms, self._next_id):
            self.process.outside.send(NodeId(leader_id), fetch.correlation_id, fetch.request)
        if self.life.lifecycle.state is not BrokerState.RUNNING or self.knows_leader is None:
            return
        for what, timed in list(self._in_flight.items()):
            if now_ms - timed[1] > self._knobs.session_timeout_ms:
                del self._in_flight[what]
        if _ALTER not in self._in_flight:
            asked = self.replicas.wanted(epoch, now_ms)
            if asked:
                request = AlterPartitionRequest(self.replicas.broker_id, epoch, asked)
                self._send(_ALTER, request, now_ms)
        if _ASSIGN not in self._in_flight:
            assignments = self.replicas.unassigned()
            if assignments:
                self._send(
                    _ASSIGN,
                    AssignReplicasToDirsRequest(self.replicas.broker_id, epoch, assignments),
                    now_ms,
                )

    def _send(self, what: str, request: Any, now_ms: int) -> None:
        assert self.knows_leader is not None, "the caller has checked it"
        correlation_id = self._next_id()
        self._in_flight[what] = correlation_id, now_ms
        self.process.outside.send(self.knows_leader, correlation_id, request)

    def _next_id(self) -> int:
        """Return the correlation id of the next request outside the lease."""
        self._correlation -= 1
        return self._correlation

    def _done(self, before: Any, event: Any, received: Envelope | None = None) -> None:
        """Answer producers, schedule the next wake-up, and tell observers."""
        for token, response in self.replicas.answers(self._now_ms()):
            self.process.outside.reply(token, response)
        self._rest()
        effects = tuple(self.replicas.told)
        self.replicas.told.clear()
        step = ListenerStep(self.kind, before, event, self.view(), effects, self.stands())
        self._sim.emit_listener(self.process, step, received)

    def _rest(self) -> None:
        """Set the next wake-up."""
        if not is_live(self.life.lifecycle):
            starts = self.life.lifecycle.state is BrokerState.NOT_RUNNING
            self.process.listener_deadline = self.process.outside.now() if starts else NEVER
            return
        at = broker.next_deadline(self.life)
        deadline = self._replicas_due_ms if at is None else min(at, self._replicas_due_ms)
        self.process.listener_deadline = deadline * MILLISECOND

    def stands(self) -> str:
        """Return the state of its lease, and its metadata offset."""
        return (
            f"{self.life.lifecycle.state.name} {self.memory.end} leads {len(self.replicas.leads)}"
        )

    def _now_ms(self) -> int:
        return self.process.outside.now() // MILLISECOND
