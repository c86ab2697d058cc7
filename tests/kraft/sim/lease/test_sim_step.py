"""One step of the simulation: what each choice does, and when it is refused."""

from __future__ import annotations

import pytest

from kraft.broker.lease import BrokerState
from kraft.errors import ErrorCode
from kraft.sim.common.step import Done, Refused
from kraft.sim.lease.choices import (
    Crash,
    Deliver,
    DuplicateMessage,
    ElectLeader,
    FailOver,
    FenceStaleBroker,
    LoseMessage,
    ReplayMetadata,
    RequestShutdown,
    RequestTimeout,
    SendHeartbeat,
    SendRegistration,
    StartBroker,
    Tick,
    UnregisterBroker,
)
from kraft.sim.lease.cluster import broker_time_ms, digest, first_cluster, status
from kraft.sim.lease.configuration import kafka_4_1, self_fencing
from kraft.sim.lease.step import replay_choices, step

ONE = "broker-1-process-1---A"
TWO = "broker-1-process-2---A"
REGISTERED = (StartBroker(ONE), SendRegistration(ONE), Deliver(0), Deliver(1))
RUNNING = (
    *REGISTERED, ReplayMetadata(ONE, 0), SendHeartbeat(ONE, want_fence=True), Deliver(2),
    Deliver(3), SendHeartbeat(ONE, want_fence=False), Deliver(4), Deliver(5),
)  # fmt: skip


def play(*choices, configuration=None):
    results = list(replay_choices(configuration or kafka_4_1(2, 2), choices))
    assert all(isinstance(result.outcome, Done) for result in results), results[-1].outcome
    return results[-1].after


def actions(*choices):
    return [result.outcome.action for result in replay_choices(kafka_4_1(2, 2), choices)]


def test_a_broker_comes_up_from_nothing_to_running():
    assert status(play(*RUNNING).processes[ONE]) == "RUNNING"
    assert actions(*RUNNING) == [
        "StartBroker", "SendRegistration", "RegisterBroker", "HandleRegistrationResponse",
        "ReplayMetadata", "SendHeartbeat", "KeepFenced", "HandleHeartbeatResponse",
        "SendHeartbeat", "UnfenceBroker", "HandleHeartbeatResponse",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "choice"),
    [
        ((), StartBroker("no-such-process------A")),
        ((StartBroker(ONE),), StartBroker(ONE)),
        ((StartBroker(ONE), Crash(ONE)), StartBroker(ONE)),
        ((), SendRegistration(ONE)),
        (REGISTERED, SendRegistration(ONE)),
        ((StartBroker(ONE), SendRegistration(ONE)), SendRegistration(ONE)),
        ((StartBroker(ONE),), SendHeartbeat(ONE, want_fence=True)),
        (REGISTERED, SendHeartbeat(ONE, want_fence=False)),
        (RUNNING, SendHeartbeat(ONE, want_fence=True)),
        ((), Deliver(0)),
        (REGISTERED, Deliver(0)),
        ((), LoseMessage(0)),
        ((), DuplicateMessage(0)),
        (REGISTERED[:3], DuplicateMessage(1)),
        ((StartBroker(ONE),), RequestTimeout(ONE)),
        ((StartBroker(ONE),), ReplayMetadata(ONE, 0)),
        (RUNNING, ReplayMetadata(ONE, 0)),
        (RUNNING, ReplayMetadata(ONE, -1)),
        ((), ReplayMetadata(ONE, 0)),
        ((), RequestShutdown(ONE)),
        ((*RUNNING, RequestShutdown(ONE)), RequestShutdown(ONE)),
        ((), Crash(ONE)),
        ((StartBroker(ONE), Crash(ONE)), Crash(ONE)),
        (REGISTERED, FenceStaleBroker(1)),
        ((*RUNNING, Tick(9_000)), FenceStaleBroker(1)),
        ((), UnregisterBroker(1)),
        (REGISTERED, ElectLeader(1)),
        ((*RUNNING, ElectLeader(1)), ElectLeader(1)),
        ((), Tick(-1)),
        ((StartBroker(ONE),), Tick(5, ((ONE, 6),))),
        ((), Tick(5, (("no-such-process------A", 5),))),
    ],
)
def test_an_impossible_choice_is_refused_and_changes_nothing(before, choice):
    cluster = play(*before) if before else first_cluster(kafka_4_1(2, 2))
    result = step(cluster, choice)
    assert isinstance(result.outcome, Refused), result.outcome
    assert result.outcome.reason
    assert result.after is cluster


