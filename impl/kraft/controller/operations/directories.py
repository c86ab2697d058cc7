"""Log directories fail, and brokers report where their replicas are. KIP-858.

Kafka: ReplicationControlManager.handleDirectoriesOffline, .handleAssignReplicasToDirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.controller.operations.leader_eligibility import (
    change_of,
    is_online,
    may_elect_uncleanly,
    metadata_version_of,
)
from kraft.controller.operations.partition_ask import unchanged, without_broker
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.image.versions import IBP_3_7_IV2
from kraft.records.lease import BrokerRegistrationChangeRecord
from kraft.rpc.assign_replicas import AssignReplicasToDirsResponse

if TYPE_CHECKING:
    from collections.abc import Collection

    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.leader_eligibility import PartitionKey
    from kraft.ids import BrokerId, DirectoryId, PartitionId, TopicId
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.topics import PartitionChangeRecord
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest


def directories_offline(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    offline: Collection[DirectoryId],
) -> tuple[TypedRecord, ...]:
    """Return the records that remove a broker's failed directories and move its leaderships.

    Directories that are not registered, or were reported before, are ignored. Each partition with a
    replica in a failed directory is asked for a leader, whether the replica is in sync or not.

    Kafka: ReplicationControlManager.handleDirectoriesOffline.
    """
    registration = image.brokers[broker_id]
    failed = {one for one in registration.directories if one in offline}
    if not failed:
        return ()
    remaining = tuple(one for one in registration.directories if one not in failed)
    records: list[TypedRecord] = []
    concerned = [
        key
        for key, partition in image.partitions.items()
        if broker_id in partition.replicas
        and partition.directories[partition.replicas.index(broker_id)] in failed
    ]
    for key in sorted(concerned):
        change = _leave(image, defaults, key, broker_id)
        records += [] if change is None else [change]
    records.append(
        BrokerRegistrationChangeRecord(broker_id, registration.epoch, log_dirs=remaining)
    )
    return tuple(records)


def _leave(
    image: MetadataImage, defaults: Defaults, key: PartitionKey, broker_id: BrokerId
) -> PartitionChangeRecord | None:
    enabled = may_elect_uncleanly(image, defaults, key)
    ask = without_broker(image.partitions[key], broker_id, unclean_enabled=enabled)
    return change_of(image, defaults, key, ask, left_out=broker_id)


def assign_replicas_to_dirs(
    image: MetadataImage, defaults: Defaults, request: AssignReplicasToDirsRequest
) -> Result[AssignReplicasToDirsResponse]:
    """Return the new directories of replicas.

    Replicas assigned to a failed directory leave the ISR.

    The change that takes a replica out of the ISR starts from the partition before this request,
    because its records are not replayed yet.

    Kafka: ReplicationControlManager.handleAssignReplicasToDirs.
    """
    registration = image.brokers.get(request.broker_id)
    error = ErrorCode.NONE
    if metadata_version_of(image) < IBP_3_7_IV2:
        error = ErrorCode.UNSUPPORTED_VERSION
    elif registration is None or registration.epoch != request.broker_epoch:
        error = ErrorCode.STALE_BROKER_EPOCH
    if error is not ErrorCode.NONE:
        return Result((), AssignReplicasToDirsResponse(error), is_atomic=False)
    records, codes = [], []
    stranded = set()
    for directory, topic_id, partition_id in request.assignments:
        code = _assignment_error(image, request.broker_id, topic_id, partition_id)
        codes.append(code)
        if code is ErrorCode.NONE:
            key = topic_id, partition_id
            change = _assigned(image, defaults, key, request.broker_id, directory)
            records += [] if change is None else [change]
            if not is_online(image, request.broker_id, directory):
                stranded.add(key)
    for key in sorted(stranded):
        change = _leave(image, defaults, key, request.broker_id)
        records += [] if change is None else [change]
    response = AssignReplicasToDirsResponse(partitions=tuple(codes))
    return Result(tuple(records), response, is_atomic=False)


def _assignment_error(
    image: MetadataImage, broker_id: BrokerId, topic_id: TopicId, partition_id: PartitionId
) -> ErrorCode:
    if topic_id not in image.topics:
        return ErrorCode.UNKNOWN_TOPIC_ID
    partition = image.partitions.get((topic_id, partition_id))
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE if broker_id in partition.replicas else ErrorCode.NOT_LEADER_OR_FOLLOWER


def _assigned(
    image: MetadataImage,
    defaults: Defaults,
    key: PartitionKey,
    broker_id: BrokerId,
    directory: DirectoryId,
) -> PartitionChangeRecord | None:
    ask = replace(unchanged(image.partitions[key]), directory=(broker_id, directory))
    # Kafka 4.1 does not tell this builder that replicas may be eligible, so it clears the ELR.
    return change_of(image, defaults, key, ask, with_elr=False)
