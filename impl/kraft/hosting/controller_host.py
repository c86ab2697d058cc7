"""A controller above Raft: Raft's effects go in, its own come out.

Its appends are prepared in Raft at once, with nothing in between. So its records get the offsets at
which it has replayed them.

Kafka: QuorumController.QuorumMetaLogListener, ControllerRegistrationManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller import registration_sender as sending
from kraft.controller.machine import next_deadline, on_event
from kraft.controller.record_bytes import decode_records, encode_records
from kraft.controller.state import NEVER as NEVER_MS
from kraft.controller.state import NO_EPOCH, first_state, visible
from kraft.errors import ErrorCode
from kraft.hosting.own_requests import Prepare, Resign, Schedule, TakeSnapshot
from kraft.ids import Offset
from kraft.raft.configuration import MILLISECOND
from kraft.raft.roles import NEVER, Leader
from kraft.raft.snapshot_file import read_snapshot
from kraft.records.batch import parse_batch
from kraft.rpc.controller_registration import ControllerRegistrationResponse
from kraft.rpc.envelope import ANONYMOUS, ForwardedRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.controller.configuration import Configuration
    from kraft.controller.registration_sender import RegistrationSender
    from kraft.controller.state import ControllerState
    from kraft.hosting.outside import Message
    from kraft.hosting.process import HostedProcess
    from kraft.ids import NodeId
    from kraft.log.batches import LogBatch
    from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
    from kraft.records.typed_record import TypedRecord

_SCHEDULE: Final = Schedule()


class ControllerFaultError(Exception):
    """The reason why a controller cannot go on, and its process must end."""


class Observer(Protocol):
    """Gets each step of a controller, or of its registration.

    `kind` is "controller" or "registration". `message` is what the step took, if it took one.
    """

    def __call__(
        self,
        kind: str,
        before: Any,
        event: Any,
        after: Any,
        effects: tuple[Any, ...],
        message: Message | None,
    ) -> None:
        """Take a step."""


def records_of(batch: LogBatch) -> tuple[TypedRecord, ...]:
    """Return the records of a batch; one of Raft's own has none.

    Raises CorruptRecordError or UnsupportedVersionError, with the offset, for invalid bytes.
    """
    return tuple(parse_batch(batch.raw).typed_records()) if batch.values else ()


class ControllerHost:
    """The state machine of a process with a controller: `state`. It has read nothing yet.

    `sender` registers the process with the node that `knows_leader` names (KIP-919). `decode` is
    `records_of`, or a host's own that remembers what it has decoded.
    """

    __slots__ = (
        "_appends_in", "_decode", "_observe", "_outside", "_process", "knows_leader", "sender",
        "state",
    )  # fmt: skip

    kind = "controller"

    def __init__(
        self,
        process: HostedProcess,
        configuration: Configuration,
        sender: RegistrationSender,
        observe: Observer,
        decode: Callable[[LogBatch], tuple[TypedRecord, ...]] = records_of,
    ) -> None:
        self._process = process
        self._outside = process.outside
        self._observe = observe
        self._decode = decode
        self.state: ControllerState = first_state(configuration, self._now_ms())
        self.sender = sender
        self.knows_leader: NodeId | None = None
        self._appends_in = NO_EPOCH

    # Calls of Raft

    def committed(self, effect: HandleCommit) -> None:
        """Take committed batches. Raises ControllerFaultError if the controller cannot go on."""
        batches = tuple(
            events.CommittedBatch(
                Offset(batch.base_offset),
                batch.epoch,
                self._decode(batch),
                batch.count,
                len(batch.raw),
            )
            for batch in effect.batches
        )
        self._do(events.BatchesCommitted(self._now_ms(), batches))

    def load(self, effect: HandleLoadSnapshot) -> None:
        """Replace the state by a snapshot.

        Raises ValueError if it is not in the log, and ControllerFaultError if it cannot be loaded.
        """
        snapshot = self._process.state.log.snapshot(effect.snapshot_id)
        if snapshot is None:
            raise ValueError(f"snapshot {effect.snapshot_id} is to be loaded and is not there")
        records = decode_records(read_snapshot(snapshot.data).values, 0)
        self._do(events.SnapshotLoaded(self._now_ms(), effect.snapshot_id, records))

    def leader_changed(self, effect: HandleLeaderChange) -> None:
        """Note the leader of an epoch; become active, or step back."""
        self.knows_leader = effect.leader_id
        self._do(
            events.LeaderChanged(self._now_ms(), effect.epoch, effect.leader_id, self._log_end())
        )

    def append_refused(self) -> None:
        """Note that Raft no longer leads in the epoch of the newest append."""
        self._do(events.AppendRefused(self._now_ms(), self._appends_in))

    # Messages and due work

    def receive(self, message: Message) -> None:
        """Take a request, forwarded or not, or the response to its own registration."""
        if not message.is_request:
            self._answered(message)
            return
        request, principal = message.payload, ANONYMOUS
        if isinstance(request, ForwardedRequest):
            request, principal = request.request, request.principal
        event = events.RequestReceived(
            self._now_ms(),
            message.message_id,
            request,
            self._outside.chance(),
            self._log_end(),
            kraft_version=self._process.state.controls.version,
            principal=principal,
        )
        self._do(event, message)

    def due(self) -> None:
        """Do the first thing that is due: of the controller, or of its registration."""
        now_ms = self._now_ms()
        if next_deadline(self.state) <= now_ms:
            self._do(events.Poll(now_ms, self._log_end()))
            return
        before = self.sender
        self.sender, request = sending.on_due(before, now_ms, self._outside.chance())
        if request is not None:
            assert self.knows_leader is not None, "it waits until a leader is known"
            self._outside.send(self.knows_leader, before.next_correlation_id, request)
        self._rest()
        self._observe("registration", before, request, self.sender, (), None)

    def _answered(self, message: Message) -> None:
        response: Any = message.payload
        if not isinstance(response, ControllerRegistrationResponse):
            response = ControllerRegistrationResponse(ErrorCode.NOT_CONTROLLER)
        before = self.sender
        self.sender = sending.on_registration_response(
            before, message.correlation_id, response, self._now_ms(), self._outside.chance()
        )
        self._rest()
        self._observe("registration", before, response, self.sender, (), message)

    # Steps

    def _do(self, event: events.Event, message: Message | None = None) -> None:
        before = self.state
        step = on_event(before, event)
        self.state = step.state
        for effect in step.effects:
            self._perform(effect)
        shown = visible(step.state).image
        if shown is not visible(before).image:
            self.sender = sending.on_metadata_update(self.sender, shown, event.now_ms)
        self._rest()
        self._observe(self.kind, before, event, step.state, step.effects, message)

    def _perform(self, effect: does.Effect) -> None:
        process = self._process
        match effect:
            case does.Append():
                self._appends_in = effect.epoch
                values = encode_records(effect.records, effect.metadata_version)
                process.urgent.append(Prepare(effect.epoch, values))
                process.urgent.append(_SCHEDULE)
            case does.Resign():
                process.urgent.append(Resign(effect.epoch))
            case does.Reply(token, response):
                assert isinstance(token, int), "tokens are message ids"
                self._outside.reply(token, response)
            case does.CreateSnapshot():
                values = encode_records(effect.records, effect.metadata_version)
                process.inbox.append(TakeSnapshot(effect.snapshot_id, values))
            case does.Fatal():
                raise ControllerFaultError(f"the controller cannot go on: {effect.reason}")

    def _rest(self) -> None:
        """Set the next wake-up. A registration that is due waits until a leader is known."""
        deadline = next_deadline(self.state)
        registering = sending.next_deadline(self.sender)
        is_waiting = self.knows_leader is None and self.sender.pending is None
        if registering is not None and not is_waiting:
            deadline = min(deadline, registering)
        self._process.listener_deadline = NEVER if deadline >= NEVER_MS else deadline * MILLISECOND

    def _now_ms(self) -> int:
        return self._outside.now() // MILLISECOND

    def _log_end(self) -> Offset | None:
        """Return the offset of the next batch; None if Raft does not lead."""
        role = self._process.state.role
        if not isinstance(role, Leader) or role.accumulator is None:
            return None
        waiting = sum(len(one.values) for one in self._process.urgent if isinstance(one, Prepare))
        return Offset(role.accumulator.next_offset + waiting)