def test_a_response_that_is_not_awaited_is_lost():
    cluster = play(*REGISTERED[:3], RequestTimeout(ONE))
    assert cluster.network == ()
    cluster = play(*REGISTERED[:2], RequestTimeout(ONE), Deliver(0))
    assert cluster.network == ()
    assert 1 in cluster.controller.image.registrations


def test_the_messages_of_a_crashed_process_stay_in_flight():
    cluster = play(*REGISTERED[:2], Crash(ONE), Deliver(0))
    assert status(cluster.processes[ONE]) == "CRASHED"
    assert cluster.controller.image.registrations[1].incarnation_id == ONE
    assert cluster.network == ()


def test_a_lost_answer_makes_the_process_register_again_under_its_epoch():
    cluster = play(
        *REGISTERED[:3], LoseMessage(1), RequestTimeout(ONE), SendRegistration(ONE), Deliver(2),
        Deliver(3),
    )  # fmt: skip
    assert len(cluster.log) == 2
    assert cluster.processes[ONE].lifecycle.broker_epoch == 0
    assert cluster.controller.image.registrations[1].record_offset == 1


def test_the_response_to_a_duplicate_is_lost():
    cluster = play(*REGISTERED[:2], DuplicateMessage(0), Deliver(1), Deliver(0), Deliver(2))
    assert cluster.network == ()
    assert len(cluster.log) == 2
    assert cluster.processes[ONE].lifecycle.broker_epoch == 0


def test_a_network_that_keeps_order_drops_overtaken_requests():
    again = (StartBroker(ONE), SendRegistration(ONE), RequestTimeout(ONE), SendRegistration(ONE))
    ordered = play(*again, configuration=self_fencing(1, 1))
    assert [envelope.message_id for envelope in ordered.network] == [1]
    reordered = play(*again)
    assert [envelope.is_awaited for envelope in reordered.network] == [False, True]
    result = step(ordered, DuplicateMessage(1))
    assert isinstance(result.outcome, Refused)


def test_the_session_separates_two_processes_of_one_id():
    second = (StartBroker(TWO), SendRegistration(TWO), Deliver(6), Deliver(7))
    cluster = play(*RUNNING, *second)
    assert cluster.controller.image.registrations[1].incarnation_id == ONE
    assert cluster.processes[TWO].lifecycle.broker_epoch == -1
    displaced = play(*RUNNING, Tick(9_001), *second)
    assert displaced.controller.image.registrations[1].incarnation_id == TWO
    heartbeat = step(displaced, SendHeartbeat(ONE, want_fence=False)).after
    answer = step(heartbeat, Deliver(8)).after.network[0].payload
    assert answer.error_code is ErrorCode.STALE_BROKER_EPOCH


def test_a_failover_keeps_only_the_log():
    before = play(*RUNNING, ElectLeader(1), Tick(9_001))
    after = step(before, FailOver()).after
    image = after.controller.image
    assert image.registrations == before.controller.image.registrations
    assert image.leads == {1}
    assert image.log_end == len(after.log) == len(before.log) + 1
    assert isinstance(step(after, FenceStaleBroker(1)).outcome, Refused)


def test_a_silent_broker_is_fenced_without_knowing_it():
    cluster = play(*RUNNING, ElectLeader(1), Tick(9_001), FenceStaleBroker(1))
    assert cluster.controller.image.registrations[1].fenced
    assert not cluster.controller.image.leads
    assert cluster.processes[ONE].lifecycle.state is BrokerState.RUNNING


def test_a_process_measures_time_by_its_own_clock_since_it_started():
    configuration = self_fencing(1, 1)
    cluster = play(
        Tick(500), StartBroker(ONE), Tick(100, ((ONE, 600),)), Tick(50),
        configuration=configuration,
    )  # fmt: skip
    process = cluster.processes[ONE]
    assert broker_time_ms(cluster, process) == 650
    assert process.clock_lead_ms == 500
    too_far = Tick(0, ((ONE, configuration.max_skew_ms - 499),))
    assert isinstance(step(cluster, too_far).outcome, Refused)


def test_a_process_that_ended_may_be_listed_with_the_controllers_time_and_stays_ended():
    ended = play(StartBroker(ONE), Crash(ONE), Tick(5, ((ONE, 5), (TWO, 5))))
    assert status(ended.processes[ONE]) == "CRASHED"
    assert status(ended.processes[TWO]) == "NOT_RUNNING"


def test_only_equal_clusters_have_equal_digests():
    assert digest(play(*RUNNING)) == digest(play(*RUNNING))
    assert digest(play(*RUNNING)) != digest(play(*RUNNING, Tick(1)))
