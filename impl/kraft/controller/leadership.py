"""Brokers come and go, and the partitions that they led or were in sync with follow.

Each function returns the records in the order of what Kafka writes: a prefix of them may be all
that a failover leaves. Changes of partitions come in the order of their ids, where Kafka has that
of a hash map.

Kafka: ReplicationControlManager.handleBrokerFenced and the like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.eligible import (
    change_of,
    is_elr_enabled,
    may_elect_uncleanly,
    metadata_version_of,
)
from kraft.controller.partition_ask import election_of, new_leader, without_broker
from kraft.image.versions import IBP_3_3_IV2, IBP_3_3_IV3
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.topics import NO_LEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.controller.defaults import Defaults
    from kraft.controller.eligible import PartitionKey
    from kraft.ids import BrokerId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.lease import RegisterBrokerRecord
    from kraft.records.topics import PartitionChangeRecord
    from kraft.records.typed import TypedRecord


def fence_broker(
    image: MetadataImage, defaults: Defaults, broker_id: BrokerId
) -> tuple[TypedRecord, ...]:
    """Return the records by which a broker leads nothing, is in sync with nobody, and is fenced.

    Spec: Reassignment!FenceBroker.
    Kafka: ReplicationControlManager.handleBrokerFenced.
    """
    epoch = image.brokers[broker_id].epoch
    fence: TypedRecord = BrokerRegistrationChangeRecord(broker_id, epoch, fenced=FENCE)
    if metadata_version_of(image) < IBP_3_3_IV2:
        fence = FenceBrokerRecord(broker_id, epoch)
    return *take_out_of_isr(image, defaults, broker_id), fence


def unfence_broker(
    image: MetadataImage, defaults: Defaults, broker_id: BrokerId
) -> tuple[TypedRecord, ...]:
    """Return the records by which a broker is unfenced, and may lead what nobody leads.

    It joins no ISR by this: a leader has to ask for it.

    Spec: Reassignment!UnfenceBroker.
    Kafka: ReplicationControlManager.handleBrokerUnfenced.
    """
    epoch = image.brokers[broker_id].epoch
    unfence: TypedRecord = BrokerRegistrationChangeRecord(broker_id, epoch, fenced=UNFENCE)
    if metadata_version_of(image) < IBP_3_3_IV2:
        unfence = UnfenceBrokerRecord(broker_id, epoch)
    leaderless = _where(image, lambda partition: partition.leader == NO_LEADER)
    return unfence, *_elections(image, defaults, leaderless, counted_in=broker_id)


def begin_controlled_shutdown(
    image: MetadataImage, defaults: Defaults, broker_id: BrokerId
) -> tuple[TypedRecord, ...]:
    """Return the records by which others take over what a broker leads that wants to stop.

    Spec: Reassignment!BeginControlledShutdown.
    Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.
    """
    registration = image.brokers[broker_id]
    records: tuple[TypedRecord, ...] = ()
    if metadata_version_of(image) >= IBP_3_3_IV3 and not registration.in_controlled_shutdown:
        records = (
            BrokerRegistrationChangeRecord(
                broker_id, registration.epoch, in_controlled_shutdown=ENTER_CONTROLLED_SHUTDOWN
            ),
        )
    return *records, *take_out_of_isr(image, defaults, broker_id)


def register_broker(
    image: MetadataImage, defaults: Defaults, record: RegisterBrokerRecord
) -> tuple[TypedRecord, ...]:
    """Return the records by which a new process of a broker registers.

    The old one is in sync with nobody before the new one is there. With eligible leader replicas it
    may have lost what it had, and is not eligible either.

    Spec: Reassignment!RegisterBroker, ReassignmentElr!RegisterBrokerElr.
    Kafka: ClusterControlManager.registerBroker, ReplicationControlManager.handleBrokerShutdown.
    KIP-966.
    """
    unclean = is_elr_enabled(image)
    return *take_out_of_isr(image, defaults, record.broker_id, unclean=unclean), record


def unregister_broker(
    image: MetadataImage, defaults: Defaults, broker_id: BrokerId
) -> tuple[TypedRecord, ...]:
    """Return the records by which a broker is registered no more; it stays a replica.

    Spec: Reassignment!UnregisterBroker.
    Kafka: ReplicationControlManager.handleBrokerUnregistered.
    """
    epoch = image.brokers[broker_id].epoch
    taken_out = take_out_of_isr(image, defaults, broker_id)
    return *taken_out, UnregisterBrokerRecord(broker_id, epoch)


def take_out_of_isr(
    image: MetadataImage, defaults: Defaults, broker_id: BrokerId, *, unclean: bool = False
) -> tuple[PartitionChangeRecord, ...]:
    """Return the changes by which a broker is in no ISR, and leads nothing.

    `unclean`: it may have lost what it had, so that it is no eligible leader either.

    Spec: Reassignment!TakeOutOfIsr, ReassignmentElr!TakeOut.
    Kafka: ReplicationControlManager.generateLeaderAndIsrUpdates, .handleBrokerShutdown.
    """

    def concerns(partition: Partition) -> bool:
        eligible = partition.eligible_leader_replicas if unclean else ()
        return broker_id in partition.isr or broker_id in eligible

    changes = []
    for key in _where(image, concerns):
        ask = without_broker(
            image.partitions[key],
            broker_id,
            unclean_enabled=may_elect_uncleanly(image, defaults, key),
            unclean=unclean,
        )
        changes.append(change_of(image, defaults, key, ask, left_out=broker_id))
    return tuple(change for change in changes if change is not None)


def _elections(
    image: MetadataImage,
    defaults: Defaults,
    keys: Iterable[PartitionKey],
    *,
    counted_in: BrokerId,
) -> tuple[PartitionChangeRecord, ...]:
    changes = []
    for key in keys:
        election = election_of(unclean_enabled=may_elect_uncleanly(image, defaults, key))
        ask = new_leader(image.partitions[key], election)
        changes.append(change_of(image, defaults, key, ask, counted_in=counted_in))
    return tuple(change for change in changes if change is not None)


def _where(image: MetadataImage, condition: Callable[[Partition], bool]) -> list[PartitionKey]:
    """Return the partitions of which a condition is true, in the order of their keys."""
    return sorted(key for key, partition in image.partitions.items() if condition(partition))
