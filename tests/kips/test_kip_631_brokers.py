"""KIP-631 on the members of a cluster and the states of a broker process.

`test_kip_631_lease` has what a controller does with registrations and heartbeats.
"""

from __future__ import annotations

from dataclasses import fields

import pytest
from msgspec.structs import replace as with_fields
from tests.kips.sentences import sentence
from tests.kraft.controller.partitions import DEFAULTS, KEY, TOPIC, TOPIC_ID, image_of
from tests.kraft.raft.replicas import EPOCH, TIMEOUTS, Replica, log_of
from tests.kraft.sim.lease.lease_driver import FIRST, SECOND, LeaseDriver

from kraft.broker.lease import (
    BrokerLifecycle,
    BrokerState,
    can_send_heartbeat,
    can_send_registration,
    is_live,
    is_serving,
    on_heartbeat_response,
    on_registration_response,
    request_shutdown,
    send_heartbeat,
    send_registration,
    start,
    state_after,
)
from kraft.controller.operations.leader_eligibility import is_active
from kraft.controller.operations.leadership import fence_broker, unregister_broker
from kraft.controller.operations.reassignments import alter_partition_reassignments
from kraft.controller.operations.topics import create_topics
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, PartitionId, TopicId
from kraft.image.entries import BrokerRegistration
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.lease import Endpoint, FeatureRange, RegisterBrokerRecord
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kraft.rpc.topics import CreatableTopic, CreateTopicsRequest

LISTENER = Endpoint("INTERNAL", "host-1", 9092)
THREE = (1, 2, 3)


def registered(**more):
    """Return an image with broker 1, which has all that a registration can have."""
    record = RegisterBrokerRecord(
        1, FIRST, 7, (LISTENER,), (FeatureRange("metadata.version", 1, 27),), "rack-a",
        log_dirs=("D" * 21 + "A",), **more,
    )  # fmt: skip
    return replay(EMPTY_IMAGE, [record])


def process(state=BrokerState.STARTING, **more):
    """Return a process of broker 1 that is registered and waits for no answer."""
    return BrokerLifecycle(1, FIRST, state=state, broker_epoch=BrokerEpoch(7), **more)


def heard(lifecycle, *, want_fence, **answer):
    """Return the state of a process after the answer to its next heartbeat."""
    sent = send_heartbeat(lifecycle, want_fence=want_fence, now_ms=0)
    (send,) = sent.effects
    response = BrokerHeartbeatResponse(**answer)
    return on_heartbeat_response(sent.state, send.correlation_id, response).state


# "The Three Cluster Membership States".


@sentence("631-090")
def test_a_broker_is_unregistered_or_fenced_or_active():
    active = registered(fenced=False)
    assert not is_active(EMPTY_IMAGE, 1)
    assert not is_active(registered(), 1)
    assert registered().brokers[1].fenced
    assert is_active(active, 1)


@sentence("631-091")
def test_of_an_unregistered_broker_nothing_is_known():
    image = registered()
    gone = replay(image, unregister_broker(image, DEFAULTS, 1))
    assert gone == EMPTY_IMAGE


@sentence("631-092")
@pytest.mark.parametrize("fenced", [True, False])
def test_a_registered_broker_can_be_found_fenced_or_not(fenced):
    assert registered(fenced=fenced).brokers[1].endpoints == (LISTENER,)


@sentence("631-095")
def test_fencing_leaves_all_else_of_a_registration():
    image = registered(fenced=False)
    fenced = replay(image, fence_broker(image, DEFAULTS, 1)).brokers[1]
    assert fenced == with_fields(image.brokers[1], fenced=True)


@sentence("631-096")
def test_a_topic_may_have_a_replica_on_a_fenced_broker():
    image = image_of((1,), brokers=THREE, fenced=(2,))
    request = CreateTopicsRequest((CreatableTopic("bar", 1, 3),))
    result = create_topics(image, DEFAULTS, request, (TopicId("N" * 21 + "A"),))
    assert result.response.topics[0].error_code is ErrorCode.NONE
    assert set(result.records[-1].replicas) == set(THREE)


