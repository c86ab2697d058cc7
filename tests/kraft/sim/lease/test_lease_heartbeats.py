"""Heartbeats unfence, fence and stop brokers; sessions run out and survive failovers."""

from __future__ import annotations

import pytest
from tests.kraft.sim.lease.lease_driver import SECOND, SESSION_TIMEOUT_MS, LeaseDriver

from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.heartbeats import lowest_active_offset, overdue_brokers
from kraft.errors import ErrorCode
from kraft.ids import Uuid
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
)

THIRD = Uuid("third-process-of-themA")


@pytest.fixture
def controller():
    return LeaseDriver()


def answers(response):
    return response.is_caught_up, response.is_fenced, response.should_shut_down


def test_a_broker_that_replayed_its_registration_is_unfenced(controller):
    controller.register()
    response = controller.heartbeat(offset=0)
    assert answers(response) == (True, False, False)
    assert controller.appended == (BrokerRegistrationChangeRecord(1, 0, fenced=UNFENCE),)
    assert not controller.registration().fenced


def test_a_broker_that_did_not_replay_its_registration_stays_fenced(controller):
    controller.register(2, SECOND)
    controller.register(1)
    assert answers(controller.heartbeat(1, offset=0)) == (False, True, False)
    assert controller.appended == ()


def test_a_broker_that_wants_to_be_fenced_stays_fenced_and_has_a_session(controller):
    controller.register()
    controller.now_ms = 500
    assert answers(controller.heartbeat(want_fence=True)) == (True, True, False)
    assert controller.appended == ()
    assert controller.soft().contact_time_ms == 500


def test_a_fenced_broker_may_shut_down_at_once_and_is_fenced_again(controller):
    controller.register()
    assert answers(controller.heartbeat(want_shut_down=True)) == (True, True, True)
    assert controller.appended == (BrokerRegistrationChangeRecord(1, 0, fenced=FENCE),)


def test_an_unfenced_broker_that_wants_to_be_fenced_is_fenced(controller):
    controller.leading()
    assert answers(controller.heartbeat(want_fence=True)) == (True, True, False)
    assert controller.step.decision is Decision.FENCE_ON_REQUEST
    assert controller.registration().fenced
    assert not controller.state.image.leads


@pytest.mark.parametrize("want_fence", [True, False])
def test_an_unfenced_broker_that_leads_nothing_may_shut_down_at_once(controller, want_fence):
    controller.unfenced()
    response = controller.heartbeat(want_fence=want_fence, want_shut_down=True)
    assert answers(response) == (True, True, True)
    assert controller.registration().fenced


def test_a_leader_that_wants_to_shut_down_loses_its_leaderships_first(controller):
    controller.leading()
    response = controller.heartbeat(want_shut_down=True)
    assert answers(response) == (True, False, False)
    change = BrokerRegistrationChangeRecord(1, 0, in_controlled_shutdown=ENTER_CONTROLLED_SHUTDOWN)
    assert controller.appended == (change,)
    assert not controller.state.image.leads
    assert controller.registration().in_controlled_shutdown
    assert controller.soft().controlled_shutdown_offset == controller.log_end - 1


def leaving_while_another_stays(controller, *, others_offset):
    controller.unfenced(2, SECOND)
    controller.leading(1)
    controller.heartbeat(1, want_shut_down=True)
    controller.heartbeat(2, offset=controller.log_end - 1 + others_offset)


def test_a_broker_leaves_once_the_others_replayed_its_shutdown(controller):
    leaving_while_another_stays(controller, others_offset=0)
    assert controller.heartbeat(1, want_shut_down=True).should_shut_down


def test_a_broker_waits_for_one_that_lags_behind_its_shutdown(controller):
    leaving_while_another_stays(controller, others_offset=-1)
    response = controller.heartbeat(1, want_shut_down=True)
    assert answers(response) == (True, False, False)
    assert controller.step.decision is Decision.CONTINUE_CONTROLLED_SHUTDOWN
    assert controller.appended == ()


def test_a_lagging_broker_delays_no_shutdown_once_fenced(controller):
    leaving_while_another_stays(controller, others_offset=-1)
    controller.heartbeat(2, want_fence=True)
    assert controller.heartbeat(1, want_shut_down=True).should_shut_down


def test_the_last_broker_leaves_at_once(controller):
    controller.leading()
    controller.heartbeat(want_shut_down=True)
    assert lowest_active_offset(controller.state.image, controller.state.heartbeats) is None
    assert controller.heartbeat(want_shut_down=True).should_shut_down


