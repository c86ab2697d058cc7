"""Registrations, amended registrations, and refusals."""

from __future__ import annotations

import pytest
from tests.kraft.sim.lease.lease_driver import FIRST, SECOND, SESSION_TIMEOUT_MS, LeaseDriver

from kraft.controller.operations.cluster_control import Decision
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH
from kraft.records.lease import RegisterBrokerRecord, UnregisterBrokerRecord
from kraft.sim.lease.active_controller import Append, Reply


@pytest.fixture
def controller():
    return LeaseDriver()


def test_the_epoch_of_a_registration_is_the_offset_of_its_record(controller):
    controller.register(broker=1)
    response = controller.register(broker=2, incarnation_id=SECOND)
    assert response.error_code is ErrorCode.NONE
    assert response.broker_epoch == 1
    assert controller.appended == (RegisterBrokerRecord(2, SECOND, 1, fenced=True),)
    assert controller.registration(2).record_offset == 1


def test_a_new_registration_is_fenced_and_has_no_session(controller):
    controller.register()
    assert controller.registration().fenced
    assert not controller.registration().in_controlled_shutdown
    assert controller.soft().contact_time_ms is None


def test_records_are_appended_before_the_answer_leaves(controller):
    controller.register()
    assert [type(effect) for effect in controller.step.effects] == [Append, Reply]


def test_another_incarnation_is_refused_while_the_session_is_valid(controller):
    controller.unfenced()
    before = controller.state
    response = controller.register(incarnation_id=SECOND)
    assert response.error_code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert response.broker_epoch == NO_BROKER_EPOCH
    assert controller.state == before


def test_the_session_of_a_fenced_broker_protects_its_id_too(controller):
    controller.register()
    controller.heartbeat(want_fence=True)
    response = controller.register(incarnation_id=SECOND)
    assert response.error_code is ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_a_registration_without_a_heartbeat_protects_nothing(controller):
    controller.register()
    response = controller.register(incarnation_id=SECOND)
    assert response.error_code is ErrorCode.NONE
    assert controller.registration().incarnation_id == SECOND


@pytest.mark.parametrize(
    ("silence_ms", "error_code"),
    [
        (SESSION_TIMEOUT_MS, ErrorCode.DUPLICATE_BROKER_REGISTRATION),
        (SESSION_TIMEOUT_MS + 1, ErrorCode.NONE),
    ],
)
def test_a_session_is_valid_up_to_and_including_its_timeout(controller, silence_ms, error_code):
    controller.unfenced()
    controller.now_ms += silence_ms
    assert controller.register(incarnation_id=SECOND).error_code is error_code


def test_a_new_incarnation_gets_a_greater_epoch_and_inherits_nothing(controller):
    controller.leading()
    old = controller.registration()
    controller.now_ms += SESSION_TIMEOUT_MS + 1
    controller.register(incarnation_id=SECOND)
    new = controller.registration()
    assert new.epoch > old.epoch
    assert new.fenced
    assert controller.soft().contact_time_ms is None
    assert not controller.state.image.leads


def test_the_same_incarnation_registers_again_under_the_same_epoch(controller):
    controller.leading()
    controller.now_ms = 4_000
    before = controller.registration()
    response = controller.register()
    after = controller.registration()
    assert controller.step.decision is Decision.AMEND_REGISTRATION
    assert response.broker_epoch == before.epoch == after.epoch
    assert not after.fenced
    assert after.record_offset == controller.log_end - 1 > before.record_offset
    assert controller.state.image.leads == {1}


def test_registering_again_neither_renews_the_session_nor_keeps_the_reported_offset(controller):
    controller.unfenced()
    controller.now_ms = 4_000
    controller.register()
    assert controller.soft().contact_time_ms == 0
    assert controller.soft().metadata_offset == -1


def test_registering_again_in_controlled_shutdown_stays_in_it_but_forgets_the_offset(controller):
    controller.leading()
    controller.heartbeat(want_shut_down=True)
    assert controller.soft().controlled_shutdown_offset == controller.log_end - 1
    controller.register()
    assert controller.registration().in_controlled_shutdown
    assert controller.soft().controlled_shutdown_offset == -1


def test_unregistering_removes_the_registration_whatever_its_state(controller):
    controller.leading()
    epoch = controller.registration().epoch
    controller.unregister()
    assert controller.appended == (UnregisterBrokerRecord(1, epoch),)
    assert not controller.state.image.registrations
    assert not controller.state.image.leads
    assert not controller.state.heartbeats.brokers
    assert controller.heartbeat(epoch=epoch).error_code is ErrorCode.STALE_BROKER_EPOCH


def test_registering_after_unregistering_gives_the_same_process_a_new_epoch(controller):
    controller.unfenced()
    controller.unregister()
    response = controller.register(incarnation_id=FIRST)
    assert response.broker_epoch == controller.log_end - 1
    assert controller.step.decision is Decision.REGISTER_BROKER
