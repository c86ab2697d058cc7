"""Failed directories, and assignments of replicas to directories: scenarios 122 to 124."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.kraft.controller.partitions import DEFAULTS, KEY, after, directory, epoch_of, image_of

from kraft.controller.operations.defaults import UNCLEAN_LEADER_ELECTION
from kraft.controller.operations.directories import assign_replicas_to_dirs, directories_offline
from kraft.controller.operations.elections import elect_leaders
from kraft.controller.operations.reassignments import alter_partition_reassignments
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, PartitionId, TopicId
from kraft.image.entries import LOST, UNASSIGNED
from kraft.image.replay import replay
from kraft.records.topics import NO_LEADER, NO_LEADER_CHANGE, RECOVERING
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.elect_leaders import PREFERRED_ELECTION, ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)

THREE = (1, 2, 3)
FAILED, OTHER = directory(1), directory(8)


def image_on_disks():
    """Return an image with three replicas in directories; broker 1 has a second directory."""
    image = image_of(THREE)
    partition = replace(image.partitions[KEY], directories=tuple(map(directory, THREE)))
    first = replace(image.brokers[1], directories=(FAILED, OTHER))
    return replace(
        image,
        partitions=image.partitions.set(KEY, partition),
        brokers=image.brokers.set(1, first),
    )


def assigned(image, where, *, broker=1, epoch=None, key=KEY):
    """Return the answer to a broker that reports a replica's directory, and the records."""
    request = AssignReplicasToDirsRequest(
        broker, epoch_of(broker) if epoch is None else epoch, ((where, *key),)
    )
    result = assign_replicas_to_dirs(image, DEFAULTS, request)
    return result.response, result.records


def test_a_failed_directory_is_removed_and_its_partitions_get_other_leaders():
    image = image_on_disks()
    records = directories_offline(image, DEFAULTS, 1, {FAILED})
    image = replay(image, records)
    partition = image.partitions[KEY]
    assert (partition.leader, partition.isr, partition.leader_epoch) == (2, (2, 3), 1)
    assert image.brokers[1].directories == (OTHER,)


def test_a_failed_directory_concerns_partitions_with_a_replica_that_is_not_in_sync():
    # Unclean elections have been enabled since broker 1, the only one in sync, was fenced.
    replicas = {"leader": NO_LEADER, "fenced": (1,)}
    image = image_of(THREE, (1,), configs={UNCLEAN_LEADER_ELECTION: "true"}, **replicas)
    on_disks = replace(image.partitions[KEY], directories=tuple(map(directory, THREE)))
    image = replace(image, partitions=image.partitions.set(KEY, on_disks))
    change, registration = directories_offline(image, DEFAULTS, 2, {directory(2)})
    assert (change.leader, change.isr, change.leader_recovery_state) == (3, (3,), RECOVERING)
    assert registration.log_dirs == ()
    # A partition with no replica there is not asked.
    (only,) = directories_offline(image, DEFAULTS, 4, {directory(4)})
    assert only.log_dirs == ()


def test_an_unregistered_or_empty_directory_moves_no_leader_when_it_fails():
    image = image_on_disks()
    assert directories_offline(image, DEFAULTS, 1, {directory(4)}) == ()
    (only,) = directories_offline(image, DEFAULTS, 1, {OTHER})
    assert only.log_dirs == (FAILED,)


