"""Replay of topics: their partitions, their configuration, their end.

Kafka: ReplicationControlManager.replay, PartitionRegistration.merge, TopicsDelta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from kraft.image.entries import MIGRATING, Partition, Topic
from kraft.image.errors import RefusedRecordError
from kraft.records.topics import (
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERED,
    RECOVERING,
    TOPIC_RESOURCE,
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.ids import DirectoryId, TopicId
    from kraft.image.delta import MetadataDelta
    from kraft.records.typed_record import TypedRecord

_LAST_EPOCH: Final = 2**31 - 1


def _create(delta: MetadataDelta, record: TopicRecord) -> None:
    if record.topic_id in delta.topics:
        raise RefusedRecordError(f"topic {record.topic_id} exists", record)
    if record.name in delta.topic_ids:
        raise RefusedRecordError(f"a topic of the name {record.name!r} exists", record)
    delta.topics[record.topic_id] = Topic(record.name, record.topic_id)
    delta.topic_ids[record.name] = record.topic_id


def _partition(delta: MetadataDelta, record: PartitionRecord) -> None:
    topic = _topic(delta, record, record.topic_id)
    key = record.topic_id, record.partition_id
    if key not in delta.partitions:
        ids = (*topic.partition_ids, record.partition_id)
        delta.topics[record.topic_id] = replace(topic, partition_ids=ids)
    delta.partitions[key] = Partition(
        record.replicas,
        _directories(record, record.directories, record.replicas),
        record.isr,
        record.removing_replicas,
        record.adding_replicas,
        record.leader,
        _recovery(record, record.leader_recovery_state),
        record.leader_epoch,
        record.partition_epoch,
        record.eligible_leader_replicas or (),
        record.last_known_elr or (),
    )


def _change(delta: MetadataDelta, record: PartitionChangeRecord) -> None:
    key = record.topic_id, record.partition_id
    old = delta.partitions.get(key)
    if old is None:
        _topic(delta, record, record.topic_id)
        raise RefusedRecordError(
            f"topic {record.topic_id} has no partition {record.partition_id}", record
        )
    delta.partitions[key] = merged(old, record)


def merged(old: Partition, record: PartitionChangeRecord) -> Partition:
    """Return a partition after a change.

    Raises RefusedRecordError. Kafka: PartitionRegistration.merge, whose epochs wrap around to the
    least number.
    """
    replicas = old.replicas if record.replicas is None else record.replicas
    directories = old.directories
    if record.directories is not None or len(replicas) != len(directories):
        told = directories if record.directories is None else record.directories
        directories = _directories(record, told, replicas)
    leader, leader_epoch, partition_epoch = old.leader, old.leader_epoch, old.partition_epoch + 1
    if record.leader != NO_LEADER_CHANGE:
        leader, leader_epoch = record.leader, leader_epoch + 1
    if max(leader_epoch, partition_epoch) > _LAST_EPOCH:
        raise RefusedRecordError(f"no epoch comes after {_LAST_EPOCH}", record)
    recovery = old.leader_recovery_state
    if record.leader_recovery_state != NO_RECOVERY_CHANGE:
        recovery = _recovery(record, record.leader_recovery_state)
    removing, adding = record.removing_replicas, record.adding_replicas
    eligible, last_known = record.eligible_leader_replicas, record.last_known_elr
    return Partition(
        replicas,
        directories,
        old.isr if record.isr is None else record.isr,
        old.removing_replicas if removing is None else removing,
        old.adding_replicas if adding is None else adding,
        leader,
        recovery,
        leader_epoch,
        partition_epoch,
        old.eligible_leader_replicas if eligible is None else eligible,
        old.last_known_elr if last_known is None else last_known,
    )


def _remove(delta: MetadataDelta, record: RemoveTopicRecord) -> None:
    topic = _topic(delta, record, record.topic_id)
    for partition_id in topic.partition_ids:
        del delta.partitions[record.topic_id, partition_id]
    del delta.topics[record.topic_id]
    del delta.topic_ids[topic.name]
    delta.configurations.pop((TOPIC_RESOURCE, topic.name), None)


def _clear_elr(delta: MetadataDelta, record: ClearElrRecord) -> None:
    """Clear the eligible replicas; like any change of a partition, that is a new partition epoch.

    Kafka: ReplicationControlManager.removeTopicElrs, TopicDelta.maybeClearElr.
    """
    if record.topic_name:
        topic_id = delta.topic_ids.get(record.topic_name)
        if topic_id is None:
            raise RefusedRecordError(f"no topic has the name {record.topic_name!r}", record)
        topics = [delta.topics[topic_id]]
    else:
        # A map cannot be iterated while it is changed.
        whole = delta.topics.finish()
        delta.topics, topics = whole.mutate(), list(whole.values())
    for topic in topics:
        for partition_id in topic.partition_ids:
            key = topic.topic_id, partition_id
            partition = delta.partitions[key]
            if partition.eligible_leader_replicas or partition.last_known_elr:
                cleared = PartitionChangeRecord(
                    partition_id, topic.topic_id, eligible_leader_replicas=(), last_known_elr=()
                )
                delta.partitions[key] = merged(partition, cleared)


def _topic(delta: MetadataDelta, record: TypedRecord, topic_id: TopicId) -> Topic:
    topic: Topic | None = delta.topics.get(topic_id)
    if topic is None:
        raise RefusedRecordError(f"there is no topic {topic_id}", record)
    return topic


def _directories(
    record: TypedRecord, told: tuple[DirectoryId, ...], replicas: tuple[int, ...]
) -> tuple[DirectoryId, ...]:
    # Where no directory is known, none is of further replicas either (KAFKA-16583).
    if all(directory == MIGRATING for directory in told):
        return (MIGRATING,) * len(replicas)
    if len(told) != len(replicas):
        raise RefusedRecordError(f"{len(told)} directories for {len(replicas)} replicas", record)
    return told


def _recovery(record: TypedRecord, state: int) -> int:
    if state not in {RECOVERED, RECOVERING}:
        raise RefusedRecordError(f"no meaning for leader_recovery_state {state}", record)
    return state


TOPIC_REPLAY: Final[dict[type[TypedRecord], Callable[[Any, Any], None]]] = {
    TopicRecord: _create,
    PartitionRecord: _partition,
    PartitionChangeRecord: _change,
    RemoveTopicRecord: _remove,
    ClearElrRecord: _clear_elr,
}
