"""An operator starts, cancels and lists reassignments of partitions.

Kafka: ReplicationControlManager.alterPartitionReassignments. KIP-455.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.leader_eligibility import change_of, may_elect_uncleanly
from kraft.controller.operations.partition_ask import (
    in_progress,
    new_assignment,
    revert_needs_force,
    reverted,
)
from kraft.controller.operations.result import Result
from kraft.controller.operations.user_batch import UserBatch
from kraft.errors import ErrorCode
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsResponse,
    OngoingReassignment,
    ReassignedPartition,
)

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.partition_ask import PartitionAsk
    from kraft.ids import BrokerId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.topics import PartitionChangeRecord
    from kraft.rpc.partition_reassignments import (
        AlterPartitionReassignmentsRequest,
        ListPartitionReassignmentsRequest,
        ReassignablePartition,
    )


def alter_partition_reassignments(
    image: MetadataImage, defaults: Defaults, request: AlterPartitionReassignmentsRequest
) -> Result[AlterPartitionReassignmentsResponse]:
    """Return the reassignments that an operator starts or cancels, one answer per partition.

    A refused partition does not affect the others.

    Spec: Reassignment!StartReassignment, Reassignment!CancelReassignment.
    Kafka: ReplicationControlManager.alterPartitionReassignments.
    """
    batch, responses = UserBatch(), []
    for asked in request.partitions:
        answer = ReassignedPartition(asked.name, asked.partition_index)
        try:
            record = _reassign(
                image, defaults, asked, may_resize=request.allow_replication_factor_change
            )
            batch.add_part([] if record is None else [record])
        except ControllerError as error:
            answer = ReassignedPartition(
                asked.name, asked.partition_index, error.code, error.reason or None
            )
        responses.append(answer)
    return Result(batch.records, AlterPartitionReassignmentsResponse(tuple(responses)))


def _reassign(
    image: MetadataImage, defaults: Defaults, asked: ReassignablePartition, *, may_resize: bool
) -> PartitionChangeRecord | None:
    topic_id = image.topic_ids.get(asked.name)
    if topic_id is None:
        reason = f"no such topic as {asked.name}"
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    key = topic_id, asked.partition_index
    partition = image.partitions.get(key)
    if partition is None:
        reason = f"no such partition as {asked.name}-{asked.partition_index}"
        raise ControllerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    if asked.replicas is None:
        enabled = may_elect_uncleanly(image, defaults, key)
        ask = _cancellation(partition, unclean_enabled=enabled)
    else:
        ask = _start(image, partition, asked.replicas, may_resize=may_resize)
    return change_of(image, defaults, key, ask)


def _start(
    image: MetadataImage, partition: Partition, target: tuple[BrokerId, ...], *, may_resize: bool
) -> PartitionAsk:
    """Return the request for a target assignment; its brokers must be registered, fenced or not.

    Spec: Reassignment!StartReassignment.
    Kafka: ReplicationControlManager.changePartitionReassignment.
    """
    validate_assignment(image, target)
    # The target of a reassignment under way counts, not its original assignment.
    due = {*partition.replicas, *partition.adding_replicas} - {*partition.removing_replicas}
    if not may_resize and len(target) != len(due):
        reason = f"{len(target)} replicas instead of {len(due)}, and another number is not allowed"
        raise ControllerError(ErrorCode.INVALID_REPLICATION_FACTOR, reason)
    return new_assignment(partition, target)


def _cancellation(partition: Partition, *, unclean_enabled: bool) -> PartitionAsk:
    """Return the request to cancel a reassignment.

    Spec: Reassignment!CancelReassignment.
    Kafka: ReplicationControlManager.cancelPartitionReassignment.
    """
    if not in_progress(partition):
        raise ControllerError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "")
    ask = reverted(partition, unclean_enabled=unclean_enabled)
    if revert_needs_force(partition) and not unclean_enabled:
        reason = "no original replica is in sync, and the topic allows no unclean election"
        raise ControllerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    return ask


def validate_assignment(image: MetadataImage, replicas: tuple[BrokerId, ...]) -> None:
    """Check that brokers may hold a partition; raise INVALID_REPLICA_ASSIGNMENT otherwise.

    Spec: PartitionChange!IsAssignment.
    Kafka: ReplicationControlManager.validateManualPartitionAssignment.
    """
    if not replicas:
        reason = "the list of replicas is empty"
    elif len(set(replicas)) < len(replicas):
        reason = f"a broker occurs twice: {list(replicas)}"
    elif any(broker_id not in image.brokers for broker_id in replicas):
        unknown = sorted(set(replicas) - set(image.brokers))
        reason = f"not registered: {', '.join(map(str, unknown))}"
    else:
        return
    raise ControllerError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)


def list_partition_reassignments(
    image: MetadataImage, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Return the partitions under reassignment; `image` is the stable one (KAFKA-15048).

    Unknown names are ignored. Kafka 4.1 finds the topics in the stable state, but reads their
    partitions from its newest one.

    Kafka: ReplicationControlManager.listPartitionReassignments.
    """
    asked = request.topics
    if asked is None:
        names = sorted(image.topic_ids.items())
        asked = tuple((name, image.topics[topic_id].partition_ids) for name, topic_id in names)
    found = []
    for name, indexes in asked:
        topic_id = image.topic_ids.get(name)
        for index in indexes:
            partition = None if topic_id is None else image.partitions.get((topic_id, index))
            if partition is not None and in_progress(partition):
                found.append(
                    OngoingReassignment(
                        name,
                        index,
                        partition.replicas,
                        partition.adding_replicas,
                        partition.removing_replicas,
                    )
                )
    return ListPartitionReassignmentsResponse(tuple(found))
