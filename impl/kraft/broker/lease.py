"""The lease of one broker process: it registers, sends heartbeats, and asks to shut down.

Every handler is a function from a state and an event to a LeaseStep. Times are integers in
milliseconds by the process's own clock, which is never compared with another clock.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH, NO_OFFSET
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, IncarnationId, Offset
    from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationResponse


class BrokerState(enum.Enum):
    """The states of a broker process, with the numbers of Kafka's metric.

    Kafka: BrokerState.
    """

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


@dataclass(frozen=True, slots=True)
class RequestInFlight:
    """The one request that awaits a response, and when it was sent."""

    correlation_id: int
    sent_ms: int


@dataclass(frozen=True, slots=True)
class BrokerLifecycle:
    """The lease as one broker process knows it.

    `broker_timeout_ms` is None in a broker that, like Kafka's, does not fence itself.
    `lease_start_ms` is the time at which the last answered heartbeat was sent. It is None before
    the first answer, and in a broker that does not fence itself.

    Kafka: BrokerLifecycleManager.
    """

    broker_id: BrokerId
    incarnation_id: IncarnationId
    broker_timeout_ms: int | None = None
    state: BrokerState = BrokerState.NOT_RUNNING
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH
    applied_offset: Offset = NO_OFFSET
    request: RequestInFlight | None = None
    lease_start_ms: int | None = None
    next_correlation_id: int = 0


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request and await its response."""

    correlation_id: int
    request: BrokerRegistrationRequest | BrokerHeartbeatRequest


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Close the connection: responses to earlier requests can no longer arrive."""


Effect = Send | Disconnect


@dataclass(frozen=True, slots=True)
class LeaseStep:
    """The result of one event: the next state, and the effects to perform in order."""

    state: BrokerLifecycle
    effects: tuple[Effect, ...] = ()


def is_live(state: BrokerLifecycle) -> bool:
    """Return whether the process runs.

    Spec: BrokerLease!Live.
    """
    current = state.state
    return current is not BrokerState.NOT_RUNNING and current is not BrokerState.SHUTTING_DOWN


def is_waiting(state: BrokerLifecycle) -> bool:
    """Return whether the process awaits a response.

    Spec: BrokerLease!Waiting.
    """
    return state.request is not None


def can_send_registration(state: BrokerLifecycle) -> bool:
    """Return whether the process runs without an epoch and awaits no response."""
    return is_live(state) and state.broker_epoch == NO_BROKER_EPOCH and not is_waiting(state)


def can_send_heartbeat(state: BrokerLifecycle, *, want_fence: bool) -> bool:
    """Return whether the process may send a heartbeat with this wish.

    While it is STARTING it wants to be fenced. In RECOVERY it wants that until it is ready, later
    not.

    Spec: BrokerLease!WantFence.
    """
    if not is_live(state) or state.broker_epoch == NO_BROKER_EPOCH or is_waiting(state):
        return False
    match state.state:
        case BrokerState.STARTING:
            return want_fence
        case BrokerState.RECOVERY:
            return True
        case _:
            return not want_fence


def can_replay_metadata(state: BrokerLifecycle, offset: Offset) -> bool:
    """Return whether `offset` is ahead of everything that the process has replayed."""
    return is_live(state) and offset > state.applied_offset


def can_request_shutdown(state: BrokerLifecycle) -> bool:
    """Return whether the process runs and was not told to stop before."""
    return is_live(state) and state.state is not BrokerState.PENDING_CONTROLLED_SHUTDOWN


def lease_is_void(state: BrokerLifecycle, now_ms: int) -> bool:
    """Return whether a broker that fences itself must not serve, because it has no valid lease.

    Kafka's brokers never check this; those of KIP-343 do.

    Spec: BrokerLeaseProperties!Serving.
    """
    if state.broker_timeout_ms is None:
        return False
    return state.lease_start_ms is None or now_ms - state.lease_start_ms > state.broker_timeout_ms


def is_serving(state: BrokerLifecycle, now_ms: int) -> bool:
    """Return whether the process believes that it may lead.

    Spec: BrokerLeaseProperties!Serving.
    """
    return state.state is BrokerState.RUNNING and not lease_is_void(state, now_ms)


def start(state: BrokerLifecycle) -> LeaseStep:
    """Begin to run.

    Spec: BrokerLease!StartBroker.
    Kafka: BrokerLifecycleManager.start.
    """
    assert state.state is BrokerState.NOT_RUNNING
    return LeaseStep(replace(state, state=BrokerState.STARTING))


def send_registration(state: BrokerLifecycle, now_ms: int) -> LeaseStep:
    """Ask the controller for an epoch.

    Spec: BrokerLease!SendRegistration.
    Kafka: BrokerLifecycleManager.sendBrokerRegistration.
    """
    assert can_send_registration(state)
    return _send(state, BrokerRegistrationRequest(state.broker_id, state.incarnation_id), now_ms)


def send_heartbeat(state: BrokerLifecycle, *, want_fence: bool, now_ms: int) -> LeaseStep:
    """Report the replayed offset and the wishes of the process.

    Spec: BrokerLease!SendHeartbeat.
    Kafka: BrokerLifecycleManager.sendBrokerHeartbeat.
    """
    assert can_send_heartbeat(state, want_fence=want_fence)
    request = BrokerHeartbeatRequest(
        state.broker_id,
        state.broker_epoch,
        state.applied_offset,
        want_fence=want_fence,
        want_shut_down=state.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN,
    )
    return _send(state, request, now_ms)


def on_registration_response(
    state: BrokerLifecycle, correlation_id: int, response: BrokerRegistrationResponse
) -> LeaseStep:
    """Take the epoch, or stay without one and ask again. A late response is ignored.

    Spec: BrokerLease!HandleRegistrationResponse.
    Kafka: BrokerLifecycleManager.BrokerRegistrationResponseEvent.
    """
    if not is_awaited(state, correlation_id):
        return LeaseStep(state)
    if response.error_code is not ErrorCode.NONE:
        return LeaseStep(replace(state, request=None))
    return LeaseStep(replace(state, request=None, broker_epoch=response.broker_epoch))


def on_heartbeat_response(
    state: BrokerLifecycle, correlation_id: int, response: BrokerHeartbeatResponse
) -> LeaseStep:
    """Change state as the controller says, and renew the lease. A late response is ignored.

    Spec: BrokerLease!HandleHeartbeatResponse.
    Kafka: BrokerLifecycleManager.BrokerHeartbeatResponseEvent.
    """
    if not is_awaited(state, correlation_id):
        return LeaseStep(state)
    assert state.request is not None
    following = state_after(state.state, response)
    if following is BrokerState.SHUTTING_DOWN:
        return _exit(state)
    lease_start_ms = state.lease_start_ms
    if response.error_code is ErrorCode.NONE:
        lease_start_ms = lease_start_of(state, state.request)
    answered = replace(state, state=following, request=None, lease_start_ms=lease_start_ms)
    return LeaseStep(answered)


def is_awaited(state: BrokerLifecycle, correlation_id: int) -> bool:
    """Return whether a response belongs to the awaited request."""
    return state.request is not None and state.request.correlation_id == correlation_id


def lease_start_of(state: BrokerLifecycle, request: RequestInFlight) -> int | None:
    """Return when the lease begins that a heartbeat's response grants: when the heartbeat was sent.

    The controller received it no earlier, so this can only end the lease too soon.
    """
    return None if state.broker_timeout_ms is None else request.sent_ms


def state_after(current: BrokerState, response: BrokerHeartbeatResponse) -> BrokerState:
    """Return the state after a heartbeat response. A RUNNING broker ignores that it is fenced.

    Spec: BrokerLease!StatusAfter.
    Kafka: BrokerLifecycleManager.BrokerHeartbeatResponseEvent.
    """
    if response.error_code is not ErrorCode.NONE:
        return current
    match current:
        case BrokerState.STARTING if response.is_caught_up:
            return BrokerState.RECOVERY
        case BrokerState.RECOVERY if not response.is_fenced:
            return BrokerState.RUNNING
        case BrokerState.PENDING_CONTROLLED_SHUTDOWN if response.should_shut_down:
            return BrokerState.SHUTTING_DOWN
        case _:
            return current


def on_request_timeout(state: BrokerLifecycle) -> LeaseStep:
    """Stop awaiting a response; the request may still arrive.

    Spec: BrokerLease!RequestTimeout.
    Kafka: BrokerLifecycleManager.BrokerHeartbeatResponseHandler.
    """
    assert is_live(state)
    assert is_waiting(state)
    return LeaseStep(replace(state, request=None), (Disconnect(),))


def replay_metadata(state: BrokerLifecycle, offset: Offset) -> LeaseStep:
    """Replay committed metadata up to and including `offset`.

    Spec: BrokerLease!ReplayMetadata.
    Kafka: MetadataLoader.handleCommit.
    """
    assert can_replay_metadata(state, offset)
    return LeaseStep(replace(state, applied_offset=offset))


def request_shutdown(state: BrokerLifecycle) -> LeaseStep:
    """Stop.

    A RUNNING broker first asks the controller with its heartbeats; any other exits at once.

    Spec: BrokerLease!RequestShutdown.
    Kafka: BrokerLifecycleManager.beginControlledShutdown.
    """
    assert can_request_shutdown(state)
    if state.state is BrokerState.RUNNING:
        return LeaseStep(replace(state, state=BrokerState.PENDING_CONTROLLED_SHUTDOWN))
    return _exit(state)


def without_memory(state: BrokerLifecycle) -> BrokerLifecycle:
    """Return the process as it was before it started: its identity, and nothing it learned."""
    return BrokerLifecycle(state.broker_id, state.incarnation_id, state.broker_timeout_ms)


def _exit(state: BrokerLifecycle) -> LeaseStep:
    """Exit; memory and connection end with the process.

    Spec: BrokerLease!Exit.
    """
    ended = replace(without_memory(state), state=BrokerState.SHUTTING_DOWN)
    return LeaseStep(ended, (Disconnect(),))


def _send(
    state: BrokerLifecycle, request: BrokerRegistrationRequest | BrokerHeartbeatRequest, now_ms: int
) -> LeaseStep:
    correlation_id = state.next_correlation_id
    waiting = replace(
        state,
        request=RequestInFlight(correlation_id, now_ms),
        next_correlation_id=correlation_id + 1,
    )
    return LeaseStep(waiting, (Send(correlation_id, request),))
