"""The entries of an image: registrations, topics, partitions, and access control entries.

Kafka: BrokerRegistration, ControllerRegistration, TopicImage, PartitionRegistration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from kraft.ids import DirectoryId
from kraft.records.topics import NO_LEADER, RECOVERED

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, IncarnationId, PartitionId, TopicId
    from kraft.records.lease import Endpoint, FeatureRange

MIGRATING: Final = DirectoryId("A" * 22)
UNASSIGNED: Final = DirectoryId("A" * 21 + "Q")
LOST: Final = DirectoryId("A" * 21 + "g")
"""What stands for a directory that is not known, not chosen yet, or gone. Kafka: DirectoryId."""


class BrokerRegistration(msgspec.Struct, frozen=True, gc=False):
    """The registration of one broker id. Endpoints and features are sorted by their names.

    `directories` are sorted.

    Spec: BrokerLease!Registration.
    Kafka: BrokerRegistration.
    """

    epoch: BrokerEpoch
    incarnation_id: IncarnationId
    endpoints: tuple[Endpoint, ...] = ()
    features: tuple[FeatureRange, ...] = ()
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    is_migrating_zk_broker: bool = False
    directories: tuple[DirectoryId, ...] = ()


class ControllerRegistration(msgspec.Struct, frozen=True, gc=False):
    """The registration of one controller id.

    Spec: ControllerRegistration!Registration.
    Kafka: ControllerRegistration. KIP-919.
    """

    incarnation_id: IncarnationId
    zk_migration_ready: bool
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...]


class Topic(msgspec.Struct, frozen=True, gc=False):
    """A topic, and the ids of its partitions in the order of their records."""

    name: str
    topic_id: TopicId
    partition_ids: tuple[PartitionId, ...] = ()


class Partition(msgspec.Struct, frozen=True, gc=False):
    """A partition: its replicas, its ISR, its leader.

    `directories` has one for each of the `replicas`. `leader` is NO_LEADER if there is none.

    Kafka: PartitionRegistration.
    """

    replicas: tuple[BrokerId, ...]
    directories: tuple[DirectoryId, ...]
    isr: tuple[BrokerId, ...]
    removing_replicas: tuple[BrokerId, ...] = ()
    adding_replicas: tuple[BrokerId, ...] = ()
    leader: int = NO_LEADER
    leader_recovery_state: int = RECOVERED
    leader_epoch: int = 0
    partition_epoch: int = 0
    eligible_leader_replicas: tuple[BrokerId, ...] = ()
    last_known_elr: tuple[BrokerId, ...] = ()


class AccessControlEntry(msgspec.Struct, frozen=True, gc=False):
    """Which principal may do what to which resource, from where; numbers of Kafka's enums."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class ScramCredential(msgspec.Struct, frozen=True, gc=False):
    """The SCRAM credential of a user for one mechanism."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class DelegationToken(msgspec.Struct, frozen=True, gc=False):
    """A delegation token; times are milliseconds since 1970."""

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int