@sentence("631-097")
def test_a_broker_that_is_down_keeps_its_rack_and_may_be_a_target():
    image = image_of((1, 2), fenced=(3,))
    assert "rack" in BrokerRegistration.__struct_fields__
    assert replay(registered(), []).brokers[1].rack == "rack-a"
    request = AlterPartitionReassignmentsRequest((ReassignablePartition(TOPIC, 0, (1, 3)),))
    result = alter_partition_reassignments(image, DEFAULTS, request)
    assert result.response.responses[0].error_code is ErrorCode.NONE
    assert replay(image, result.records).partitions[KEY].adding_replicas == (3,)


# "Broker Registration".


@sentence("631-100")
def test_a_process_registers_itself_by_a_request():
    lifecycle = start(BrokerLifecycle(1, FIRST)).state
    assert can_send_registration(lifecycle)
    sent = send_registration(lifecycle, now_ms=0)
    assert [effect.request for effect in sent.effects] == [BrokerRegistrationRequest(1, FIRST)]
    answer = BrokerRegistrationResponse(broker_epoch=BrokerEpoch(7))
    after = on_registration_response(sent.state, sent.effects[0].correlation_id, answer).state
    assert after.broker_epoch == 7


@sentence("631-103")
def test_two_processes_of_a_broker_differ_by_their_incarnation_ids():
    controller = LeaseDriver()
    first = controller.register(incarnation_id=FIRST)
    assert controller.register(incarnation_id=FIRST).broker_epoch == first.broker_epoch
    assert controller.register(incarnation_id=SECOND).broker_epoch != first.broker_epoch


# "Broker Leases".


@sentence("631-120")
def test_a_broker_that_registers_is_fenced():
    controller = LeaseDriver()
    controller.register()
    assert controller.registration().fenced


@sentence("631-122")
def test_differs_want_fence_says_that_a_broker_is_not_ready():
    assert can_send_heartbeat(process(), want_fence=True)
    assert not can_send_heartbeat(process(), want_fence=False)
    names = {field.name for field in fields(BrokerHeartbeatRequest)}
    assert "want_fence" in names
    assert "should_fence" not in names


@sentence("631-123")
def test_a_broker_that_is_ready_does_not_want_the_fence():
    for state in (BrokerState.RUNNING, BrokerState.PENDING_CONTROLLED_SHUTDOWN):
        assert can_send_heartbeat(process(state), want_fence=False)
        assert not can_send_heartbeat(process(state), want_fence=True)


# "Controlled Shutdown".


@sentence("631-130")
def test_a_broker_asks_for_its_shutdown_by_a_heartbeat():
    stopping = request_shutdown(process(BrokerState.RUNNING))
    assert stopping.effects == ()
    (send,) = send_heartbeat(stopping.state, want_fence=False, now_ms=0).effects
    assert isinstance(send.request, BrokerHeartbeatRequest)


@sentence("631-131")
def test_a_heartbeat_wants_the_shutdown_once_the_process_was_told_to_stop():
    def wants(state):
        sent = send_heartbeat(process(state), want_fence=False, now_ms=0)
        return sent.effects[0].request.want_shut_down

    assert not wants(BrokerState.RUNNING)
    assert wants(BrokerState.PENDING_CONTROLLED_SHUTDOWN)


@sentence("631-134")
def test_a_broker_goes_when_it_should_and_not_before():
    pending = process(BrokerState.PENDING_CONTROLLED_SHUTDOWN)
    waits = heard(pending, want_fence=False, is_fenced=False)
    assert waits.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    goes = heard(pending, want_fence=False, should_shut_down=True)
    assert goes.state is BrokerState.SHUTTING_DOWN


# "The Broker State Machine".