def test_the_offset_of_a_controlled_shutdown_is_set_once(controller):
    leaving_while_another_stays(controller, others_offset=-1)
    first = controller.soft(1).controlled_shutdown_offset
    controller.register(3, THIRD)
    controller.heartbeat(1, want_shut_down=True)
    assert controller.soft(1).controlled_shutdown_offset == first


def test_a_controlled_shutdown_ignores_what_the_heartbeat_wants(controller):
    leaving_while_another_stays(controller, others_offset=-1)
    response = controller.heartbeat(1, want_fence=True, want_shut_down=False)
    assert answers(response) == (True, False, False)


def test_fencing_ends_a_controlled_shutdown_and_the_next_heartbeat_may_stop_the_broker(controller):
    leaving_while_another_stays(controller, others_offset=-1)
    controller.now_ms += SESSION_TIMEOUT_MS + 1
    controller.fence_stale(1)
    assert controller.soft(1).controlled_shutdown_offset == -1
    assert controller.registration(1).in_controlled_shutdown
    assert controller.heartbeat(1, want_shut_down=True).should_shut_down


@pytest.mark.parametrize("difference", [-1, 1])
def test_a_heartbeat_of_another_epoch_is_refused_and_changes_nothing(controller, difference):
    controller.register(2, SECOND)
    controller.unfenced(1)
    controller.now_ms = 4_000
    before = controller.state
    response = controller.heartbeat(1, epoch=controller.registration(1).epoch + difference)
    assert response.error_code is ErrorCode.STALE_BROKER_EPOCH
    assert answers(response) == (False, True, False)
    assert controller.state == before


def test_a_heartbeat_before_any_registration_is_refused(controller):
    assert controller.heartbeat(epoch=0).error_code is ErrorCode.STALE_BROKER_EPOCH
    assert controller.appended == ()


def test_silent_brokers_are_overdue_after_the_timeout_and_fenced_one_at_a_time(controller):
    controller.leading(1)
    controller.unfenced(2, SECOND)
    controller.now_ms = SESSION_TIMEOUT_MS
    assert overdue_brokers(controller.state.heartbeats, controller.now_ms) == ()
    controller.now_ms += 1
    assert overdue_brokers(controller.state.heartbeats, controller.now_ms) == (1, 2)
    controller.fence_stale(2)
    assert overdue_brokers(controller.state.heartbeats, controller.now_ms) == (1,)
    assert controller.registration(2).fenced
    assert controller.soft(2).contact_time_ms is None
    assert controller.state.image.leads == {1}


def test_a_fenced_broker_that_falls_silent_is_fenced_again_and_its_session_ends(controller):
    controller.register()
    controller.heartbeat(want_fence=True)
    controller.now_ms = SESSION_TIMEOUT_MS + 1
    controller.fence_stale()
    assert controller.appended == (BrokerRegistrationChangeRecord(1, 0, fenced=FENCE),)
    assert controller.soft().contact_time_ms is None


def test_a_late_heartbeat_saves_a_broker_that_is_not_fenced_yet(controller):
    controller.unfenced()
    controller.now_ms = 2 * SESSION_TIMEOUT_MS
    assert not controller.heartbeat().is_fenced
    assert overdue_brokers(controller.state.heartbeats, controller.now_ms) == ()


def test_a_record_about_a_broker_makes_the_controller_forget_its_offset(controller):
    controller.unfenced()
    assert controller.soft().metadata_offset == -1
    controller.heartbeat(offset=1)
    assert controller.soft().metadata_offset == 1


def test_a_failover_gives_each_unfenced_broker_a_whole_session_and_fenced_ones_none(controller):
    controller.unfenced(1)
    controller.register(2, SECOND)
    controller.heartbeat(2, want_fence=True)
    controller.now_ms = SESSION_TIMEOUT_MS + 1
    controller.fail_over()
    assert controller.soft(1).contact_time_ms == SESSION_TIMEOUT_MS + 1
    assert controller.soft(2).contact_time_ms is None
    assert overdue_brokers(controller.state.heartbeats, controller.now_ms) == ()


def test_a_new_controller_does_not_know_which_brokers_were_shutting_down(controller):
    leaving_while_another_stays(controller, others_offset=-1)
    controller.fail_over()
    assert controller.registration(1).in_controlled_shutdown
    assert controller.heartbeat(1, want_shut_down=True).should_shut_down
