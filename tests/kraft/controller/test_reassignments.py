"""Partitions move: scenarios 95 to 112 of Kafka's controller."""

from __future__ import annotations

import pytest
from tests.kraft.controller.partitions import DEFAULTS, KEY, TOPIC, TOPIC_ID, epoch_of, image_of

from kraft.controller.operations.alter_partition import alter_partition
from kraft.controller.operations.leadership import fence_broker, unfence_broker
from kraft.controller.operations.reassignments import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraft.controller.operations.topics import delete_topics
from kraft.errors import ErrorCode
from kraft.ids import PartitionId, TopicId
from kraft.image.replay import replay
from kraft.records.topics import NO_LEADER
from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionRequest, BrokerState
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
)

THREE = (1, 2, 3)
UNCLEAN = {"unclean.leader.election.enable": "true"}


def reassigned(image, target, **options):
    """Return the error code of a reassignment, and the image after it."""
    asked = ReassignablePartition(TOPIC, PartitionId(0), target)
    request = AlterPartitionReassignmentsRequest((asked,), **options)
    result = alter_partition_reassignments(image, DEFAULTS, request)
    assert result.is_atomic
    (answer,) = result.response.responses
    return answer.error_code, replay(image, result.records)


def moving(image, target):
    """Return the image after an accepted reassignment."""
    code, image = reassigned(image, target)
    assert code is ErrorCode.NONE
    return image


def joined(image, isr):
    """Return the error code, and the image, after the leader has asked for an ISR."""
    partition = image.partitions[KEY]
    members = tuple(BrokerState(one, epoch_of(one)) for one in isr)
    asked = AlterPartitionData(*KEY, partition.leader_epoch, partition.partition_epoch, members)
    request = AlterPartitionRequest(partition.leader, epoch_of(partition.leader), (asked,))
    result = alter_partition(image, DEFAULTS, request)
    return result.response.partitions[0].error_code, replay(image, result.records)


def listed(image, topics=None):
    """Return the reassignments in progress, by name and index."""
    found = list_partition_reassignments(image, ListPartitionReassignmentsRequest(topics))
    return [(one.name, one.partition_index) for one in found.topics]


def test_reordering_replicas_completes_at_once_under_the_same_leader_epoch():
    image = moving(image_of(THREE), (3, 2, 1))
    partition = image.partitions[KEY]
    assert (partition.replicas, partition.leader, partition.leader_epoch) == ((3, 2, 1), 1, 0)
    assert listed(image) == []


def test_removed_replicas_go_at_once_if_all_staying_replicas_are_in_sync():
    partition = moving(image_of(THREE), (1, 2)).partitions[KEY]
    assert (partition.replicas, partition.isr) == ((1, 2), (1, 2))
    assert partition.removing_replicas == ()
    assert (partition.leader, partition.leader_epoch) == (1, 1)


def test_removed_replicas_stay_until_all_staying_replicas_are_in_sync():
    image = moving(image_of(THREE, (1, 3)), (1, 2))
    partition = image.partitions[KEY]
    assert (partition.replicas, partition.removing_replicas) == ((1, 2, 3), (3,))
    assert listed(image) == [(TOPIC, 0)]


def test_a_swap_ends_when_the_leader_has_the_new_one_in_sync():
    image = moving(image_of(THREE), (1, 2, 4))
    code, image = joined(image, (1, 2, 3, 4))
    partition = image.partitions[KEY]
    assert code is ErrorCode.NONE
    assert (partition.replicas, partition.isr) == ((1, 2, 4), (1, 2, 4))
    assert listed(image) == []


def test_a_leader_moved_away_learns_that_another_replica_leads():
    image = moving(image_of((3, 2, 1)), (0, 2, 1))
    code, image = joined(image, (3, 2, 1, 0))
    assert code is ErrorCode.NEW_LEADER_ELECTED
    partition = image.partitions[KEY]
    assert (partition.replicas, partition.leader) == ((0, 2, 1), 0)


def test_a_swap_of_two_waits_for_both():
    image = moving(image_of((1, 2)), (3, 4))
    _, image = joined(image, (1, 2, 3))
    partition = image.partitions[KEY]
    assert partition.adding_replicas == (3, 4)
    assert partition.replicas == (3, 4, 1, 2)


def test_a_target_changed_midway_removes_what_the_first_one_added():
    image = moving(moving(image_of((0, 1)), (2, 3)), (4, 5))
    partition = image.partitions[KEY]
    assert partition.replicas == (4, 5, 0, 1, 2, 3)
    assert partition.removing_replicas == (0, 1, 2, 3)
    assert partition.adding_replicas == (4, 5)


def test_a_cancellation_removes_added_replicas_and_keeps_the_present_order():
    image = moving(image_of(THREE), (3, 4))
    assert image.partitions[KEY].replicas == (3, 4, 1, 2)
    image = moving(image, None)
    partition = image.partitions[KEY]
    assert (partition.replicas, partition.leader_epoch) == ((3, 1, 2), 1)
    assert (partition.adding_replicas, partition.removing_replicas) == ((), ())


