"""All replicas of one broker: the metadata makes them lead, follow, open or drop.

A broker in shutdown still applies metadata changes: it ceases to lead when told (KAFKA-14296).

Kafka: ReplicaManager, BrokerMetadataPublisher, LogManager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from immutables import Map

from kraft.broker import partition_leader, replication
from kraft.broker.lifecycle_manager import DIRECTORIES_LEVEL
from kraft.broker.replication import Following, Leading, Replica
from kraft.image.entries import LOST, UNASSIGNED
from kraft.rpc.replica_fetch import FetchPartition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kraft.broker.replica_log import ReplicaLog
    from kraft.ids import BrokerId, DirectoryId, PartitionId, TopicId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage

PartitionKey: TypeAlias = "tuple[TopicId, PartitionId]"
OPENED: Final = "opened"
DROPPED: Final = "dropped"
LEADS: Final = "leads"


class ReplicaChange(msgspec.Struct, frozen=True, gc=False):
    """A change of one replica: it was OPENED with its log, DROPPED, or now LEADS from its log on.

    `leader_epoch` is the epoch of a new leader, -1 in the other two cases.
    """

    what: str
    key: PartitionKey
    log: ReplicaLog
    leader_epoch: int = -1


class BrokerPartitions(msgspec.Struct, frozen=True, gc=False):
    """The replicas of a broker. `offline` has those in a failed directory.

    Kafka: ReplicaManager.allPartitions.
    """

    broker_id: BrokerId
    replicas: Map[PartitionKey, Replica] = Map()
    offline: Map[PartitionKey, DirectoryId] = Map()


def load(
    broker_id: BrokerId,
    image: MetadataImage,
    logs: Mapping[DirectoryId, Mapping[PartitionKey, ReplicaLog]],
) -> tuple[BrokerPartitions, tuple[tuple[DirectoryId, PartitionKey], ...]]:
    """Return the replicas that a broker finds on its disks at its start, and the stray ones.

    A replica is stray if its topic is gone (a new topic of the same name has another id), or if it
    has moved away from this broker. If a replica is in two directories, the one that the metadata
    names counts and the other is stray.

    Kafka: LogManager.isStrayKraftReplica, BrokerMetadataPublisher.initializeManagers.
    """
    replicas: dict[PartitionKey, Replica] = {}
    stray = []
    for directory in sorted(logs):
        for key, log in sorted(logs[directory].items()):
            partition = image.partitions.get(key)
            if partition is None or broker_id not in partition.replicas:
                stray.append((directory, key))
                continue
            other = replicas.get(key)
            if other is not None and _place(broker_id, partition) != directory:
                stray.append((directory, key))
                continue
            if other is not None:
                stray.append((other.directory, key))
            replicas[key] = Replica(directory, log)
    return BrokerPartitions(broker_id, Map(replicas)), tuple(stray)


def learn(
    own: BrokerPartitions,
    before: MetadataImage | None,
    image: MetadataImage,
    directories: Sequence[DirectoryId],
    failed: Collection[DirectoryId],
    now_ms: int,
) -> tuple[BrokerPartitions, tuple[ReplicaChange, ...]]:
    """Return the replicas after a change of the metadata, and their changes in order.

    `before` is the image learned last, None at first. `directories` are the working ones, `failed`
    those of this broker that failed.

    Kafka: ReplicaManager.applyDelta.
    """
    if before is not None and before.partitions is image.partitions:
        return own, ()
    replicas, offline = dict(own.replicas), dict(own.offline)
    changes: list[ReplicaChange] = []
    for key in sorted({*replicas, *offline}):
        partition = image.partitions.get(key)
        if partition is None or own.broker_id not in partition.replicas:
            offline.pop(key, None)
            dropped = replicas.pop(key, None)
            if dropped is not None:
                changes.append(ReplicaChange(DROPPED, key, dropped.log))
    for key in sorted(_changed(own.broker_id, before, image)):
        partition = image.partitions[key]
        if key in offline:
            continue
        replica = replicas.get(key)
        if replica is None:
            directory = _directory(own.broker_id, partition, replicas, directories, failed)
            if directory not in directories:
                offline[key] = directory
                continue
            replica = Replica(directory)
            changes.append(ReplicaChange(OPENED, key, replica.log))
        elif before is None:
            changes.append(ReplicaChange(OPENED, key, replica.log))
        replicas[key] = learned = _learned(own.broker_id, replica, partition, now_ms)
        changes += _leads(key, replica, learned)
    return BrokerPartitions(own.broker_id, Map(replicas), Map(offline)), tuple(changes)


def _changed(
    broker_id: BrokerId, before: MetadataImage | None, image: MetadataImage
) -> Iterator[PartitionKey]:
    for key, partition in image.partitions.items():
        is_same = before is not None and before.partitions.get(key) is partition
        if not is_same and broker_id in partition.replicas:
            yield key


def _learned(broker_id: BrokerId, replica: Replica, partition: Partition, now_ms: int) -> Replica:
    """Return the replica after the metadata change, unless the replica knows of something newer.

    The answer to an AlterPartition may arrive before its record. So a record that is older than the
    replica's view changes nothing. Nor does one that is equal to it: Kafka takes that one again
    (KAFKA-13790), and forgets a request that the leader has sent since.

    Kafka: Partition.makeLeader, Partition.makeFollower.
    """
    role = replica.role
    view = role.view if isinstance(role, Leading) else None
    if view is not None and partition.partition_epoch < view.partition_epoch:
        return replica
    if not partition_leader.is_news(broker_id, view, partition):
        if view is not None:
            return replica
        return replication.become_follower(replica, partition.leader, partition.leader_epoch)
    learned = partition_leader.learn_partition(broker_id, partition)
    if learned is None:
        return replication.become_follower(replica, partition.leader, partition.leader_epoch)
    return replication.become_leader(replica, learned, now_ms)


def _leads(key: PartitionKey, before: Replica, after: Replica) -> Iterator[ReplicaChange]:
    """Yield the change that a replica leads in a new leader epoch, if it does."""
    if isinstance(after.role, Leading):
        epoch = after.role.view.leader_epoch
        same = isinstance(before.role, Leading) and before.role.view.leader_epoch == epoch
        if not same:
            yield ReplicaChange(LEADS, key, after.log, epoch)


def _place(broker_id: BrokerId, partition: Partition) -> DirectoryId:
    """Return the directory that the metadata names for a broker's replica."""
    return partition.directories[partition.replicas.index(broker_id)]


