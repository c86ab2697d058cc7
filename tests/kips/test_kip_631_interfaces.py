"""KIP-631 on configurations, errors, and the requests of brokers."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from tests.kips.sentences import sentence
from tests.kraft.raft.replicas import (
    CHANCE,
    NOW,
    TIMEOUTS,
    Replica,
    candidate,
    end,
    follower,
    key,
    replica,
    unattached,
    vote,
    voted_answer,
)
from tests.kraft.sim.lease.lease_driver import SECOND, LeaseDriver

import kraft.rpc
from kraft.broker.lease import BrokerLifecycle, BrokerState, replay_metadata, send_heartbeat
from kraft.broker.settings import BrokerSettings
from kraft.broker.settings import with_profile as broker_settings
from kraft.controller.operations.defaults import Defaults, with_profile
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH, BrokerEpoch, Offset
from kraft.profile import KAFKA_4_1, KIP_631
from kraft.raft import connections
from kraft.raft.configuration import MILLISECOND, Timeouts
from kraft.raft.roles import Candidate, Prospective
from kraft.raft.turn import Turn
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    UnregisterBrokerRequest,
)
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.kip631_names import api_key_of, error_name_of
from kraft.rpc.requests import RaftRequest
from kraft.rpc.vote import VoteRequest
from kraft.sim.lease.configuration import kafka_4_1, kip_631


def named(kind):
    """Return the names of a message's fields."""
    return [field.name for field in fields(kind)]


def failing(times):
    """Return how long a node is left alone after each of so many failures in a row."""
    turn, waits = Turn.begin(replica(unattached()), NOW, CHANCE), []
    for _ in range(times):
        connections.send(turn, 2, vote())
        number = turn.connections[2].correlation_id
        connections.received(turn, 2, number, ok=False)
        until = connections.ready_at(turn.step().state, 2)
        waits.append(until - turn.now)
        turn = Turn.begin(turn.step().state, until, CHANCE)
    return waits


# "Configurations".


@sentence("631-238")
def test_a_process_tries_for_a_minute_to_register():
    assert KAFKA_4_1.registration_timeout_ms == KIP_631.registration_timeout_ms == 60_000
    assert BrokerSettings("c", ()).initial_broker_registration_timeout_ms == 60_000


@sentence("631-239")
def test_differs_heartbeats_are_two_seconds_apart():
    assert (KIP_631.heartbeat_interval_ms, KAFKA_4_1.heartbeat_interval_ms) == (3_000, 2_000)
    assert kip_631().heartbeat_interval_ms == 3_000
    assert kafka_4_1().heartbeat_interval_ms == 2_000
    settings = BrokerSettings("c", ())
    assert settings.broker_heartbeat_interval_ms == 2_000
    assert broker_settings(settings, KIP_631).broker_heartbeat_interval_ms == 3_000


@sentence("631-240")
def test_differs_a_session_is_nine_seconds_long():
    assert (KIP_631.session_timeout_ms, KAFKA_4_1.session_timeout_ms) == (18_000, 9_000)
    assert kip_631().session_timeout_ms == 18_000
    assert kafka_4_1().session_timeout_ms == 9_000
    assert BrokerSettings("c", ()).broker_session_timeout_ms == 9_000
    assert broker_settings(BrokerSettings("c", ()), KIP_631).broker_session_timeout_ms == 18_000
    assert Defaults().broker_session_timeout_ms == 9_000
    assert with_profile(Defaults(), KIP_631).broker_session_timeout_ms == 18_000


@sentence("631-242")
def test_a_follower_that_fetches_in_vain_for_the_fetch_timeout_asks_for_votes():
    one = Replica(replica(follower(fetch_deadline=NOW + TIMEOUTS.fetch)))
    one.wait(TIMEOUTS.fetch - 1)
    one.settle()
    assert not one.sent(VoteRequest)
    one.wait(1)
    one.settle()
    assert isinstance(one.role, Prospective)
    assert one.sent(VoteRequest)


@sentence("631-243")
def test_a_candidate_without_a_majority_for_the_election_timeout_begins_anew():
    one = Replica(replica(candidate())).asks(2, 3)
    one.wait(TIMEOUTS.election - 1)
    one.settle()
    assert isinstance(one.role, Candidate)
    one.wait(1)
    one.settle()
    assert isinstance(one.role, Prospective)


@sentence("631-244")
def test_differs_who_lost_waits_for_its_election_timeout_and_the_most_is_a_successors():
    lost = Replica(replica(candidate())).asks(2, 3)
    for node in (2, 3):
        lost.answer(node, voted_answer(granted=False))
    assert lost.next_deadline() == NOW + TIMEOUTS.election
    successor = Replica(replica(follower(leader=2)))
    successor.request(end(successors=(key(3), key(1))))
    waits = successor.role.fetch_deadline - successor.now
    assert 0 < waits <= TIMEOUTS.election_backoff_maximum


@sentence("631-245")
def test_a_request_without_an_answer_has_failed_after_the_request_timeout():
    turn = Turn.begin(replica(unattached()), NOW, CHANCE)
    connections.send(turn, 2, vote())
    state = turn.step().state
    early = Turn.begin(state, NOW + TIMEOUTS.request - 1, CHANCE)
    late = Turn.begin(state, NOW + TIMEOUTS.request, CHANCE)
    assert not connections.expire_first(early)
    assert connections.expire_first(late)
    assert not connections.received(late, 2, 0, ok=True)


