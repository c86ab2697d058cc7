"""The steps of the active controller. Their guards are those of the actions of BrokerLease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.heartbeats import is_overdue
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from kraft.sim.common.step import Refused, done
from kraft.sim.lease import active_controller
from kraft.sim.lease.active_controller import Append
from kraft.sim.lease.cluster import Cluster
from kraft.sim.lease.image import can_elect
from kraft.sim.lease.network import Envelope, take
from kraft.sim.lease.replay import replay_log

if TYPE_CHECKING:
    from kraft.sim.lease import choices
    from kraft.sim.lease.cluster import Result


def deliver_request(cluster: Cluster, envelope: Envelope) -> Result:
    """Deliver a request to the active controller."""
    state, now_ms = cluster.controller, cluster.controller_time_ms
    match envelope.payload:
        case BrokerRegistrationRequest() as request:
            taken = active_controller.on_broker_registration_request(state, request, now_ms)
        case BrokerHeartbeatRequest() as request:
            taken = active_controller.on_broker_heartbeat_request(state, request, now_ms)
        case _:
            raise AssertionError("a response is not for the controller")
    return _after_controller_step(cluster, taken, envelope), done(taken.decision.value)


def fence_stale_broker(cluster: Cluster, choice: choices.FenceStaleBroker) -> Result:
    """Let the controller fence a broker whose session ran out."""
    state, now_ms = cluster.controller, cluster.controller_time_ms
    if not is_overdue(state.heartbeats, choice.broker_id, now_ms):
        return cluster, Refused("the broker's session has not run out")
    return _of_controller(
        cluster, active_controller.on_session_expiry(state, choice.broker_id, now_ms)
    )


def unregister_broker(cluster: Cluster, choice: choices.UnregisterBroker) -> Result:
    """Let the operator remove a registration."""
    state = cluster.controller
    if choice.broker_id not in state.image.registrations:
        return cluster, Refused("the broker is not registered")
    request = UnregisterBrokerRequest(choice.broker_id)
    return _of_controller(cluster, active_controller.on_unregister_broker_request(state, request))


def elect_leader(cluster: Cluster, choice: choices.ElectLeader) -> Result:
    """Let the controller make a broker the leader of a partition."""
    state = cluster.controller
    if not can_elect(state.image, choice.broker_id):
        return cluster, Refused("the broker may not lead, or leads already")
    return _of_controller(cluster, active_controller.on_election(state, choice.broker_id))


def fail_over(cluster: Cluster, choice: choices.FailOver) -> Result:  # noqa: ARG001 - no fields
    """Make another controller active; it knows only the log.

    Spec: BrokerLease!FailOver.
    """
    image = replay_log(cluster.log)
    timeout_ms, now_ms = cluster.configuration.session_timeout_ms, cluster.controller_time_ms
    return _of_controller(cluster, active_controller.on_activation(image, timeout_ms, now_ms))


def _of_controller(cluster: Cluster, taken: active_controller.ActiveControllerStep) -> Result:
    return _after_controller_step(cluster, taken, None), done(taken.decision.value)


def _after_controller_step(
    cluster: Cluster, taken: active_controller.ActiveControllerStep, request: Envelope | None
) -> Cluster:
    """Perform the effects of the controller's step, in order; `request` is what it answers."""
    network, next_message_id = cluster.network, cluster.next_message_id
    log = cluster.log
    if request is not None:
        network = take(network, request.message_id)
    for effect in taken.effects:
        if isinstance(effect, Append):
            assert effect.base_offset == len(log)
            log += effect.records
        elif request is not None and request.is_awaited:
            answer = Envelope(
                next_message_id,
                request.incarnation_id,
                request.correlation_id,
                effect.response,
                is_awaited=True,
            )
            network = (*network, answer)
            next_message_id += 1
    return Cluster(
        cluster.configuration,
        taken.state,
        cluster.processes,
        network,
        log,
        cluster.controller_time_ms,
        next_message_id,
    )
