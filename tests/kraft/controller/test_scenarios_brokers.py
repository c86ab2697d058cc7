"""The scenarios of Kafka's controller about brokers and records that no other file has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.controller.cluster_driver import ClusterDriver, incarnation
from tests.kraft.controller.controller_runs import CONFIGURATION, VERSION, Player, reason, replies
from tests.kraft.controller.partitions import directory

from kraft.controller.effects import Append, Resign
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.operations.heartbeats import Heartbeats, next_broker_state, touch
from kraft.controller.operations.lease_view import WrittenLease
from kraft.controller.operations.topics import create_topics
from kraft.controller.state import first_state, is_active
from kraft.errors import ErrorCode
from kraft.ids import TopicId
from kraft.records.cluster import ProducerIdsRecord, RegisterControllerRecord
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
)
from kraft.rpc import BrokerHeartbeatRequest
from kraft.rpc.topics import CreatableTopic, CreateTopicsRequest

BROKER = RegisterBrokerRecord(4, incarnation(4), 3, fenced=False, log_dirs=(directory(4),))


def with_broker(*records):
    """Return an active controller of a cluster with broker 4 and further records."""
    bootstrap = (VERSION, BROKER, *records)
    player = Player(first_state(replace(CONFIGURATION, bootstrap=bootstrap), 0), OPERATIONS)
    player.lead()
    player.commit_all()
    return player


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (FenceBrokerRecord(4, 5), "registered with epoch 3, not 5"),
        (FenceBrokerRecord(9, 3), "broker 9 is not registered"),
        (BrokerRegistrationChangeRecord(4, 3, fenced=5), "no meaning for fenced 5"),
    ],
    ids=["epoch", "unknown", "meaning"],
)
def test_an_impossible_record_about_a_broker_is_fatal_in_replay(record, said):
    player = with_broker()
    player.follow(2)
    player.write(2, (record,))
    told = reason(player.commit_all())
    assert told.startswith(f"offset {player.log_end - 1}: ")
    assert said in told


def test_an_unregistered_broker_stays_a_replica_but_gets_no_new_ones():
    driver = ClusterDriver().unfenced(1, 2)
    driver.create((1, 2))
    by_hand = CreateTopicsRequest((CreatableTopic("bar", assignments=((0, (2, 1)),)),))
    new = (TopicId("N" * 21 + "A"),)
    before = create_topics(driver.written.image, driver.defaults, by_hand, new)
    assert before.response.topics[0].error_code is ErrorCode.NONE
    driver.unregister(1)
    assert driver.partition().replicas == (1, 2)
    after = create_topics(driver.written.image, driver.defaults, by_hand, new)
    assert after.response.topics[0].error_code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert after.records == ()


def test_a_heartbeat_before_any_registration_does_not_make_the_controller_step_back():
    player = with_broker()
    request = BrokerHeartbeatRequest(9, 0, 0, want_fence=False, want_shut_down=False)
    effects = player.ask(request)
    assert replies(effects) == [("t", ErrorCode.STALE_BROKER_EPOCH)]
    assert not any(isinstance(one, Append | Resign) for one in effects)
    assert is_active(player.state)


def test_the_rules_of_the_lease_refuse_an_unregistered_broker():
    driver = ClusterDriver()
    request = BrokerHeartbeatRequest(9, 0, 0, want_fence=False, want_shut_down=False)
    with pytest.raises(KeyError):
        next_broker_state(WrittenLease(driver.written), driver.heartbeats, request)
    with pytest.raises(AssertionError, match="broker 9"):
        touch(Heartbeats(9_000), 9, 0, 0)


def test_a_request_of_too_many_records_is_refused_without_a_step_back():
    player = with_broker()
    effects = player.ask(CreateTopicsRequest((CreatableTopic("bar", 10_000, 1),)))
    assert replies(effects) == [("t", ErrorCode.POLICY_VIOLATION)]
    assert not any(isinstance(one, Append | Resign) for one in effects)
    assert is_active(player.state)
    player.ask(CreateTopicsRequest((CreatableTopic("bar", 2, 1),)))
    ((_, response),) = replies(player.commit_all())
    assert response.topics[0].error_code is ErrorCode.NONE


def test_controllers_missing_from_a_snapshot_are_dropped():
    registered = RegisterControllerRecord(3, incarnation(3), False, (), ())
    player = with_broker(registered)
    player.follow(2)
    assert list(player.image.controllers) == [3]
    player.load(40, VERSION)
    assert dict(player.image.controllers) == {}
    assert dict(player.image.brokers) == {}


@pytest.mark.parametrize("following", [2_000, 1_999])
def test_producer_ids_that_do_not_grow_are_fatal_in_replay(following):
    player = with_broker(ProducerIdsRecord(4, 3, 2_000))
    player.follow(2)
    player.write(2, (ProducerIdsRecord(4, 3, following),))
    assert "the next producer id is 2000 already" in reason(player.commit_all())
