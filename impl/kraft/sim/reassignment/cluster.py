"""The controller's image, the brokers that lead, and the messages in flight, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from immutables import Map

from kraft.controller.operations.defaults import MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, IncarnationId, PartitionId, TopicId
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION
from kraft.image.replay import replay
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.lease import RegisterBrokerRecord
from kraft.records.topics import TOPIC_RESOURCE, ConfigRecord, PartitionRecord, TopicRecord

if TYPE_CHECKING:
    from kraft.broker.partition_leader import PartitionLeader
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse

TOPIC: Final = "topic"
TOPIC_ID: Final = TopicId("T" * 21 + "Q")
PARTITION_ID: Final = PartitionId(0)
_LATEST: Final = 27
_FIRST_EPOCH: Final = BrokerEpoch(0)


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The brokers, the settings of the topic, and what may happen.

    `min_isr` turns on the eligible leader replicas of KIP-966. `unclean_elections` lets the
    operator request them. `late_heartbeats` lets a late heartbeat unfence a broker that is shutting
    down. `repeats` lets requests be resent. `strays` allows requests that no correct leader sends.
    """

    brokers: tuple[BrokerId, ...]
    initial_replicas: tuple[BrokerId, ...]
    unclean_enabled: bool = False
    unclean_elections: bool = False
    late_heartbeats: bool = False
    repeats: bool = False
    strays: bool = False
    min_isr: int | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message in flight: a request to the controller, or with `response` the way back."""

    message_id: int
    request: AlterPartitionRequest
    response: AlterPartitionResponse | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The whole state at one moment.

    `last_epochs` has the epoch of each broker's last registration, also if it is unregistered now.
    """

    configuration: Configuration
    image: MetadataImage
    last_epochs: Map[BrokerId, BrokerEpoch]
    leading: Map[BrokerId, PartitionLeader]
    network: tuple[Envelope, ...] = ()
    next_message_id: int = 0


def partition_of(cluster: Cluster) -> Partition | None:
    """Return the partition; None once its topic is deleted."""
    return cluster.image.partitions.get((TOPIC_ID, PARTITION_ID))


def first_cluster(configuration: Configuration) -> Cluster:
    """Return the first cluster: all brokers are active, and none knows yet that it leads.

    Spec: Reassignment!Init.
    """
    replicas = configuration.initial_replicas
    records: list[TypedRecord] = [FeatureLevelRecord(METADATA_VERSION, _LATEST)]
    if configuration.min_isr is not None:
        records.append(FeatureLevelRecord(ELIGIBLE_LEADER_REPLICAS, 1))
    records += [
        registration_of(broker_id, _FIRST_EPOCH, fenced=False)
        for broker_id in configuration.brokers
    ]
    records += [TopicRecord(TOPIC, TOPIC_ID)]
    settings = {UNCLEAN_LEADER_ELECTION: str(configuration.unclean_enabled).lower()}
    if configuration.min_isr is not None:
        settings[MIN_INSYNC_REPLICAS] = str(configuration.min_isr)
    records += [ConfigRecord(TOPIC_RESOURCE, TOPIC, *one) for one in settings.items()]
    records.append(
        PartitionRecord(
            PARTITION_ID,
            TOPIC_ID,
            replicas,
            replicas,
            leader=replicas[0],
            leader_epoch=0,
            partition_epoch=0,
            directories=tuple(_directory_of(replica) for replica in replicas),
        )
    )
    epochs = Map(dict.fromkeys(configuration.brokers, _FIRST_EPOCH))
    return Cluster(configuration, replay(EMPTY_IMAGE, records), epochs, Map())


def registration_of(
    broker_id: BrokerId, epoch: BrokerEpoch, *, fenced: bool = True
) -> RegisterBrokerRecord:
    """Return the registration of a process of a broker; each has its own incarnation."""
    incarnation = IncarnationId(f"{broker_id:04}{epoch:04}".rjust(21, "I") + "A")
    return RegisterBrokerRecord(
        broker_id, incarnation, epoch, fenced=fenced, log_dirs=(_directory_of(broker_id),)
    )


def _directory_of(broker_id: BrokerId) -> DirectoryId:
    return DirectoryId(f"{broker_id:04}".rjust(21, "D") + "A")