@sentence("631-141")
def test_a_process_is_starting_until_it_has_caught_up():
    behind = BrokerHeartbeatResponse(is_caught_up=False)
    assert state_after(BrokerState.STARTING, behind) is BrokerState.STARTING


@sentence("631-142")
def test_an_observer_fetches_from_the_leader_of_the_quorum():
    observer = Replica.booted(node=None, voters=(), bootstrap_servers=(2, 3), log=log_of())
    observer.settle()
    ((asked, _),) = observer.sent(FetchRequest)
    observer.answer(asked, FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, 5 - asked))
    observer.wait(TIMEOUTS.retry_backoff)
    observer.settle()
    assert [node for node, _ in observer.sent(FetchRequest)] == [5 - asked]


@sentence("631-146")
def test_a_process_in_recovery_asks_to_be_unfenced_when_it_is_ready():
    recovering = process(BrokerState.RECOVERY)
    assert can_send_heartbeat(recovering, want_fence=True)
    (send,) = send_heartbeat(recovering, want_fence=False, now_ms=0).effects
    assert not send.request.want_fence


@sentence("631-148")
def test_a_running_process_serves_and_no_other_does():
    serving = {state for state in BrokerState if is_serving(process(state), 0)}
    assert serving == {BrokerState.RUNNING}


@sentence("631-149")
def test_a_running_process_that_is_told_to_stop_is_pending():
    stopping = request_shutdown(process(BrokerState.RUNNING)).state
    assert stopping.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    assert is_live(stopping)


@sentence("631-150")
def test_a_process_that_has_shut_down_runs_no_more():
    pending = process(BrokerState.PENDING_CONTROLLED_SHUTDOWN)
    gone = heard(pending, want_fence=False, should_shut_down=True)
    assert not is_live(gone)
    assert not can_send_heartbeat(gone, want_fence=False)


# "Changes in the Broker State Machine".


@sentence("631-151")
def test_the_states_have_the_numbers_of_the_metric():
    assert [state.value for state in BrokerState] == [0, 1, 2, 3, 6, 7]


@sentence("631-152")
def test_there_are_the_six_states_of_the_text():
    assert [state.name for state in BrokerState] == [
        "NOT_RUNNING",
        "STARTING",
        "RECOVERY",
        "RUNNING",
        "PENDING_CONTROLLED_SHUTDOWN",
        "SHUTTING_DOWN",
    ]


@sentence("631-153")
def test_what_was_recovering_from_unclean_shutdown_is_called_recovery():
    assert BrokerState(2).name == "RECOVERY"


@sentence("631-154")
def test_no_answer_leads_past_recovery():
    both = (False, True)
    answers = [
        BrokerHeartbeatResponse(is_caught_up=current, is_fenced=fenced, should_shut_down=leave)
        for current in both
        for fenced in both
        for leave in both
    ]
    after_start = {state_after(BrokerState.STARTING, answer) for answer in answers}
    assert after_start == {BrokerState.STARTING, BrokerState.RECOVERY}
    before_running = {
        state
        for state in BrokerState
        for answer in answers
        if state_after(state, answer) is BrokerState.RUNNING is not state
    }
    assert before_running == {BrokerState.RECOVERY}


# "BrokerHeartbeat".


@sentence("631-301")
def test_a_broker_may_send_its_next_heartbeat_once_the_last_is_answered():
    sent = send_heartbeat(process(BrokerState.RUNNING), want_fence=False, now_ms=0)
    assert not can_send_heartbeat(sent.state, want_fence=False)
    again = heard(process(BrokerState.RUNNING), want_fence=False, is_fenced=False)
    assert can_send_heartbeat(again, want_fence=False)


@sentence("631-321")
def test_who_is_unregistered_leaves_its_partitions_and_the_cluster():
    image = image_of((1, 2, 3))
    after = replay(image, unregister_broker(image, DEFAULTS, 1))
    assert 1 not in after.brokers
    partition = after.partitions[TOPIC_ID, PartitionId(0)]
    assert (partition.leader, partition.isr) == (2, (2, 3))
