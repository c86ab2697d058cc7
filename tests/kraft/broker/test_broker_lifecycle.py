"""A broker process: its states, its one request in flight, and its view of its lease."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraft.broker.lease import (
    BrokerLifecycle,
    BrokerState,
    Disconnect,
    RequestInFlight,
    Send,
    can_request_shutdown,
    can_send_heartbeat,
    can_send_registration,
    is_serving,
    is_waiting,
    lease_is_void,
    on_heartbeat_response,
    on_registration_response,
    on_request_timeout,
    replay_metadata,
    request_shutdown,
    send_heartbeat,
    send_registration,
    start,
    without_memory,
)
from kraft.errors import ErrorCode
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

NEW = BrokerLifecycle(1, "first-process-of-one-A")
CAUGHT_UP = BrokerHeartbeatResponse(is_caught_up=True)
UNFENCED = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
GO = BrokerHeartbeatResponse(is_caught_up=True, should_shut_down=True)
STALE = BrokerHeartbeatResponse(ErrorCode.STALE_BROKER_EPOCH)


def registered(state=BrokerState.STARTING, **fields):
    return replace(NEW, state=state, broker_epoch=5, **fields)


def answered(state, response, *, want_fence=False, sent_ms=0):
    sent = send_heartbeat(state, want_fence=want_fence, now_ms=sent_ms).state
    return on_heartbeat_response(sent, sent.request.correlation_id, response).state


def test_a_process_starts_registers_and_takes_the_epoch_it_is_given():
    asked = send_registration(start(NEW).state, now_ms=0)
    assert asked.effects == (Send(0, BrokerRegistrationRequest(1, "first-process-of-one-A")),)
    state = on_registration_response(asked.state, 0, BrokerRegistrationResponse(broker_epoch=5))
    assert state.state == registered(next_correlation_id=1)


def test_a_refused_process_stays_without_an_epoch_and_may_ask_again():
    asked = send_registration(start(NEW).state, now_ms=0).state
    refusal = BrokerRegistrationResponse(ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    state = on_registration_response(asked, 0, refusal).state
    assert can_send_registration(state)
    assert not can_send_heartbeat(state, want_fence=True)


def test_responses_lead_from_starting_through_recovery_to_running():
    state = answered(registered(), CAUGHT_UP, want_fence=True)
    assert state.state is BrokerState.RECOVERY
    state = answered(state, UNFENCED)
    assert state.state is BrokerState.RUNNING


@pytest.mark.parametrize(
    ("state", "response"),
    [
        (BrokerState.STARTING, BrokerHeartbeatResponse()),
        (BrokerState.RECOVERY, CAUGHT_UP),
        (BrokerState.RUNNING, CAUGHT_UP),
        (BrokerState.RUNNING, GO),
        (BrokerState.PENDING_CONTROLLED_SHUTDOWN, UNFENCED),
    ],
)
def test_other_responses_leave_the_state_unchanged(state, response):
    before = registered(state)
    after = answered(before, response, want_fence=state is BrokerState.STARTING)
    assert after == replace(before, next_correlation_id=1)


@pytest.mark.parametrize("state", [BrokerState.RUNNING, BrokerState.PENDING_CONTROLLED_SHUTDOWN])
def test_a_stale_epoch_leaves_the_state_unchanged(state):
    refusal = replace(STALE, is_caught_up=True, is_fenced=False, should_shut_down=True)
    assert answered(registered(state), refusal).state is state


@pytest.mark.parametrize(
    ("state", "wants"),
    [
        (BrokerState.NOT_RUNNING, set()),
        (BrokerState.STARTING, {True}),
        (BrokerState.RECOVERY, {True, False}),
        (BrokerState.RUNNING, {False}),
        (BrokerState.PENDING_CONTROLLED_SHUTDOWN, {False}),
        (BrokerState.SHUTTING_DOWN, set()),
    ],
)
def test_a_process_wants_to_be_fenced_until_it_is_ready(state, wants):
    able = {
        want for want in (True, False) if can_send_heartbeat(registered(state), want_fence=want)
    }
    assert able == wants


def test_a_heartbeat_reports_the_replayed_offset_and_asks_to_stop_only_when_told():
    state = replay_metadata(registered(BrokerState.RUNNING), 7).state
    sent = send_heartbeat(state, want_fence=False, now_ms=0).effects[0].request
    assert sent == BrokerHeartbeatRequest(1, 5, 7, want_fence=False, want_shut_down=False)
    stopping = request_shutdown(state).state
    sent = send_heartbeat(stopping, want_fence=False, now_ms=0).effects[0].request
    assert sent.want_shut_down


def test_a_running_broker_waits_for_permission_to_stop_and_then_loses_its_memory():
    stopping = request_shutdown(registered(BrokerState.RUNNING, applied_offset=9)).state
    assert stopping.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    assert not can_request_shutdown(stopping)
    sent = send_heartbeat(stopping, want_fence=False, now_ms=0).state
    gone = on_heartbeat_response(sent, 0, GO)
    assert gone.state == replace(NEW, state=BrokerState.SHUTTING_DOWN)
    assert gone.effects == (Disconnect(),)


@pytest.mark.parametrize("state", [BrokerState.STARTING, BrokerState.RECOVERY])
def test_a_broker_that_is_not_running_yet_stops_without_asking(state):
    step = request_shutdown(registered(state))
    assert step.state.state is BrokerState.SHUTTING_DOWN
    assert step.effects == (Disconnect(),)


def test_a_process_has_one_request_in_flight():
    waiting = send_heartbeat(registered(), want_fence=True, now_ms=0).state
    assert is_waiting(waiting)
    assert not can_send_heartbeat(waiting, want_fence=True)
    assert not can_send_registration(replace(waiting, broker_epoch=-1))


def test_the_response_to_a_timed_out_request_is_ignored():
    waiting = send_heartbeat(registered(), want_fence=True, now_ms=0).state
    given_up = on_request_timeout(waiting)
    assert given_up.effects == (Disconnect(),)
    assert on_heartbeat_response(given_up.state, 0, CAUGHT_UP).state == given_up.state
    again = send_heartbeat(given_up.state, want_fence=True, now_ms=50).state
    assert on_heartbeat_response(again, 0, CAUGHT_UP).state == again
    assert on_registration_response(again, 0, BrokerRegistrationResponse()).state == again
    assert on_heartbeat_response(again, 1, CAUGHT_UP).state.state is BrokerState.RECOVERY


def test_a_broker_like_kafkas_never_fences_itself():
    state = answered(registered(BrokerState.RUNNING), CAUGHT_UP)
    assert state.lease_start_ms is None
    assert is_serving(state, now_ms=10**9)


def test_a_lease_is_counted_from_when_the_answered_heartbeat_was_sent():
    state = registered(BrokerState.RUNNING, broker_timeout_ms=100)
    assert lease_is_void(state, now_ms=0)
    state = answered(state, UNFENCED, sent_ms=40)
    assert state.lease_start_ms == 40
    assert is_serving(state, now_ms=140)
    assert not is_serving(state, now_ms=141)


def test_a_refused_heartbeat_renews_no_lease():
    state = registered(BrokerState.RUNNING, broker_timeout_ms=100, lease_start_ms=3)
    assert answered(state, STALE, sent_ms=40).lease_start_ms == 3


def test_a_process_without_memory_keeps_only_its_configuration():
    state = registered(
        BrokerState.RUNNING,
        broker_timeout_ms=100,
        applied_offset=3,
        lease_start_ms=1,
        request=RequestInFlight(4, 2),
        next_correlation_id=5,
    )
    assert without_memory(state) == replace(NEW, broker_timeout_ms=100)
