"""The active controller of the lease simulation: its state, and its handler of each event.

Like Kafka's controller, a handler replays its records into its own image before they are durable,
and asks for an Append. The order of the effects is the durability contract: an answer that leaves
before its records are appended could promise what a crash undoes.

Kafka: QuorumController.ControllerWriteEvent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraft.controller.operations import cluster_control
from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.heartbeats import (
    Heartbeats,
    after_record,
    begin_controlled_shutdown,
    end_session,
    fresh_heartbeats,
    touch,
)
from kraft.ids import NO_OFFSET, Offset
from kraft.profile import KAFKA_4_1
from kraft.sim.lease.image import EMPTY_IMAGE, ClusterImage, can_elect
from kraft.sim.lease.replay import replay
from kraft.sim.lease.stand_ins import LeaderChangeMessage, LeadershipChange

if TYPE_CHECKING:
    from kraft.controller.operations.cluster_control import ControllerResult, Response
    from kraft.ids import BrokerId
    from kraft.profile import Profile
    from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
    from kraft.sim.lease.stand_ins import Record


@dataclass(frozen=True, slots=True)
class ControllerState:
    """The state of the active controller: the image of the log, and the soft state.

    Kafka: QuorumController.
    """

    image: ClusterImage
    heartbeats: Heartbeats


@dataclass(frozen=True, slots=True)
class Append:
    """Make these records durable before any later effect; the first one gets `base_offset`."""

    base_offset: Offset
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer the request of this event."""

    response: Response


Effect = Append | Reply


@dataclass(frozen=True, slots=True)
class ActiveControllerStep:
    """The result of one event: the next state, the effects in order, and the decision."""

    state: ControllerState
    effects: tuple[Effect, ...]
    decision: Decision


def first_controller(session_timeout_ms: int) -> ControllerState:
    """Return the active controller of an empty log."""
    return ControllerState(EMPTY_IMAGE, Heartbeats(session_timeout_ms))


def on_broker_registration_request(
    state: ControllerState,
    request: BrokerRegistrationRequest,
    now_ms: int,
    profile: Profile = KAFKA_4_1,
) -> ActiveControllerStep:
    """Register a broker process, or refuse it. In KIP-631's profile this begins its session.

    Spec: BrokerLease!RegisterBroker, BrokerLease!AmendRegistration, BrokerLease!RefuseRegistration.
    Kafka: QuorumController.registerBroker.
    """
    result = cluster_control.register_broker(state.image, state.heartbeats, request, now_ms)
    step = _write(state, result)
    if not profile.registration_is_contact or result.decision is Decision.REFUSE_REGISTRATION:
        return step
    heard = touch(step.state.heartbeats, request.broker_id, NO_OFFSET, now_ms)
    return replace(step, state=replace(step.state, heartbeats=heard))


def on_broker_heartbeat_request(
    state: ControllerState, request: BrokerHeartbeatRequest, now_ms: int
) -> ActiveControllerStep:
    """Handle a heartbeat: renew the session of its broker, and change the broker's state.

    Spec: BrokerLease!HeedHeartbeat, BrokerLease!RejectHeartbeat, BrokerLease!RenewSession.
    Kafka: QuorumController.processBrokerHeartbeat.
    """
    result = cluster_control.process_broker_heartbeat(state.image, state.heartbeats, request)
    if result.decision is Decision.REJECT_HEARTBEAT:
        return _write(state, result)
    broker_id = request.broker_id
    touched = touch(state.heartbeats, broker_id, request.current_metadata_offset, now_ms)
    step = _write(ControllerState(state.image, touched), result)
    if result.decision is not Decision.BEGIN_CONTROLLED_SHUTDOWN:
        return step
    # Only now is the offset known that the staying brokers must reach.
    last_offset = Offset(step.state.image.log_end - 1)
    heartbeats = begin_controlled_shutdown(step.state.heartbeats, broker_id, last_offset)
    return ActiveControllerStep(
        ControllerState(step.state.image, heartbeats), step.effects, step.decision
    )


def on_session_expiry(
    state: ControllerState, broker_id: BrokerId, now_ms: int
) -> ActiveControllerStep:
    """Fence a broker whose session ran out, and end the session.

    Spec: BrokerLease!FenceStaleBroker.
    Kafka: QuorumController.registerMaybeFenceStaleBroker.
    """
    result = cluster_control.fence_stale_broker(state.image, state.heartbeats, broker_id, now_ms)
    return _write(ControllerState(state.image, end_session(state.heartbeats, broker_id)), result)


def on_unregister_broker_request(
    state: ControllerState, request: UnregisterBrokerRequest
) -> ActiveControllerStep:
    """Remove the registration of a broker, and its soft state.

    Spec: BrokerLease!UnregisterBroker.
    Kafka: QuorumController.unregisterBroker.
    """
    return _write(state, cluster_control.unregister_broker(state.image, request))


def on_election(state: ControllerState, broker_id: BrokerId) -> ActiveControllerStep:
    """Make an active broker that leads nothing the leader of a partition.

    Spec: BrokerLease!ElectLeader.
    Kafka: ReplicationControlManager.electLeader.
    """
    assert can_elect(state.image, broker_id), "OnlyActiveBrokersLeadInv"
    return _append(state, Decision.ELECT_LEADER, (LeadershipChange(broker_id),))


def on_activation(
    image: ClusterImage, session_timeout_ms: int, now_ms: int
) -> ActiveControllerStep:
    """Become the active controller of a log whose image is `image`.

    Spec: BrokerLease!FailOver.
    Kafka: QuorumController.claim, ClusterControlManager.activate.
    """
    heartbeats = fresh_heartbeats(image, session_timeout_ms, now_ms)
    return _append(ControllerState(image, heartbeats), Decision.FAIL_OVER, (LeaderChangeMessage(),))


def _write(state: ControllerState, result: ControllerResult) -> ActiveControllerStep:
    """Append what a rule of the lease generated, and answer."""
    return _append(state, result.decision, result.records, result.response)


def _append(
    state: ControllerState,
    decision: Decision,
    records: tuple[Record, ...],
    response: Response | None = None,
) -> ActiveControllerStep:
    """Replay records at their offsets, append them, and then send the response."""
    base_offset = state.image.log_end
    image, heartbeats = state.image, state.heartbeats
    for offset, record in enumerate(records, start=base_offset):
        before, image = image, replay(image, record, Offset(offset))
        if not isinstance(record, LeadershipChange | LeaderChangeMessage):
            heartbeats = after_record(heartbeats, before, image, record)
    effects: tuple[Effect, ...] = ()
    if records:
        effects += (Append(base_offset, records),)
    if response is not None:
        effects += (Reply(response),)
    return ActiveControllerStep(ControllerState(image, heartbeats), effects, decision)
