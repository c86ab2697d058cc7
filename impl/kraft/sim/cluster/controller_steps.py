"""The steps of active controllers: requests of brokers and operators, and silent brokers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.events import RequestReceived
from kraft.controller.operations.heartbeats import (
    has_valid_session,
    heartbeat_state,
    overdue_brokers,
)
from kraft.controller.operations.leader_eligibility import metadata_version_of
from kraft.controller.operations.partition_ask import in_progress
from kraft.controller.state import is_active
from kraft.errors import ErrorCode
from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.lease import ENTER_CONTROLLED_SHUTDOWN, UNFENCE, BrokerRegistrationChangeRecord
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kraft.rpc.alter_partition import AlterPartitionResponse
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kraft.rpc.update_features import FeatureUpdate, UpdateFeaturesRequest
from kraft.sim.cluster.cluster import (
    PARTITION_ID,
    SESSION_TIMEOUT_MS,
    TOPIC,
    Controller,
    is_awaited,
    partition_of,
)
from kraft.sim.cluster.effects import answered, handle, response_of
from kraft.sim.cluster.operations import FenceStaleBrokers
from kraft.sim.common.step import Refused, done

if TYPE_CHECKING:
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.ids import BrokerId, NodeId
    from kraft.records.typed_record import TypedRecord
    from kraft.sim.cluster import choices
    from kraft.sim.cluster.cluster import Cluster, Envelope
    from kraft.sim.common.step import Outcome

    Result = tuple[Cluster, Outcome]

_KRAFT_VERSION: Final = 0
_NOT_ACTIVE: Final = Refused("no such controller is active")
_NOTHING_WRITTEN: Final = Refused("the controller wrote nothing")
_BETWEEN_HEARTBEATS_MS: Final = 1_000
_GRANTED: Final = {ErrorCode.NONE, ErrorCode.NEW_LEADER_ELECTED}


def _active(cluster: Cluster, node: NodeId | None) -> Controller | None:
    controller = None if node is None else cluster.controllers.get(node)
    return controller if controller is not None and is_active(controller.state) else None


def _heartbeats(controller: Controller) -> Heartbeats:
    heartbeats = controller.state.heartbeats
    assert heartbeats is not None, "an active controller has heartbeats"
    return heartbeats


def deliver_request(cluster: Cluster, envelope: Envelope, node: NodeId | None) -> Result:
    """Let an active controller handle a request."""
    controller = _active(cluster, node)
    if controller is None or node is None:
        return cluster, _NOT_ACTIVE
    now_ms = _arrival_ms(controller, envelope.request)
    event = RequestReceived(now_ms, envelope, envelope.request, kraft_version=_KRAFT_VERSION)
    response = response_of(cluster, node, event, envelope)
    token = envelope if is_awaited(cluster, envelope) else None
    left = tuple(one for one in cluster.network if one is not envelope)
    event = replace(event, token=token)
    heard = handle(replace(cluster, network=left), node, event, envelope)
    action = _action_of(controller, envelope.request, response, heard.records)
    return answered(heard.cluster, heard.replies), done(action)


def _arrival_ms(controller: Controller, request: Any) -> int:
    """Return when a request arrives.

    Heartbeats arrive at different times, unless a session would run out by that. So brokers fall
    silent one after another.
    """
    now_ms = controller.now_ms
    if isinstance(request, BrokerHeartbeatRequest):
        heartbeats = _heartbeats(controller)
        overdue = overdue_brokers(heartbeats, now_ms)
        for later_ms in (_BETWEEN_HEARTBEATS_MS, 1):
            if overdue_brokers(heartbeats, now_ms + later_ms) == overdue:
                return now_ms + later_ms
    return now_ms


def _action_of(
    controller: Controller, request: Any, response: Any, records: tuple[TypedRecord, ...]
) -> str:
    """Return the action of the controller, from its records and its answer."""
    match response:
        case BrokerRegistrationResponse():
            if response.error_code is not ErrorCode.NONE:
                return "RefuseRegistration"
            return _registration_action(controller, request)
        case AlterPartitionResponse():
            codes = {response.error_code, *(one.error_code for one in response.partitions)}
            return "AlterPartition" if codes <= _GRANTED else "RefuseAlterPartition"
        case BrokerHeartbeatResponse():
            return _heartbeat_action(response, records)
        case _:
            raise AssertionError(f"no answer to a process: {response}")


def _registration_action(controller: Controller, request: BrokerRegistrationRequest) -> str:
    registration = controller.state.written.image.brokers.get(request.broker_id)
    again = registration is not None and registration.incarnation_id == request.incarnation_id
    return "AmendRegistration" if again else "RegisterBroker"


def _heartbeat_action(response: BrokerHeartbeatResponse, records: tuple[TypedRecord, ...]) -> str:
    if response.error_code is not ErrorCode.NONE:
        return "RejectHeartbeat"
    changes = [one for one in records if isinstance(one, BrokerRegistrationChangeRecord)]
    if not changes:
        return "KeepState"
    if any(one.fenced == UNFENCE for one in changes):
        return "UnfenceBroker"
    if any(one.in_controlled_shutdown == ENTER_CONTROLLED_SHUTDOWN for one in changes):
        return "BeginControlledShutdown"
    return "ShutDownNow" if response.should_shut_down else "FenceOnRequest"


def sessions_run_out(cluster: Cluster, choice: choices.SessionsRunOut) -> Result:
    """Let time pass at a controller until the session of a broker runs out."""
    node, broker_id = choice.controller, choice.broker_id
    controller = _active(cluster, node)
    if controller is None:
        return cluster, _NOT_ACTIVE
    heartbeats, now_ms = _heartbeats(controller), controller.now_ms
    contact_ms = heartbeat_state(heartbeats, broker_id).contact_time_ms
    if contact_ms is None or not has_valid_session(heartbeats, broker_id, now_ms):
        return cluster, Refused("it has no valid session")
    silent = replace(controller, now_ms=end_of_session_ms(contact_ms))
    after = replace(cluster, controllers=cluster.controllers.set(node, silent))
    return after, done("SessionsRunOut")


def end_of_session_ms(contact_ms: int) -> int:
    """Return the first moment after a session, from the last contact with its broker."""
    return contact_ms + SESSION_TIMEOUT_MS + 1


def fence_stale_broker(cluster: Cluster, choice: choices.FenceStaleBroker) -> Result:
    """Let a controller check for silent brokers; it fences one of them."""
    controller = _active(cluster, choice.controller)
    if controller is None:
        return cluster, _NOT_ACTIVE
    heartbeats = _heartbeats(controller)
    silent = sorted(
        (heartbeat_state(heartbeats, one).contact_time_ms or 0, one)
        for one in overdue_brokers(heartbeats, controller.now_ms)
    )
    if not silent or silent[0][1] != choice.broker_id:
        return cluster, Refused("it is not silent, or another broker was silent longer")
    return _asked(cluster, choice.controller, FenceStaleBrokers(), "FenceStaleBroker")


def _asked(cluster: Cluster, node: NodeId, request: Any, action: str) -> Result:
    """Let a controller handle a request that no broker process sent; there is no answer."""
    controller = _active(cluster, node)
    if controller is None:
        return cluster, _NOT_ACTIVE
    event = RequestReceived(controller.now_ms, None, request, kraft_version=_KRAFT_VERSION)
    heard = handle(cluster, node, event)
    return (heard.cluster, done(action)) if heard.records else (cluster, _NOTHING_WRITTEN)


def start_reassignment(cluster: Cluster, choice: choices.StartReassignment) -> Result:
    """Let an operator move the partition, unless a reassignment is in progress."""
    controller = _active(cluster, choice.controller)
    if controller is None:
        return cluster, _NOT_ACTIVE
    if in_progress(partition_of(controller.state.written)):
        return cluster, Refused("a reassignment is in progress")
    return _reassigned(cluster, choice.controller, choice.target, "StartReassignment")


def cancel_reassignment(cluster: Cluster, choice: choices.CancelReassignment) -> Result:
    """Let an operator cancel a reassignment."""
    return _reassigned(cluster, choice.controller, None, "CancelReassignment")


def _reassigned(
    cluster: Cluster, node: NodeId, target: tuple[BrokerId, ...] | None, action: str
) -> Result:
    asked = ReassignablePartition(TOPIC, PARTITION_ID, target)
    return _asked(cluster, node, AlterPartitionReassignmentsRequest((asked,)), action)


def register_controller(cluster: Cluster, choice: choices.RegisterController) -> Result:
    """Let a controller handle the registration of a controller process."""
    configuration = cluster.configuration
    for one in configuration.controller_processes:
        if one.incarnation_id == choice.incarnation_id:
            supported = SupportedFeature(
                METADATA_VERSION, configuration.levels[0], one.highest_level
            )
            request = ControllerRegistrationRequest(
                one.controller_id, one.incarnation_id, features=(supported,)
            )
            return _asked(cluster, choice.controller, request, "RegisterController")
    return cluster, Refused("no such process")


def upgrade_feature(cluster: Cluster, choice: choices.UpgradeFeature) -> Result:
    """Let an operator raise the metadata version."""
    controller = _active(cluster, choice.controller)
    if controller is None:
        return cluster, _NOT_ACTIVE
    if choice.level not in cluster.configuration.levels:
        return cluster, Refused("the configuration has no such level")
    if choice.level <= metadata_version_of(controller.state.written.image):
        return cluster, Refused("that would not raise it")
    request = UpdateFeaturesRequest((FeatureUpdate(METADATA_VERSION, choice.level),))
    return _asked(cluster, choice.controller, request, "UpgradeFeature")
