"""Kafka's former bugs with brokers: each is put back, and a scenario notices it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from msgspec.structs import replace
from tests.kraft.controller import test_broker_heartbeats as heard
from tests.kraft.controller import test_broker_registration as registering
from tests.kraft.controller.cluster_driver import SESSION_TIMEOUT_MS, ClusterDriver

from kraft.controller.operations import (
    broker_heartbeats,
    broker_registration,
    cluster_control,
    heartbeats,
    leader_eligibility,
    leadership,
    registration_checks,
)
from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.heartbeats import Heartbeats, HeartbeatState
from kraft.controller.operations.result import Generated, Result
from kraft.errors import ErrorCode
from kraft.image.entries import UNASSIGNED
from kraft.records.topics import NO_LEADER

_fence_broker = leadership.fence_broker
_lease_registration = cluster_control.register_broker
_fresh_heartbeats = heartbeats.fresh_heartbeats
_overdue_brokers = heartbeats.overdue_brokers
_check_feature = registration_checks._check_feature


def all_at_once(written, beats, defaults, now_ms):
    """Fence every overdue broker in one write, each by the partitions as they are now."""
    overdue = _overdue_brokers(beats, now_ms)
    records = itertools.chain.from_iterable(
        _fence_broker(written.image, defaults, broker, written.index) for broker in overdue
    )
    for broker in overdue:
        beats = heartbeats.end_session(beats, broker)
    return Generated(Result(tuple(records), response=False, is_atomic=False), beats)


def shutting_down_may_lead(image, broker_id):
    """Return True for every broker that is not fenced."""
    registration = image.brokers.get(broker_id)
    return registration is not None and not registration.fenced


def activation_without_fenced_brokers(lease, timeout_ms, now_ms):
    """Activate with the unfenced brokers only."""
    beats = _fresh_heartbeats(lease, timeout_ms, now_ms)
    unfenced = {
        one: state for one, state in beats.brokers.items() if not lease.registrations[one].fenced
    }
    return Heartbeats(timeout_ms, type(beats.brokers)(unfenced))


def activation_without_sessions(lease, timeout_ms, now_ms):
    """Activate without any session."""
    beats = _fresh_heartbeats(lease, timeout_ms, now_ms)
    states = dict.fromkeys(beats.brokers, HeartbeatState())
    return Heartbeats(timeout_ms, type(beats.brokers)(states))


def amending(**changes: Any):
    """Return the amended registration of a process, with a mistake."""

    def register_broker(lease, beats, request, now_ms):
        result = _lease_registration(lease, beats, request, now_ms)
        if result.decision is not Decision.AMEND_REGISTRATION:
            return result
        new = {name: change(lease) for name, change in changes.items()}
        record = replace(result.records[0], **new)
        response = type(result.response)(broker_epoch=record.broker_epoch)
        return type(result)(result.decision, (record,), response)

    return register_broker


def no_directory_is_online_of_a_broker_without(image, broker_id, where):
    """Say that a broker without directories has no working one."""
    registration = image.brokers.get(broker_id)
    return registration is not None and where in registration.directories


def caught_up_with_the_log(lease, beats, request):
    """Unfence a broker only after it has replayed the whole log."""
    state = heartbeats.next_broker_state(lease, beats, request)
    behind = request.current_metadata_offset < lease.log_end - 1
    if state is heartbeats.BrokerControlState.UNFENCED and behind:
        return heartbeats.BrokerControlState.FENCED
    return state


def leaderships_stay(_image, _defaults, record, _index, *, clean):
    """Register a new process, and leave the partitions of the old one unchanged."""
    assert clean in {True, False}
    return (record,)


def a_broker_without_directories_may_lead():
    driver = ClusterDriver(metadata_version=16).unfenced(1, 2)
    driver.create((1, 2))
    assert driver.registration().directories == ()
    driver.heartbeat(1, want_fence=True)
    assert driver.partition().leader == 2
    assert driver.partition().directories == (UNASSIGNED,) * 2


def brokers_that_are_fenced_are_known_after_a_failover():
    driver = ClusterDriver().unfenced(1)
    driver.register(2)
    driver.fail_over()
    assert sorted(driver.heartbeats.brokers) == [1, 2]


def a_broker_is_unfenced_though_records_follow_its_registration():
    driver = ClusterDriver()
    driver.register(1)
    driver.register(2)
    offset = driver.written.registration_offsets[1]
    assert not driver.heartbeat(1, current_metadata_offset=offset).is_fenced


def a_restart_takes_the_old_process_out_of_the_isr():
    driver = heard.with_topic((1, 2))
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    assert driver.register(1, 2).error_code is ErrorCode.NONE
    assert (driver.partition().leader, driver.partition().isr) == (2, (2,))


def a_broker_in_shutdown_leads_nothing():
    driver = heard.with_topic((1,))
    driver.heartbeat(1, want_shut_down=True)
    driver.unfenced(4)
    assert driver.partition().leader == NO_LEADER


def other_levels_only(supported, level):
    """Check only the features that a broker names."""
    if supported.maximum > 0:
        _check_feature(supported, level)


def session_without_end(beats, broker_id, _now_ms):
    """Count every session as valid, however old."""
    return heartbeats.heartbeat_state(beats, broker_id).contact_time_ms is not None


def _missing_feature():
    registering.test_a_broker_must_support_each_feature_at_its_finalized_level(
        1, None, ErrorCode.UNSUPPORTED_VERSION
    )


def _same_process():
    registering.test_a_process_that_registers_again_keeps_its_state()


def _failover_sessions():
    heard.test_a_failover_gives_each_unfenced_broker_a_whole_session()


def _displaced_after_a_session():
    registering.test_a_session_protects_the_broker_id_until_its_last_millisecond()


def touching_moves_the_shutdown(beats, broker_id, offset, now_ms):
    """Renew a session, and make the shutdown wait for the end of the log again."""
    touched = heartbeats.touch(beats, broker_id, offset, now_ms)
    if not heartbeats.is_shutting_down(touched, broker_id):
        return touched
    later = HeartbeatState(now_ms, offset, controlled_shutdown_offset=offset)
    return Heartbeats(touched.session_timeout_ms, touched.brokers.set(broker_id, later))


def a_late_heartbeat_keeps_a_broker_alive():
    heard.test_a_heartbeat_that_waited_too_long_only_renews_the_session()


def no_contact(_written, beats, _defaults, _request, _now_ms):
    """Ignore a heartbeat that waited too long."""
    response = broker_heartbeats._TIMED_OUT
    return Generated(Result((), response, is_atomic=False), beats)


BUGS = {
    "KAFKA-15019": (
        "tests.kraft.controller.cluster_driver", "process_expired_broker_heartbeat", no_contact,
        a_late_heartbeat_keeps_a_broker_alive,
    ),
    "KAFKA-13173": (
        "tests.kraft.controller.cluster_driver", "maybe_fence_stale_broker", all_at_once,
        heard.test_silent_brokers_are_fenced_one_by_one_after_the_changes_of_the_last,
    ),
    "KAFKA-13916": (
        leader_eligibility.__name__, "is_active", shutting_down_may_lead,
        a_broker_in_shutdown_leads_nothing,
    ),
    "KAFKA-13841": (
        broker_heartbeats.__name__, "fresh_heartbeats", activation_without_fenced_brokers,
        brokers_that_are_fenced_are_known_after_a_failover,
    ),
    "KAFKA-13959": (
        cluster_control.__name__, "next_broker_state", caught_up_with_the_log,
        a_broker_is_unfenced_though_records_follow_its_registration,
    ),
    "KAFKA-14292": (
        broker_heartbeats.__name__, "touch", touching_moves_the_shutdown,
        heard.test_a_broker_stops_once_all_staying_brokers_have_replayed_its_shutdown,
    ),
    "KAFKA-16952": (
        cluster_control.__name__, "register_broker",
        amending(broker_epoch=lambda lease: lease.log_end), _same_process,
    ),
    "KAFKA-16757": (
        cluster_control.__name__, "register_broker", amending(fenced=lambda _: True), _same_process,
    ),
    "KAFKA-16162": (
        leader_eligibility.__name__, "is_online", no_directory_is_online_of_a_broker_without,
        a_broker_without_directories_may_lead,
    ),
    "KAFKA-17305": (
        registration_checks.__name__, "_check_feature", other_levels_only, _missing_feature,
    ),
    "KAFKA-13528": (
        broker_registration.__name__, "check_cluster", lambda *_: None,
        registering.test_a_broker_of_another_cluster_is_refused,
    ),
    "KAFKA-18138": (
        broker_heartbeats.__name__, "fresh_heartbeats", activation_without_sessions,
        _failover_sessions,
    ),
    "KAFKA-18106": (
        leadership.__name__, "register_broker", leaderships_stay,
        a_restart_takes_the_old_process_out_of_the_isr,
    ),
    "KAFKA-19130": (
        cluster_control.__name__, "has_valid_session", session_without_end,
        _displaced_after_a_session,
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", sorted(BUGS))
def test_each_bug_is_noticed_and_its_scenario_holds_without_it(bug, monkeypatch):
    module, name, wrong, scenario = BUGS[bug]
    scenario()
    monkeypatch.setattr(f"{module}.{name}", wrong)
    with pytest.raises(AssertionError):
        scenario()