def _directory(
    broker_id: BrokerId,
    partition: Partition,
    replicas: Mapping[PartitionKey, Replica],
    directories: Sequence[DirectoryId],
    failed: Collection[DirectoryId],
) -> DirectoryId:
    """Return the directory of a new replica: the one that the metadata names, if it works.

    If a directory has failed, the replica may still be there, so it is not created elsewhere,
    unless it never had a directory. Otherwise the directory with the fewest replicas is chosen.

    Kafka: Partition.createLogInAssignedDirectoryId, LogManager.nextLogDirs.
    """
    named = _place(broker_id, partition)
    if named in directories or not directories or (failed and named != UNASSIGNED):
        return named
    many = dict.fromkeys(directories, 0)
    for replica in replicas.values():
        many[replica.directory] = many.get(replica.directory, 0) + 1
    return min(directories, key=lambda one: (many[one], one))


def lose_directory(own: BrokerPartitions, failed: DirectoryId) -> BrokerPartitions:
    """Return the replicas after a directory failed: those in it neither lead nor follow.

    Kafka: ReplicaManager.handleLogDirFailure. KIP-858.
    """
    gone = [key for key, replica in own.replicas.items() if replica.directory == failed]
    replicas, offline = dict(own.replicas), dict(own.offline)
    for key in sorted(gone):
        del replicas[key]
        offline[key] = failed
    return BrokerPartitions(own.broker_id, Map(replicas), Map(offline))


def unassigned(
    own: BrokerPartitions, image: MetadataImage
) -> tuple[tuple[DirectoryId, TopicId, PartitionId], ...]:
    """Return the replicas whose directory differs from the metadata, with their actual directory.

    A replica whose directory failed before the metadata named it is LOST. A replica that no longer
    belongs to this broker is not reported (KAFKA-16886, KAFKA-17190).

    Kafka: AssignmentsManager, ReplicaManager.maybeUpdateTopicAssignment. KIP-858.
    """
    if (image.metadata_version or 0) < DIRECTORIES_LEVEL:
        return ()
    found = []
    for key, replica in own.replicas.items():
        partition = image.partitions.get(key)
        if partition is None or own.broker_id not in partition.replicas:
            continue
        if _place(own.broker_id, partition) != replica.directory:
            found.append((replica.directory, *key))
    for key, failed in own.offline.items():
        partition = image.partitions.get(key)
        if partition is None or own.broker_id not in partition.replicas:
            continue
        if _place(own.broker_id, partition) not in {failed, LOST}:
            found.append((LOST, *key))
    return tuple(sorted(found))


def fetches(own: BrokerPartitions) -> dict[int, tuple[FetchPartition, ...]]:
    """Return the partitions to fetch now, by the broker id of the leader.

    Kafka: ReplicaFetcherThread.buildFetch.
    """
    wanted: dict[int, list[FetchPartition]] = {}
    for (topic_id, index), replica in own.replicas.items():
        role = replica.role
        if isinstance(role, Following) and role.leader >= 0:
            log = replica.log
            wanted.setdefault(role.leader, []).append(
                FetchPartition(topic_id, index, role.leader_epoch, log.end_offset, log.last_epoch)
            )
    return {leader: tuple(sorted(wanted[leader])) for leader in sorted(wanted)}
