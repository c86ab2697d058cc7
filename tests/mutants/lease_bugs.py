"""The wrong functions that the mutants of the lease put in place of the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraft.broker import lease
from kraft.broker.lease import BrokerState
from kraft.controller.operations import cluster_control, heartbeats
from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.heartbeats import Heartbeats, HeartbeatState, heartbeat_state
from kraft.errors import ErrorCode
from kraft.ids import Offset
from kraft.records.lease import FENCE, UNFENCE, BrokerRegistrationChangeRecord, RegisterBrokerRecord
from kraft.rpc import BrokerRegistrationResponse
from kraft.sim.lease import active_controller
from kraft.sim.lease.replay import replay

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.lease.image import ClusterImage

# The right functions, kept before any of them is replaced.
_register_broker = cluster_control.register_broker
_on_heartbeat = active_controller.on_broker_heartbeat_request
_after_record = heartbeats.after_record
_touch = heartbeats.touch
_state_after = lease.state_after
_on_heartbeat_response = lease.on_heartbeat_response
_can_send_heartbeat = lease.can_send_heartbeat
_is_overdue = heartbeats.is_overdue
_without_memory = lease.without_memory


def always(answer: Any) -> Callable[..., Any]:
    return lambda *_: answer


def with_broker(beats: Heartbeats, broker_id: Any, state: HeartbeatState) -> Heartbeats:
    return replace(beats, brokers=beats.brokers.set(broker_id, state))


def registering(change: Callable[[Any, Any], Any], decision: Decision) -> Callable[..., Any]:
    """Return register_broker with the record of one decision changed, and the answer with it."""

    def register_broker(image: Any, beats: Any, request: Any, now_ms: int) -> Any:
        result = _register_broker(image, beats, request, now_ms)
        if result.decision is not decision:
            return result
        record = change(result.records[0], image)
        response = BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
        return replace(result, records=(record,), response=response)

    return register_broker


def newcomer_displaces_fenced(image: Any, beats: Any, request: Any, now_ms: int) -> Any:
    registration = image.registrations.get(request.broker_id)
    if registration is not None and registration.fenced:
        beats = with_broker(beats, request.broker_id, HeartbeatState())
    return _register_broker(image, beats, request, now_ms)


def refused_with_the_epoch(image: Any, beats: Any, request: Any, now_ms: int) -> Any:
    result = _register_broker(image, beats, request, now_ms)
    if result.decision is not Decision.REFUSE_REGISTRATION:
        return result
    epoch = image.registrations[request.broker_id].epoch
    return replace(result, response=replace(result.response, broker_epoch=epoch))


def any_registered(image: Any, broker_id: Any, _epoch: Any) -> bool:
    return broker_id in image.registrations


def touch_without_contact(beats: Any, broker_id: Any, offset: Any, now_ms: int) -> Any:
    contact_time_ms = heartbeat_state(beats, broker_id).contact_time_ms
    touched = _touch(beats, broker_id, offset, now_ms)
    state = heartbeat_state(touched, broker_id)
    return with_broker(touched, broker_id, replace(state, contact_time_ms=contact_time_ms))


def touch_without_offset(beats: Any, broker_id: Any, _offset: Any, now_ms: int) -> Any:
    return _touch(beats, broker_id, heartbeat_state(beats, broker_id).metadata_offset, now_ms)


def overwrites_shutdown_offset(state: Any, request: Any, now_ms: int) -> Any:
    step = _on_heartbeat(state, request, now_ms)
    if step.decision is not Decision.CONTINUE_CONTROLLED_SHUTDOWN:
        return step
    beats = step.state.heartbeats
    kept = heartbeat_state(beats, request.broker_id)
    last_offset = Offset(step.state.image.log_end - 1)
    beats = with_broker(
        beats, request.broker_id, replace(kept, controlled_shutdown_offset=last_offset)
    )
    return replace(step, state=replace(step.state, heartbeats=beats))


def activation(contact: Callable[[Any, int], int | None]) -> Callable[..., Any]:
    def fresh_heartbeats(image: Any, session_timeout_ms: int, now_ms: int) -> Heartbeats:
        states = {
            broker_id: HeartbeatState(contact(registration, now_ms))
            for broker_id, registration in image.registrations.items()
        }
        empty = Heartbeats(session_timeout_ms)
        return replace(empty, brokers=empty.brokers.update(states))

    return fresh_heartbeats


def session_ends_at_timeout(beats: Any, contact_time_ms: int, now_ms: int) -> bool:
    return now_ms - contact_time_ms < beats.session_timeout_ms


def keeps_after(kinds: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Return after_record that leaves all soft state alone after some records."""

    def after_record(beats: Any, before: Any, after: Any, record: Any) -> Any:
        changed = _after_record(beats, before, after, record)
        return beats if kinds(record, before) else changed

    return after_record


def is_amendment(record: Any, before: ClusterImage) -> bool:
    return registers_again(record, before) and not is_displacement(record, before)


def is_displacement(record: Any, before: ClusterImage) -> bool:
    return registers_again(record, before) and (
        before.registrations[record.broker_id].incarnation_id != record.incarnation_id
    )


def registers_again(record: Any, before: ClusterImage) -> bool:
    return isinstance(record, RegisterBrokerRecord) and record.broker_id in before.registrations


def fence_keeps_shutdown(beats: Any, before: Any, after: Any, record: Any) -> Any:
    changed = _after_record(beats, before, after, record)
    if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == FENCE:
        kept = heartbeat_state(beats, record.broker_id).controlled_shutdown_offset
        state = heartbeat_state(changed, record.broker_id)
        return with_broker(
            changed, record.broker_id, replace(state, controlled_shutdown_offset=kept)
        )
    return changed


def fence_keeps_leaderships(image: Any, record: Any, offset: Any) -> Any:
    after = replay(image, record, offset)
    if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == FENCE:
        return replace(after, leads=image.leads)
    return after


def replay_ignores_unfence(image: Any, record: Any, offset: Any) -> Any:
    if isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == UNFENCE:
        return replace(image, log_end=Offset(offset + 1))
    return replay(image, record, offset)


def stays_connected(state: Any) -> Any:
    return lease.LeaseStep(replace(state, request=None))


def sends_while_waiting(state: Any, *, want_fence: bool) -> bool:
    return _can_send_heartbeat(replace(state, request=None), want_fence=want_fence)


def runs_on_any_reply(current: Any, response: Any) -> Any:
    if current is BrokerState.RECOVERY and response.error_code is ErrorCode.NONE:
        return BrokerState.RUNNING
    return _state_after(current, response)


def leaves_when_told_stale(current: Any, response: Any) -> Any:
    if current is BrokerState.PENDING_CONTROLLED_SHUTDOWN and response.error_code:
        return BrokerState.SHUTTING_DOWN
    return _state_after(current, response)


def stale_answer_is_success(state: Any, correlation_id: int, response: Any) -> Any:
    return _on_heartbeat_response(
        state, correlation_id, replace(response, error_code=ErrorCode.NONE)
    )


def remembers_its_epoch(state: Any) -> Any:
    return replace(_without_memory(state), broker_epoch=state.broker_epoch)


def lease_is_void_early(state, now_ms):
    """Let a lease end at its timeout, one unit too early."""
    if state.broker_timeout_ms is None:
        return False
    return state.lease_start_ms is None or now_ms - state.lease_start_ms >= state.broker_timeout_ms