@sentence("631-246")
def test_a_node_is_asked_again_after_the_retry_backoff():
    assert failing(1) == [TIMEOUTS.retry_backoff]
    assert Timeouts().retry_backoff == 20 * MILLISECOND


@sentence("631-247")
def test_differs_the_wait_before_asking_again_does_not_grow():
    assert failing(5) == [TIMEOUTS.retry_backoff] * 5
    assert [name for name in named(Timeouts) if name.startswith("retry")] == ["retry_backoff"]


# "New Error Codes".


@sentence("631-260")
def test_an_id_that_is_in_use_has_an_error_of_its_own():
    controller = LeaseDriver()
    controller.unfenced()
    refusal = controller.register(incarnation_id=SECOND)
    assert refusal.error_code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert refusal.error_code.value == 101


@sentence("631-261")
def test_differs_the_wrong_cluster_id_is_called_inconsistent():
    code = ErrorCode(104)
    assert error_name_of(code) == "INCONSISTENT_CLUSTER_ID"
    assert error_name_of(code, KIP_631) == "INVALID_CLUSTER_ID"
    assert error_name_of(ErrorCode.NONE, KIP_631) == "NONE"


# "RPCs".


@sentence("631-270")
def test_a_follower_fetches_what_its_leader_has():
    one = Replica(replica(follower(leader=2)))
    one.settle()
    assert [node for node, _ in one.sent(FetchRequest)] == [2]
    assert FetchRequest in RaftRequest.__args__


def requests():
    """Return the words of the modules of requests, as one text."""
    folder = Path(kraft.rpc.__file__).parent
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.py")))


@sentence("631-271")
def test_no_controller_sends_metadata_to_brokers():
    assert "class BrokerHeartbeatRequest" in requests()
    for name in ("LeaderAndIsr", "UpdateMetadata", "StopReplica"):
        assert f"class {name}" not in requests()


@sentence("631-273")
def test_there_is_no_controlled_shutdown_besides_heartbeats():
    assert "class ControlledShutdown" not in requests()
    assert "want_shut_down" in named(BrokerHeartbeatRequest)


@sentence("631-291")
def test_differs_a_registration_is_request_sixty_two():
    assert api_key_of(BrokerRegistrationRequest) == 62
    assert api_key_of(BrokerRegistrationRequest, KIP_631) == 57


@sentence("631-294")
def test_a_registration_is_answered_with_an_epoch_or_minus_one():
    refusal = BrokerRegistrationResponse(ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    assert refusal.broker_epoch == NO_BROKER_EPOCH == -1
    assert named(BrokerRegistrationResponse) == ["error_code", "broker_epoch"]


@sentence("631-302")
def test_differs_a_heartbeat_is_request_sixty_three():
    assert api_key_of(BrokerHeartbeatRequest) == 63
    assert api_key_of(BrokerHeartbeatRequest, KIP_631) == 58


@sentence("631-303")
def test_a_heartbeat_has_the_fields_of_the_text():
    assert named(BrokerHeartbeatRequest)[:5] == [
        "broker_id",
        "broker_epoch",
        "current_metadata_offset",
        "want_fence",
        "want_shut_down",
    ]


@sentence("631-304")
def test_differs_a_heartbeat_tells_the_last_offset_itself():
    lifecycle = BrokerLifecycle(1, SECOND, state=BrokerState.RUNNING, broker_epoch=BrokerEpoch(0))
    reached = replay_metadata(lifecycle, Offset(5)).state
    (send,) = send_heartbeat(reached, want_fence=False, now_ms=0).effects
    assert send.request.current_metadata_offset == 5


@sentence("631-305")
def test_the_answer_to_a_heartbeat_has_the_fields_of_the_text():
    assert named(BrokerHeartbeatResponse) == [
        "error_code",
        "is_caught_up",
        "is_fenced",
        "should_shut_down",
    ]


@sentence("631-306")
@pytest.mark.parametrize(
    ("want_fence", "offset", "is_fenced"),
    [(True, 9, True), (False, 0, True), (True, 0, True), (False, 9, False)],
)
def test_a_broker_is_unfenced_if_it_is_ready_and_current(want_fence, offset, is_fenced):
    controller = LeaseDriver()
    controller.register(2, SECOND)
    controller.register()
    assert controller.heartbeat(want_fence=want_fence, offset=offset).is_fenced is is_fenced


@sentence("631-307")
def test_differs_the_request_wants_what_the_answer_permits():
    controller = LeaseDriver()
    controller.leading()
    controller.heartbeat(want_shut_down=True)
    assert not controller.state.image.leads
    assert "should_shut_down" not in named(BrokerHeartbeatRequest)
    assert "controlled_shutdown_ok" not in named(BrokerHeartbeatResponse)


@sentence("631-322")
def test_differs_an_unregistration_is_request_sixty_four():
    assert api_key_of(UnregisterBrokerRequest) == 64
    assert api_key_of(UnregisterBrokerRequest, KIP_631) == 59


@sentence("631-323")
def test_an_unregistration_names_a_broker():
    assert named(UnregisterBrokerRequest) == ["broker_id"]
