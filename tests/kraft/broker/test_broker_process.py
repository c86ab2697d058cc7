"""A broker process with its timers: when it sends, what it sends, and when a request times out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraft.broker.lease import BrokerLifecycle, BrokerState, Disconnect, Send
from kraft.broker.lifecycle_manager import (
    BrokerProcess,
    Halt,
    begin_controlled_shutdown,
    is_registered,
    needs_registration_again,
    next_deadline,
    on_directory_failure,
    on_due,
    on_heartbeat_response,
    on_registration_response,
    register_again,
    replay_metadata,
    set_ready_to_unfence,
    start,
)
from kraft.broker.settings import BrokerSettings
from kraft.chance import backoff_ms
from kraft.errors import ErrorCode
from kraft.image.entries import BrokerRegistration
from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationRequest, BrokerRegistrationResponse
from kraft.rpc.node_description import Listener, SupportedFeature

SETTINGS = BrokerSettings(
    "a-cluster",
    ("second-directory-of-1A", "first-directory-of-one"),
    (Listener("PLAINTEXT", "one", 9092),),
    (SupportedFeature("metadata.version", 7, 27),),
    "a-rack",
    previous_broker_epoch=3,
)
NEW = BrokerProcess(SETTINGS, BrokerLifecycle(1, "first-process-of-one-A"))
MIDDLE = 2**63
BEHIND = BrokerHeartbeatResponse()
CAUGHT_UP = BrokerHeartbeatResponse(is_caught_up=True)
UNFENCED = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
GO = BrokerHeartbeatResponse(is_caught_up=True, should_shut_down=True)
STALE = BrokerHeartbeatResponse(ErrorCode.STALE_BROKER_EPOCH)


def answer(process, response, now_ms, chance=MIDDLE):
    """Answer the request that the process awaits."""
    handler = on_heartbeat_response if is_registered(process) else on_registration_response
    return handler(process, process.lifecycle.request.correlation_id, response, now_ms, chance)


def due(process):
    """Let time pass until something is due, and do it."""
    now_ms = next_deadline(process)
    return on_due(process, now_ms, MIDDLE), now_ms


def registered(now_ms=0):
    return answer(start(NEW, 0).process, BrokerRegistrationResponse(broker_epoch=5), now_ms).process


def running():
    process = due(registered())[0].process
    process = answer(process, CAUGHT_UP, 0).process
    process = set_ready_to_unfence(process, 0)
    process = answer(due(process)[0].process, UNFENCED, 0).process
    assert process.lifecycle.state is BrokerState.RUNNING
    return process


def sent(turn):
    (send,) = (one for one in turn.effects if isinstance(one, Send))
    return send.request


def test_a_registration_has_everything_in_the_settings():
    assert sent(start(NEW, 0)) == BrokerRegistrationRequest(
        1,
        "first-process-of-one-A",
        "a-cluster",
        SETTINGS.listeners,
        SETTINGS.features,
        "a-rack",
        log_dirs=("first-directory-of-one", "second-directory-of-1A"),
        previous_broker_epoch=3,
    )


def test_a_process_that_is_not_registered_within_a_minute_shuts_down():
    process, now_ms = start(NEW, 0).process, 0
    refused = BrokerRegistrationResponse(ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    while process.lifecycle.state is BrokerState.STARTING:
        if process.lifecycle.request is not None:
            process = answer(process, refused, now_ms).process
        turn, now_ms = due(process)
        process = turn.process
    assert now_ms == 60_000
    assert process.lifecycle.state is BrokerState.SHUTTING_DOWN
    assert next_deadline(process) is None
    assert on_due(process, 70_000, 0).process == process


def test_a_registered_process_has_no_registration_timeout():
    process = registered()
    assert process.registration_deadline_ms is None
    again = due(register_again(process, 100))[0].process
    assert on_due(again, 59_000, MIDDLE).process.lifecycle.state is BrokerState.STARTING


def test_responses_take_a_broker_through_start_and_recovery_to_running():
    process = due(registered())[0].process
    process = answer(process, BEHIND, 4).process
    assert process.lifecycle.state is BrokerState.STARTING
    turn, now_ms = due(process)
    assert now_ms == 14
    assert sent(turn).want_fence
    process = answer(turn.process, CAUGHT_UP, 20).process
    assert process.lifecycle.state is BrokerState.RECOVERY
    turn, now_ms = due(process)
    assert now_ms == 30
    assert sent(turn).want_fence
    process = set_ready_to_unfence(answer(turn.process, CAUGHT_UP, 40).process, 50)
    turn, now_ms = due(process)
    assert now_ms == 50
    assert not sent(turn).want_fence
    process = answer(turn.process, UNFENCED, 60).process
    assert process.lifecycle.state is BrokerState.RUNNING
    assert next_deadline(process) == 2_060


def test_a_running_broker_waits_for_permission_to_stop():
    turn, now_ms = due(begin_controlled_shutdown(running(), 7).process)
    assert now_ms == 7
    assert sent(turn).want_shut_down
    process = answer(turn.process, UNFENCED, 10).process
    turn, now_ms = due(process)
    assert now_ms == 60
    process = answer(turn.process, UNFENCED, 70).process
    turn, now_ms = due(process)
    assert now_ms == 2_070
    assert begin_controlled_shutdown(process, 80).process == process
    ended = answer(turn.process, GO, 2_080)
    assert ended.process.lifecycle.state is BrokerState.SHUTTING_DOWN
    assert ended.effects == (Disconnect(),)


def test_a_broker_that_is_not_running_yet_stops_at_once():
    ended = begin_controlled_shutdown(start(NEW, 0).process, 1)
    assert ended.process.lifecycle.state is BrokerState.SHUTTING_DOWN
    assert begin_controlled_shutdown(ended.process, 2).effects == ()


def test_one_request_is_in_flight_and_the_next_follows_at_once_if_wanted():
    process = start(NEW, 0).process
    process = set_ready_to_unfence(process, 1)
    assert process.wants_sooner
    assert on_due(process, 2, MIDDLE).effects == ()
    process = due(registered())[0].process
    process = set_ready_to_unfence(process, 1)
    assert next_deadline(answer(process, CAUGHT_UP, 5).process) == 5


def test_a_failure_leads_to_a_back_off():
    process = due(registered())[0].process
    process = set_ready_to_unfence(process, 1)
    failed = answer(process, STALE, 5).process
    assert not failed.wants_sooner
    assert next_deadline(failed) == 105


def test_a_process_with_a_stale_epoch_sends_heartbeats_for_ever_and_never_registers():
    process, now_ms = running(), 0
    for delay_ms in (100, 200, 400, 800, 1_600, 3_200, 6_400, 9_000, 9_000, 9_000):
        turn, now_ms = due(process)
        assert sent(turn).broker_epoch == 5
        process = answer(turn.process, STALE, now_ms).process
        assert next_deadline(process) == now_ms + delay_ms
    turn, now_ms = due(process)
    process = answer(turn.process, UNFENCED, now_ms).process
    assert (process.failed_attempts, next_deadline(process)) == (0, now_ms + 2_000)


def test_a_request_times_out_and_its_late_response_is_ignored():
    process = start(NEW, 0).process
    given_up = on_due(process, 9_000, MIDDLE)
    assert given_up.effects == (Disconnect(),)
    assert next_deadline(given_up.process) == 9_100
    late = BrokerRegistrationResponse(broker_epoch=5)
    assert on_registration_response(given_up.process, 0, late, 9_001, 0).process == given_up.process


def test_failed_directories_are_in_every_heartbeat_from_then_on():
    process = on_directory_failure(running(), "second-directory-of-1A", 10)
    turn, now_ms = due(process)
    assert (now_ms, sent(turn).offline_log_dirs) == (10, ("second-directory-of-1A",))
    process = answer(turn.process, UNFENCED, 20).process
    process = on_directory_failure(process, "first-directory-of-one", 30)
    for _ in range(3):
        turn, now_ms = due(process)
        both = ("first-directory-of-one", "second-directory-of-1A")
        assert sent(turn).offline_log_dirs == both
        process = answer(turn.process, UNFENCED, now_ms).process
    assert on_directory_failure(process, "first-directory-of-one", now_ms) == process
    assert on_due(process, 40_000, MIDDLE).process.lifecycle.state is BrokerState.RUNNING


def test_a_directory_that_fails_during_a_heartbeat_is_in_the_next_one():
    waiting = due(running())[0].process
    process = on_directory_failure(waiting, "second-directory-of-1A", 2_010)
    process = answer(process, UNFENCED, 2_020).process
    assert [one.is_delivered for one in process.offline_directories] == [False]
    turn, now_ms = due(process)
    assert (now_ms, sent(turn).offline_log_dirs) == (2_020, ("second-directory-of-1A",))


def test_a_broker_that_cannot_report_a_failed_directory_in_time_halts():
    process, now_ms = on_directory_failure(running(), "second-directory-of-1A", 10), 10
    effects = ()
    while not any(isinstance(one, Halt) for one in effects):
        if process.lifecycle.request is not None:
            process = answer(process, STALE, now_ms).process
        turn, now_ms = due(process)
        process, effects = turn.process, turn.effects
    assert now_ms == 30_010
    assert effects == (
        Disconnect(),
        Halt("directory second-directory-of-1A was not reported to the controller in time"),
    )
    assert next_deadline(process) is None


def test_a_directory_that_fails_before_the_registration_waits_for_it():
    process = on_directory_failure(start(NEW, 0).process, "second-directory-of-1A", 1)
    assert not process.wants_sooner
    process = answer(process, BrokerRegistrationResponse(broker_epoch=5), 2).process
    assert sent(due(process)[0]).offline_log_dirs == ("second-directory-of-1A",)


def test_a_broker_without_recorded_directories_registers_again_as_the_same_incarnation():
    turn, now_ms = due(register_again(running(), 8))
    assert (now_ms, sent(turn).incarnation_id) == (8, "first-process-of-one-A")
    assert turn.process.broker_epoch == 5
    process = answer(turn.process, BrokerRegistrationResponse(broker_epoch=9), 10).process
    assert (process.broker_epoch, process.lifecycle.state) == (9, BrokerState.RUNNING)
    turn, _ = due(process)
    assert sent(turn).broker_epoch == 9


@pytest.mark.parametrize(
    ("level", "directories", "needed"),
    [(17, (), True), (16, (), False), (17, ("first-directory-of-one",), False), (None, (), False)],
)
def test_a_registration_is_refreshed_only_to_add_directories_that_the_metadata_version_allows(
    level, directories, needed
):
    registration = BrokerRegistration(5, "first-process-of-one-A", directories=directories)
    assert needs_registration_again(level, registration) is needed
    assert not needs_registration_again(level, None)


def test_heartbeats_report_the_replayed_offset():
    process = replay_metadata(replay_metadata(registered(), 12), 11)
    assert sent(due(process)[0]).current_metadata_offset == 12


def test_an_ended_process_has_no_deadline():
    ended = begin_controlled_shutdown(start(NEW, 0).process, 1).process
    assert register_again(ended, 2) == ended
    assert set_ready_to_unfence(ended, 2) == replace(ended, ready_to_unfence=True)
    assert next_deadline(ended) is None


def test_the_back_off_doubles_with_a_jitter_of_at_most_two_hundredths():
    middle = [backoff_ms(100, 9_000, attempts, MIDDLE) for attempts in range(9)]
    assert middle == [100, 200, 400, 800, 1_600, 3_200, 6_400, 9_000, 9_000]
    assert backoff_ms(100, 9_000, 3, 0) == 784
    assert backoff_ms(100, 9_000, 3, 2**64 - 1) == 816
    assert backoff_ms(100, 9_000, 5_000, 2**64 - 1) == 9_000
