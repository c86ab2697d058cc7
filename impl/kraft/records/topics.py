"""The records of topics as values: their partitions, their configuration, their end.

Kafka: ReplicationControlManager.replay, ConfigurationControlManager.replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from kraft.records.metadata_schemas import (
    CLEAR_ELR,
    CONFIG,
    PARTITION,
    PARTITION_CHANGE,
    REMOVE_TOPIC,
    TOPIC,
)
from kraft.records.typed_record import TypedRecord

if TYPE_CHECKING:
    from kraft.ids import BrokerId, DirectoryId, LeaderEpoch, PartitionEpoch, PartitionId, TopicId
    from kraft.records.schema import Schema

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2
"""The leader of a `PartitionChangeRecord` that leaves leader and leader epoch as they are."""
RECOVERED: Final = 0
RECOVERING: Final = 1
NO_RECOVERY_CHANGE: Final = -1
"""The recovery state of a `PartitionChangeRecord` that leaves it as it is."""
BROKER_RESOURCE: Final = 4
TOPIC_RESOURCE: Final = 2
"""Types of resources that a `ConfigRecord` may be of. Kafka: ConfigResource.Type."""


class TopicRecord(TypedRecord, frozen=True):
    """A topic was created."""

    SCHEMA: ClassVar[Schema] = TOPIC

    name: str
    topic_id: TopicId


class PartitionRecord(TypedRecord, frozen=True):
    """A partition was created, or a snapshot has its whole state.

    Without `directories` no directory of a replica is known.
    """

    SCHEMA: ClassVar[Schema] = PARTITION

    partition_id: PartitionId
    topic_id: TopicId
    replicas: tuple[BrokerId, ...]
    isr: tuple[BrokerId, ...]
    removing_replicas: tuple[BrokerId, ...] = ()
    adding_replicas: tuple[BrokerId, ...] = ()
    leader: int = NO_LEADER
    leader_recovery_state: int = RECOVERED
    leader_epoch: LeaderEpoch | int = -1
    partition_epoch: PartitionEpoch | int = -1
    directories: tuple[DirectoryId, ...] = ()
    eligible_leader_replicas: tuple[BrokerId, ...] | None = None
    last_known_elr: tuple[BrokerId, ...] | None = None


class PartitionChangeRecord(TypedRecord, frozen=True):
    """A partition has changed: None, NO_LEADER_CHANGE and NO_RECOVERY_CHANGE leave a part as it is.

    Every change takes a new partition epoch; one with a `leader`, also a new leader epoch, even if
    the leader is the same.
    """

    SCHEMA: ClassVar[Schema] = PARTITION_CHANGE

    partition_id: PartitionId
    topic_id: TopicId
    isr: tuple[BrokerId, ...] | None = None
    leader: int = NO_LEADER_CHANGE
    replicas: tuple[BrokerId, ...] | None = None
    removing_replicas: tuple[BrokerId, ...] | None = None
    adding_replicas: tuple[BrokerId, ...] | None = None
    leader_recovery_state: int = NO_RECOVERY_CHANGE
    directories: tuple[DirectoryId, ...] | None = None
    eligible_leader_replicas: tuple[BrokerId, ...] | None = None
    last_known_elr: tuple[BrokerId, ...] | None = None


class RemoveTopicRecord(TypedRecord, frozen=True):
    """A topic was deleted, with its partitions and its configuration."""

    SCHEMA: ClassVar[Schema] = REMOVE_TOPIC

    topic_id: TopicId


class ClearElrRecord(TypedRecord, frozen=True):
    """The eligible leader replicas of a topic were forgotten; of all topics, if it names none."""

    SCHEMA: ClassVar[Schema] = CLEAR_ELR

    topic_name: str = ""


class ConfigRecord(TypedRecord, frozen=True):
    """A configuration of a resource was set; `value` None sets its default."""

    SCHEMA: ClassVar[Schema] = CONFIG

    resource_type: int
    resource_name: str
    name: str
    value: str | None
