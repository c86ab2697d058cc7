"""A controller on a machine: Raft's events go in, its effects come out.

Its appends are prepared in Raft at once, with nothing in between. So its records get the offsets at
which it has replayed them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller import registration_sender as sending
from kraft.controller.machine import next_deadline, on_event
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.controller.record_bytes import decode_records, encode_records
from kraft.controller.state import NEVER as NEVER_MS
from kraft.controller.state import NO_EPOCH, first_state, visible
from kraft.errors import ErrorCode
from kraft.ids import ControllerId, Offset
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import NEVER, Leader
from kraft.raft.snapshot_file import read_snapshot
from kraft.rpc.controller_registration import ControllerRegistrationResponse
from kraft.rpc.node_description import Listener, SupportedFeature
from kraft.sim.raft.machines import Local
from kraft.sim.raft.steps import ListenerStep
from kraft.sim.stack.hosts import Host, incarnation_of

if TYPE_CHECKING:
    from kraft.controller.configuration import Configuration
    from kraft.controller.state import ControllerState
    from kraft.ids import NodeId, OffsetAndEpoch
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
    from kraft.raft.state import RaftState
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Connection, Process
    from kraft.sim.raft.steps import Envelope
    from kraft.sim.stack.hosts import Decoder

_SCHEDULE: Final = Local("schedule")
_LISTENERS: Final = (Listener("CONTROLLER", "localhost", 9093),)
_FEATURES: Final = (
    SupportedFeature(METADATA_VERSION, 1, LATEST_METADATA_VERSION),
    SupportedFeature(ELIGIBLE_LEADER_REPLICAS, 0, 1),
)


class ControllerHost(Host):
    """Hosts a controller: `state`. A new process has read nothing yet.

    `sender` registers the process with the node that `knows_leader` names (KIP-919).
    """

    __slots__ = ("_appends_in", "_snapshot", "knows_leader", "sender", "state")

    kind = "controller"

    def __init__(
        self, sim: Simulation, process: Process, decoder: Decoder, configuration: Configuration
    ) -> None:
        super().__init__(sim, process, decoder)
        self.state: ControllerState = first_state(configuration)
        self.knows_leader: NodeId | None = None
        self.sender = sending.RegistrationSender(
            ControllerId(process.machine.node_id),
            incarnation_of(sim.seed, process.incarnation),
            _LISTENERS,
            _FEATURES,
        )
        self._snapshot: tuple[OffsetAndEpoch, tuple[bytes, ...]] | None = None
        self._appends_in = NO_EPOCH

    # Calls of Raft

    def committed(self, effect: HandleCommit) -> None:
        """Handle committed batches."""
        batches = tuple(
            events.CommittedBatch(
                Offset(batch.base_offset),
                batch.epoch,
                self.decoder.records(batch),
                batch.count,
                len(batch.raw),
            )
            for batch in effect.batches
        )
        self._do(events.BatchesCommitted(self._now_ms(), batches))

    def load(self, state: RaftState, effect: HandleLoadSnapshot) -> None:
        """Replace the state by a snapshot. Raises ValueError if there is no such snapshot."""
        snapshot = state.log.snapshot(effect.snapshot_id)
        if snapshot is None:
            raise ValueError(f"snapshot {effect.snapshot_id} is to be loaded and is not there")
        content = read_snapshot(snapshot.data)
        records = decode_records(content.values, 0)
        self._do(events.SnapshotLoaded(self._now_ms(), effect.snapshot_id, records))

    def leader_changed(self, effect: HandleLeaderChange) -> None:
        """Handle a change of leader."""
        self.knows_leader = effect.leader_id
        self._do(
            events.LeaderChanged(self._now_ms(), effect.epoch, effect.leader_id, self._log_end())
        )

    def append_refused(self) -> None:
        """Handle that Raft no longer leads in the epoch of the claim."""
        self._do(events.AppendRefused(self._now_ms(), self._appends_in))

    def snapshot(self) -> tuple[OffsetAndEpoch, tuple[bytes, ...]]:
        """Return the snapshot that the controller asked for."""
        if self._snapshot is None:
            raise ValueError("no snapshot was asked for")
        return self._snapshot

    # Requests and due work

    def receive(self, connection: Connection) -> None:
        """Handle a request, or the response to its own registration."""
        if not connection.envelope.is_request:
            self._answered(connection.envelope)
            return
        token = self.accept(connection)
        event = events.RequestReceived(
            self._now_ms(),
            token,
            connection.envelope.payload,
            self.process.chance(),
            self._log_end(),
            kraft_version=self.process.state.controls.version,
        )
        self._do(event, connection.envelope)

    def due(self) -> None:
        """Do the first thing due: of the controller, or of its registration."""
        now_ms = self._now_ms()
        if next_deadline(self.state) <= now_ms:
            self._do(events.Poll(now_ms, self._log_end()))
            return
        before = self.sender
        self.sender, request = sending.on_due(before, now_ms, self.process.chance())
        if request is not None and self.knows_leader is not None:
            self.ask(self.knows_leader, before.next_correlation_id, request)
        self._rest()
        self._tell_of_registration(before, request)

    def _answered(self, envelope: Envelope) -> None:
        response: Any = envelope.payload
        if not isinstance(response, ControllerRegistrationResponse):
            response = ControllerRegistrationResponse(ErrorCode.NOT_CONTROLLER)
        before = self.sender
        self.sender = sending.on_registration_response(
            before, envelope.correlation_id, response, self._now_ms(), self.process.chance()
        )
        self._rest()
        self._tell_of_registration(before, response, envelope)

    def _tell_of_registration(
        self, before: Any, event: Any, received: Envelope | None = None
    ) -> None:
        step = ListenerStep("registration", before, event, self.sender, (), self.stands())
        self.sim.emit_listener(self.process, step, received)

    def _rest(self) -> None:
        """Set the next wake-up."""
        own, registering = next_deadline(self.state), sending.next_deadline(self.sender)
        deadline = own if registering is None else min(own, registering)
        self.process.listener_deadline = NEVER if deadline >= NEVER_MS else deadline * MILLISECOND

    def _do(self, event: events.Event, received: Envelope | None = None) -> None:
        before = self.state
        step = on_event(before, event)
        self.state = step.state
        for effect in step.effects:
            self._perform(effect)
        shown = visible(step.state).image
        if shown is not visible(before).image:
            self.sender = sending.on_metadata_update(self.sender, shown, event.now_ms)
        self._rest()
        self.tell(before, event, step.state, step.effects, received)

    def _perform(self, effect: Any) -> None:
        urgent = self.process.urgent
        match effect:
            case does.Append():
                self._appends_in = effect.epoch
                values = encode_records(effect.records, effect.metadata_version)
                urgent.append(Local("prepare", effect.epoch, values))
                urgent.append(_SCHEDULE)
            case does.Resign():
                urgent.append(Local("resign", effect.epoch))
            case does.Reply(int(token), response):
                self.reply(token, response)
            case does.CreateSnapshot():
                values = encode_records(effect.records, effect.metadata_version)
                self._snapshot = effect.snapshot_id, values
                self.process.inbox.append(Local("snapshot"))
            case does.Fatal():
                raise ValueError(f"the controller cannot go on: {effect.reason}")

    def stands(self) -> str:
        """Return the epoch in which it is active, and its offset."""
        state = self.state
        return f"epoch {state.claim_epoch} stable {state.stable_end} written {state.write_end}"

    def _now_ms(self) -> int:
        return self.own_ns() // MILLISECOND

    def _log_end(self) -> Offset | None:
        """Return the offset of the next batch; None if Raft does not lead."""
        role = self.process.state.role
        if not isinstance(role, Leader) or role.accumulator is None:
            return None
        waiting = sum(len(one.values) for one in self.process.urgent)
        return Offset(role.accumulator.next_offset + waiting)