def test_a_cancellation_needs_a_reassignment_in_progress():
    code, _ = reassigned(image_of(THREE), None)
    assert code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_a_cancellation_without_an_in_sync_original_replica_needs_unclean_elections():
    fields = {"adding_replicas": (4,), "leader": 4}
    strict = image_of((4, 1, 2), (4,), **fields)
    code, image = reassigned(strict, None)
    assert code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert image == strict
    image = moving(image_of((4, 1, 2), (4,), configs=UNCLEAN, **fields), None)
    assert (image.partitions[KEY].replicas, image.partitions[KEY].isr) == ((1, 2), (1,))


@pytest.mark.parametrize("target", [(), (1, 1), (1, 9)], ids=["empty", "twice", "unregistered"])
def test_a_target_names_registered_brokers_each_once(target):
    code, _ = reassigned(image_of(THREE), target)
    assert code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_an_unknown_partition_is_refused_and_does_not_affect_the_others():
    asked = (
        ReassignablePartition("bar", PartitionId(0), (1,)),
        ReassignablePartition(TOPIC, PartitionId(9), (1,)),
        ReassignablePartition(TOPIC, PartitionId(0), (3, 2, 1)),
    )
    result = alter_partition_reassignments(
        image_of(THREE), DEFAULTS, AlterPartitionReassignmentsRequest(asked)
    )
    assert [one.error_code for one in result.response.responses] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE,
    ]  # fmt: skip
    assert len(result.records) == 1


def test_the_replication_factor_stays_if_the_request_forbids_a_change():
    image = image_of(THREE)
    code, _ = reassigned(image, (1, 2), allow_replication_factor_change=False)
    assert code is ErrorCode.INVALID_REPLICATION_FACTOR
    code, _ = reassigned(image, (4, 5, 0), allow_replication_factor_change=False)
    assert code is ErrorCode.NONE
    code, _ = reassigned(moving(image, (1, 2, 4)), (1, 2, 5), allow_replication_factor_change=False)
    assert code is ErrorCode.NONE


@pytest.mark.parametrize(
    ("under_way", "target", "code"),
    [
        ((1, 2, 3), (1, 2, 4), ErrorCode.NONE),
        ((1, 2, 3), (1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
        ((3,), (4,), ErrorCode.NONE),
        ((3,), (1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_a_change_midway_keeps_the_replication_factor_of_the_target(under_way, target, code):
    image = moving(image_of((1, 2)), under_way)
    assert reassigned(image, target, allow_replication_factor_change=False)[0] is code


def test_a_reassignment_waits_for_a_fenced_replica_which_can_join_once_unfenced():
    image = moving(image_of((1, 2), fenced=(4,)), (1, 4))
    assert joined(image, (1, 2, 4))[0] is ErrorCode.INELIGIBLE_REPLICA
    image = replay(image, unfence_broker(image, DEFAULTS, 4))
    assert image.partitions[KEY].adding_replicas == (4,)
    code, image = joined(image, (1, 2, 4))
    assert (code, image.partitions[KEY].replicas) == (ErrorCode.NONE, (1, 4))


def test_a_removed_leader_is_replaced_by_a_staying_replica():
    image = moving(image_of((1, 2), (1, 2)), (2, 3))
    image = replay(image, fence_broker(image, DEFAULTS, 2))
    image = replay(image, unfence_broker(image, DEFAULTS, 2))
    _, image = joined(image, (1, 2, 3))
    partition = image.partitions[KEY]
    assert partition.leader in {2, 3}
    alone = moving(image_of((1,)), (2,))
    _, alone = joined(alone, (1, 2))
    assert alone.partitions[KEY].leader == 2


def test_a_topic_that_is_deleted_is_no_longer_listed():
    image = moving(image_of(THREE), (1, 2, 4))
    unknown = TopicId("X" * 21 + "Q")
    result = delete_topics(image, (TOPIC_ID, unknown))
    assert result.response == {
        TOPIC_ID: ErrorCode.NONE, unknown: ErrorCode.UNKNOWN_TOPIC_ID,
    }  # fmt: skip
    assert listed(replay(image, result.records)) == []
    twice = delete_topics(image, (TOPIC_ID, unknown, TOPIC_ID, unknown))
    assert set(twice.response.values()) == {ErrorCode.INVALID_REQUEST}
    assert twice.records == ()


def test_a_reassignment_is_in_the_image_and_so_survives_its_controller():
    image = moving(image_of(THREE, leader=1), (1, 2, 4))
    partition = image.partitions[KEY]
    assert (partition.adding_replicas, partition.removing_replicas) == ((4,), (3,))
    assert partition.leader != NO_LEADER
    assert listed(image) == [(TOPIC, 0)]


def test_unknown_names_are_ignored_in_a_list():
    image = moving(image_of(THREE), (1, 2, 4))
    index = PartitionId(0)
    asked = ((TOPIC, (index, PartitionId(5))), ("bar", (index,)))
    assert listed(image, asked) == [(TOPIC, 0)]
    assert listed(image, (("bar", (index,)),)) == []
