"""KIP-631 on registration, leases and controlled shutdown, one test for each sentence.

Where Kafka as built differs from the text, the test shows what Kafka does and its name says so.
"""

from __future__ import annotations

import pytest
from tests.kips.sentences import sentence
from tests.kraft.controller.cluster_driver import ClusterDriver
from tests.kraft.sim.lease.lease_driver import FIRST, SECOND, SESSION_TIMEOUT_MS, LeaseDriver

from kraft.broker.lease import BrokerLifecycle, BrokerState, start, state_after
from kraft.errors import ErrorCode
from kraft.profile import KAFKA_4_1, KIP_631
from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationRequest
from kraft.sim.lease.active_controller import on_broker_registration_request


@pytest.fixture
def controller():
    return LeaseDriver()


# "The Three Cluster Membership States".


@sentence("631-093")
def test_a_broker_that_crashed_stays_registered_but_fenced(controller):
    controller.unfenced()
    controller.now_ms = SESSION_TIMEOUT_MS + 1
    controller.fence_stale()
    assert controller.registration().fenced


# "Broker Registration".


@sentence("631-101")
def test_the_epoch_is_the_next_available_offset_in_the_log(controller):
    controller.unfenced(2, SECOND)
    log_end = controller.log_end
    assert controller.register().broker_epoch == log_end


@sentence("631-102")
def test_an_epoch_is_higher_than_any_before_for_the_broker_id(controller):
    epochs = []
    for incarnation_id in ("process-a------------A", "process-b------------A"):
        epochs.append(controller.register(incarnation_id=incarnation_id).broker_epoch)
        controller.unregister()
    epochs.append(controller.register(incarnation_id="process-c------------A").broker_epoch)
    assert epochs == sorted(set(epochs))


@sentence("631-104")
def test_resending_a_registration_gets_the_same_successful_result(controller):
    assert controller.register() == controller.register()


# "Handling Broker ID Conflicts".


@sentence("631-110")
def test_one_process_is_registered_for_each_broker_id(controller):
    controller.unfenced()
    refusal = controller.register(incarnation_id=SECOND)
    assert refusal.error_code is ErrorCode.DUPLICATE_BROKER_REGISTRATION


@sentence("631-111")
def test_an_id_can_be_reused_after_a_time_without_contact(controller):
    controller.unfenced()
    controller.now_ms = SESSION_TIMEOUT_MS + 1
    assert controller.register(incarnation_id=SECOND).error_code is ErrorCode.NONE


@sentence("631-113")
def test_a_heartbeat_is_contact_even_if_the_broker_is_fenced(controller):
    controller.register()
    controller.heartbeat(want_fence=True)
    refusal = controller.register(incarnation_id=SECOND)
    assert refusal.error_code is ErrorCode.DUPLICATE_BROKER_REGISTRATION


@sentence("631-112")
def test_differs_a_registration_is_no_contact_in_kafka(controller):
    first, second = (BrokerRegistrationRequest(1, one) for one in (FIRST, SECOND))
    for profile, expected in (
        (KAFKA_4_1, ErrorCode.NONE),
        (KIP_631, ErrorCode.DUPLICATE_BROKER_REGISTRATION),
    ):
        known = on_broker_registration_request(controller.state, first, 0, profile)
        again = on_broker_registration_request(known.state, second, 1, profile)
        assert again.effects[-1].response.error_code is expected
        cluster = ClusterDriver(profile=profile)
        cluster.register(1, 1)
        assert cluster.register(1, 2).error_code is expected


# "Broker Leases".


@sentence("631-121")
def test_a_broker_that_is_not_ready_is_not_unfenced(controller):
    controller.register()
    assert controller.heartbeat(want_fence=True).is_fenced


@sentence("631-124")
def test_a_broker_that_is_ready_but_not_current_is_not_unfenced(controller):
    controller.register(2, SECOND)
    controller.register()
    assert controller.heartbeat(offset=0, want_fence=False).is_fenced


@sentence("631-125")
def test_differs_current_enough_is_having_replayed_the_own_registration(controller):
    controller.register()
    for broker in range(2, 6):
        controller.register(broker, f"process-of-{broker}---------A")
    assert not controller.heartbeat(1, offset=0).is_fenced


@sentence("631-127")
def test_a_lease_that_is_not_renewed_within_its_period_ends_in_fencing(controller):
    controller.unfenced()
    controller.now_ms = SESSION_TIMEOUT_MS
    controller.heartbeat()
    controller.now_ms += SESSION_TIMEOUT_MS
    with pytest.raises(AssertionError, match="FencedOnlyWhenDueProp"):
        controller.fence_stale()
    controller.now_ms += 1
    controller.fence_stale()
    assert controller.registration().fenced


# "Controlled Shutdown" and "BrokerHeartbeat".


@sentence("631-132")
def test_wanting_to_shut_down_moves_the_leaders_off_the_broker(controller):
    controller.leading()
    assert not controller.heartbeat(want_shut_down=True).should_shut_down
    assert not controller.state.image.leads


@sentence("631-133")
def test_a_broker_without_leaderships_is_told_to_shut_down(controller):
    controller.leading()
    controller.heartbeat(want_shut_down=True)
    assert controller.heartbeat(want_shut_down=True).should_shut_down


@sentence("631-308")
def test_differs_a_broker_waits_until_those_who_stay_have_replayed_its_shutdown(controller):
    controller.unfenced(2, SECOND)
    controller.leading()
    controller.heartbeat(want_shut_down=True)
    assert not controller.state.image.leads
    assert not controller.heartbeat(want_shut_down=True).should_shut_down
    controller.heartbeat(2)
    assert controller.heartbeat(want_shut_down=True).should_shut_down


# "The Broker State Machine".


@sentence("631-140")
def test_a_process_goes_from_not_running_to_starting():
    assert start(BrokerLifecycle(1, "a-process------------A")).state.state is BrokerState.STARTING


@sentence("631-143")
def test_having_caught_up_leads_to_recovery():
    current_and_unfenced = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
    assert state_after(BrokerState.STARTING, current_and_unfenced) is BrokerState.RECOVERY


@sentence("631-147")
def test_the_controllers_agreement_to_unfence_leads_to_running():
    unfenced = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
    assert state_after(BrokerState.RECOVERY, unfenced) is BrokerState.RUNNING
    assert state_after(BrokerState.RECOVERY, BrokerHeartbeatResponse()) is BrokerState.RECOVERY
