"""The rules of the lease: what the controller decides, writes and answers about one broker.

Each function generates records and a response, and changes nothing. The caller replays the records
and updates the soft state. The functions see only a `LeaseView`. `broker_registration` and
`broker_heartbeats` call them with a view of all metadata and add the records about partitions;
`kraft.sim.lease.active_controller` calls them with the small image of the lease simulation.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.heartbeats import (
    BrokerControlState,
    has_valid_session,
    is_caught_up,
    is_overdue,
    is_shutting_down,
    next_broker_state,
)
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    UnregisterBrokerRequest,
)

if TYPE_CHECKING:
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.operations.lease_view import BrokerRegistration, LeaseView
    from kraft.ids import BrokerId
    from kraft.records.lease import LeaseRecord

Response = BrokerRegistrationResponse | BrokerHeartbeatResponse


class Decision(enum.Enum):
    """A decision of the controller; the values are the names of the actions in BrokerLease."""

    REGISTER_BROKER = "RegisterBroker"
    AMEND_REGISTRATION = "AmendRegistration"
    REFUSE_REGISTRATION = "RefuseRegistration"
    REJECT_HEARTBEAT = "RejectHeartbeat"
    KEEP_FENCED = "KeepFenced"
    UNFENCE_BROKER = "UnfenceBroker"
    KEEP_UNFENCED = "KeepUnfenced"
    FENCE_ON_REQUEST = "FenceOnRequest"
    BEGIN_CONTROLLED_SHUTDOWN = "BeginControlledShutdown"
    CONTINUE_CONTROLLED_SHUTDOWN = "ContinueControlledShutdown"
    SHUT_DOWN_NOW = "ShutDownNow"
    FENCE_STALE_BROKER = "FenceStaleBroker"
    UNREGISTER_BROKER = "UnregisterBroker"
    ELECT_LEADER = "ElectLeader"
    FAIL_OVER = "FailOver"


@dataclass(frozen=True, slots=True)
class ControllerResult:
    """The records that an operation would append, in order, and its answer, if any.

    Kafka: ControllerResult.
    """

    decision: Decision
    records: tuple[LeaseRecord, ...] = ()
    response: Response | None = None


_STALE_BROKER_EPOCH: Final = BrokerHeartbeatResponse(ErrorCode.STALE_BROKER_EPOCH)
_DUPLICATE: Final = BrokerRegistrationResponse(ErrorCode.DUPLICATE_BROKER_REGISTRATION)
_FENCED_ANSWERS: Final = frozenset({BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW})


def register_broker(
    image: LeaseView, heartbeats: Heartbeats, request: BrokerRegistrationRequest, now_ms: int
) -> ControllerResult:
    """Return the registration of a new incarnation, an amended registration, or a refusal.

    Registering neither begins nor renews a session.

    Spec: BrokerLease!RegisterBroker, BrokerLease!AmendRegistration, BrokerLease!RefuseRegistration.
    Kafka: ClusterControlManager.registerBroker.
    """
    broker_id = request.broker_id
    registration = image.registrations.get(broker_id)
    if registration is not None and registration.incarnation_id == request.incarnation_id:
        return _amend_registration(registration, request)
    if registration is not None and has_valid_session(heartbeats, broker_id, now_ms):
        return ControllerResult(Decision.REFUSE_REGISTRATION, response=_DUPLICATE)
    epoch = epoch_for_new_incarnation(image)
    record = RegisterBrokerRecord(broker_id, request.incarnation_id, epoch)
    assert record.fenced, "NewRegistrationIsFencedProp"
    response = BrokerRegistrationResponse(broker_epoch=epoch)
    return ControllerResult(Decision.REGISTER_BROKER, (record,), response)


def _amend_registration(
    registration: BrokerRegistration, request: BrokerRegistrationRequest
) -> ControllerResult:
    """Return the same incarnation's registration as a new record (KAFKA-16952, KAFKA-16757)."""
    record = RegisterBrokerRecord(
        request.broker_id,
        registration.incarnation_id,
        registration.epoch,
        fenced=registration.fenced,
        in_controlled_shutdown=registration.in_controlled_shutdown,
    )
    response = BrokerRegistrationResponse(broker_epoch=registration.epoch)
    return ControllerResult(Decision.AMEND_REGISTRATION, (record,), response)


def epoch_for_new_incarnation(image: LeaseView) -> BrokerEpoch:
    """Return the epoch of the next registration: the unique offset of its record."""
    return BrokerEpoch(image.log_end)


def is_current_epoch(image: LeaseView, broker_id: BrokerId, epoch: BrokerEpoch) -> bool:
    """Return whether a broker is registered under an epoch.

    Spec: BrokerLease!CurrentEpoch.
    Kafka: ClusterControlManager.checkBrokerEpoch.
    """
    registration = image.registrations.get(broker_id)
    return registration is not None and registration.epoch == epoch