@pytest.mark.parametrize(
    ("where", "code"),
    [
        (LOST, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        (directory(9), ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        (FAILED, ErrorCode.NONE),
        (UNASSIGNED, ErrorCode.NONE),
    ],
)
def test_no_replica_leads_from_an_offline_directory(where, code):
    image = image_on_disks()
    partition = replace(
        image.partitions[KEY], leader=2, directories=(where, directory(2), directory(3))
    )
    image = replace(image, partitions=image.partitions.set(KEY, partition))
    request = ElectLeadersRequest(PREFERRED_ELECTION, (("foo", PartitionId(0)),))
    (result,) = elect_leaders(image, DEFAULTS, request).response.replica_election_results
    assert result.error_code is code


def test_a_replica_is_assigned_to_another_directory_and_stays_in_sync():
    image = image_on_disks()
    answer, records = assigned(image, OTHER)
    assert answer.partitions == (ErrorCode.NONE,)
    partition = after(image, records)
    assert partition.directories == (OTHER, directory(2), directory(3))
    assert (partition.isr, partition.leader_epoch) == (THREE, 0)
    assert assigned(image, FAILED)[1] == ()


@pytest.mark.parametrize("where", [LOST, directory(4)])
def test_a_replica_assigned_to_an_offline_directory_leaves_the_isr(where):
    image = image_on_disks()
    _, records = assigned(image, where)
    moved, left = records
    assert (moved.isr, moved.leader, left.directories) == (None, NO_LEADER_CHANGE, None)
    partition = after(image, records)
    assert (partition.leader, partition.isr) == (2, (2, 3))
    assert partition.directories[0] == where
    assert partition.partition_epoch == image.partitions[KEY].partition_epoch + 2


def test_a_replica_moved_to_a_working_directory_may_lead_from_the_next_change_on():
    image = image_on_disks()
    alone = replace(
        image.partitions[KEY],
        isr=(1,), leader=NO_LEADER, directories=(LOST, directory(2), directory(3)),
    )  # fmt: skip
    image = replace(image, partitions=image.partitions.set(KEY, alone))
    _, records = assigned(image, OTHER)
    partition = after(image, records)
    assert (partition.directories[0], partition.leader) == (OTHER, NO_LEADER)


def test_a_broker_that_assigns_its_replica_clears_the_eligible_replicas():
    image = image_of(THREE, (1,), min_isr=2, eligible_leader_replicas=(2,))
    _, records = assigned(image, directory(3), broker=3)
    partition = after(image, records)
    assert (partition.isr, partition.eligible_leader_replicas) == ((1,), ())


def test_a_replica_without_a_leader_may_lead_in_the_lost_directory_to_which_it_moves():
    # As Kafka 4.1.0 does: tests/krafla/audit/kafka/lost-directory has its log.
    image = image_on_disks()
    alone = replace(image.partitions[KEY], isr=(1,), leader=NO_LEADER)
    image = replace(image, partitions=image.partitions.set(KEY, alone))
    _, records = assigned(image, LOST)
    partition = after(image, records)
    assert (partition.directories[0], partition.leader, partition.isr) == (LOST, 1, (1,))


def test_an_invalid_assignment_has_its_error():
    image = image_on_disks()
    assert assigned(image, OTHER, broker=5)[0].partitions == (ErrorCode.NOT_LEADER_OR_FOLLOWER,)
    strange = TopicId("X" * 21 + "Q"), PartitionId(0)
    assert assigned(image, OTHER, key=strange)[0].partitions == (ErrorCode.UNKNOWN_TOPIC_ID,)
    missing = KEY[0], PartitionId(5)
    assert assigned(image, OTHER, key=missing)[0].partitions == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    )
    stale, records = assigned(image, OTHER, epoch=BrokerEpoch(1))
    assert (stale.error_code, records) == (ErrorCode.STALE_BROKER_EPOCH, ())
    old, records = assigned(image_of(THREE, metadata_version=15), OTHER)
    assert (old.error_code, records) == (ErrorCode.UNSUPPORTED_VERSION, ())


def test_a_reassignment_keeps_known_directories_and_gives_new_replicas_default_ones():
    image = image_on_disks()
    asked = ReassignablePartition("foo", PartitionId(0), (4, 3, 1))
    result = alter_partition_reassignments(
        image, DEFAULTS, AlterPartitionReassignmentsRequest((asked,))
    )
    partition = after(image, result.records)
    assert partition.replicas == (4, 3, 1, 2)
    assert partition.directories == (directory(4), directory(3), directory(1), directory(2))


def test_before_3_7_no_record_has_directories():
    image = image_of(THREE, metadata_version=15)
    asked = ReassignablePartition("foo", PartitionId(0), (4, 3, 1))
    result = alter_partition_reassignments(
        image, DEFAULTS, AlterPartitionReassignmentsRequest((asked,))
    )
    assert result.records[0].directories is None
    assert UNASSIGNED not in image_on_disks().partitions[KEY].directories