def process_broker_heartbeat(
    image: LeaseView, heartbeats: Heartbeats, request: BrokerHeartbeatRequest
) -> ControllerResult:
    """Return what a heartbeat makes the controller write and answer.

    Spec: BrokerLease!RejectHeartbeat, BrokerLease!HeedHeartbeat.
    Kafka: ReplicationControlManager.processBrokerHeartbeat.
    """
    if not is_current_epoch(image, request.broker_id, request.broker_epoch):
        return ControllerResult(Decision.REJECT_HEARTBEAT, response=_STALE_BROKER_EPOCH)
    registration = image.registrations[request.broker_id]
    next_state = next_broker_state(image, heartbeats, request)
    decision = heartbeat_decision(image, heartbeats, request.broker_id, next_state)
    response = BrokerHeartbeatResponse(
        is_caught_up=is_caught_up(registration, request),
        is_fenced=next_state in _FENCED_ANSWERS,
        should_shut_down=next_state is BrokerControlState.SHUTDOWN_NOW,
    )
    return ControllerResult(decision, heartbeat_records(decision, request), response)


def heartbeat_decision(
    image: LeaseView,
    heartbeats: Heartbeats,
    broker_id: BrokerId,
    next_state: BrokerControlState,
) -> Decision:
    """Return which of the seven decisions on a valid heartbeat leads to `next_state`."""
    was_fenced = image.registrations[broker_id].fenced
    match next_state:
        case BrokerControlState.FENCED:
            return Decision.KEEP_FENCED if was_fenced else Decision.FENCE_ON_REQUEST
        case BrokerControlState.UNFENCED:
            return Decision.UNFENCE_BROKER if was_fenced else Decision.KEEP_UNFENCED
        case BrokerControlState.CONTROLLED_SHUTDOWN:
            if is_shutting_down(heartbeats, broker_id):
                return Decision.CONTINUE_CONTROLLED_SHUTDOWN
            return Decision.BEGIN_CONTROLLED_SHUTDOWN
        case BrokerControlState.SHUTDOWN_NOW:
            return Decision.SHUT_DOWN_NOW


def heartbeat_records(
    decision: Decision, request: BrokerHeartbeatRequest
) -> tuple[LeaseRecord, ...]:
    """Return the records of a heartbeat decision; ShutDownNow fences even a fenced broker.

    Spec: BrokerLease!UnfenceBroker, BrokerLease!FenceOnRequest,
    BrokerLease!BeginControlledShutdown, BrokerLease!ShutDownNow.
    Kafka: ReplicationControlManager.handleBrokerFenced, .handleBrokerUnfenced,
    .handleBrokerInControlledShutdown.
    """
    broker_id, epoch = request.broker_id, request.broker_epoch
    match decision:
        case Decision.UNFENCE_BROKER:
            return (unfence_record(broker_id, epoch),)
        case Decision.FENCE_ON_REQUEST | Decision.SHUT_DOWN_NOW:
            return (fence_record(broker_id, epoch),)
        case Decision.BEGIN_CONTROLLED_SHUTDOWN:
            return (shutdown_record(broker_id, epoch),)
        case _:
            return ()


def fence_record(broker_id: BrokerId, epoch: BrokerEpoch) -> BrokerRegistrationChangeRecord:
    """Return the record that fences a broker, which also ends its leaderships.

    Spec: BrokerLease!WriteFence.
    Kafka: ReplicationControlManager.handleBrokerFenced.
    """
    return BrokerRegistrationChangeRecord(broker_id, epoch, fenced=FENCE)


def unfence_record(broker_id: BrokerId, epoch: BrokerEpoch) -> BrokerRegistrationChangeRecord:
    """Return the record that unfences a broker.

    Spec: BrokerLease!UnfenceBroker.
    Kafka: ReplicationControlManager.handleBrokerUnfenced.
    """
    return BrokerRegistrationChangeRecord(broker_id, epoch, fenced=UNFENCE)


def shutdown_record(broker_id: BrokerId, epoch: BrokerEpoch) -> BrokerRegistrationChangeRecord:
    """Return the record that begins a controlled shutdown.

    Spec: BrokerLease!BeginControlledShutdown.
    Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.
    """
    return BrokerRegistrationChangeRecord(
        broker_id, epoch, in_controlled_shutdown=ENTER_CONTROLLED_SHUTDOWN
    )


def fence_stale_broker(
    image: LeaseView, heartbeats: Heartbeats, broker_id: BrokerId, now_ms: int
) -> ControllerResult:
    """Return the record that fences one broker whose session ran out.

    Spec: BrokerLease!FenceStaleBroker.
    Kafka: ReplicationControlManager.maybeFenceOneStaleBroker.
    """
    assert is_overdue(heartbeats, broker_id, now_ms), "FencedOnlyWhenDueProp"
    record = fence_record(broker_id, image.registrations[broker_id].epoch)
    return ControllerResult(Decision.FENCE_STALE_BROKER, (record,))


def unregister_broker(image: LeaseView, request: UnregisterBrokerRequest) -> ControllerResult:
    """Return the record that removes a registration, whatever its state.

    The operator that asks is outside of the lease model, so there is no answer.

    Spec: BrokerLease!UnregisterBroker.
    Kafka: ReplicationControlManager.unregisterBroker.
    """
    registration = image.registrations.get(request.broker_id)
    assert registration is not None, "the caller refuses an unknown id"
    record = UnregisterBrokerRecord(request.broker_id, registration.epoch)
    return ControllerResult(Decision.UNREGISTER_BROKER, (record,))
