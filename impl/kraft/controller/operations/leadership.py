"""Brokers come and go, and the partitions that they led or were in sync with follow.

Each function returns the records in the order of what Kafka writes: a prefix of them may be all
that a failover leaves. Changes of partitions come in the order of their ids, where Kafka has that
of a hash map.

Who keeps an index of brokers and partitions gives it, and no function here goes through partitions
that do not matter; else they make one.

Kafka: ReplicationControlManager.handleBrokerFenced and the like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations.leader_eligibility import (
    change_of,
    is_elr_enabled,
    may_elect_uncleanly,
    metadata_version_of,
)
from kraft.controller.operations.partition_ask import election_of, new_leader, without_broker
from kraft.image.brokers_to_partitions import brokers_to_partitions
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
    from collections.abc import Iterable

    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.leader_eligibility import PartitionKey
    from kraft.ids import BrokerId
    from kraft.image.brokers_to_partitions import BrokersToPartitions
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.lease import RegisterBrokerRecord
    from kraft.records.topics import PartitionChangeRecord
    from kraft.records.typed_record import TypedRecord


def fence_broker(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    index: BrokersToPartitions | None = None,
) -> tuple[TypedRecord, ...]:
    """Return the records by which a broker leads nothing, is in sync with nobody, and is fenced.

    Spec: Reassignment!FenceBroker.
    Kafka: ReplicationControlManager.handleBrokerFenced.
    """
    epoch = image.brokers[broker_id].epoch
    fence: TypedRecord = BrokerRegistrationChangeRecord(broker_id, epoch, fenced=FENCE)
    if metadata_version_of(image) < IBP_3_3_IV2:
        fence = FenceBrokerRecord(broker_id, epoch)
    return *take_out_of_isr(image, defaults, broker_id, index), fence


def unfence_broker(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    index: BrokersToPartitions | None = None,
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
    index = brokers_to_partitions(image) if index is None else index
    leaderless = sorted(index.leads.get(NO_LEADER, ()))
    return unfence, *_elections(image, defaults, leaderless, counted_in=broker_id)


def begin_controlled_shutdown(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    index: BrokersToPartitions | None = None,
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
    return *records, *take_out_of_isr(image, defaults, broker_id, index)


def register_broker(
    image: MetadataImage,
    defaults: Defaults,
    record: RegisterBrokerRecord,
    index: BrokersToPartitions | None = None,
    *,
    clean: bool = False,
) -> tuple[TypedRecord, ...]:
    """Return the records by which a new process of a broker registers.

    The old one is in sync with nobody before the new one is there. With eligible leader replicas it
    may have lost what it had, and is not eligible either, unless it is known to have stopped
    cleanly (`clean`).

    Spec: Reassignment!RegisterBroker, ReassignmentElr!RegisterBrokerElr.
    Kafka: ClusterControlManager.registerBroker, ReplicationControlManager.handleBrokerShutdown.
    KIP-966.
    """
    unclean = is_elr_enabled(image) and not clean
    return *take_out_of_isr(image, defaults, record.broker_id, index, unclean=unclean), record


def unregister_broker(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    index: BrokersToPartitions | None = None,
) -> tuple[TypedRecord, ...]:
    """Return the records by which a broker is registered no more; it stays a replica.

    Where it is eligible, a leader is looked for too. It stays eligible, and so is its next process:
    that is Kafka as built.

    Spec: Reassignment!UnregisterBroker.
    Kafka: ReplicationControlManager.handleBrokerUnregistered.
    """
    epoch = image.brokers[broker_id].epoch
    index = brokers_to_partitions(image) if index is None else index
    eligible = sorted(index.elr.get(broker_id, ()))
    return (
        *take_out_of_isr(image, defaults, broker_id, index),
        *_without(image, defaults, broker_id, eligible, unclean=False),
        UnregisterBrokerRecord(broker_id, epoch),
    )


def take_out_of_isr(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    index: BrokersToPartitions | None = None,
    *,
    unclean: bool = False,
) -> tuple[PartitionChangeRecord, ...]:
    """Return the changes by which a broker is in no ISR, and leads nothing.

    `unclean`: it may have lost what it had, so that it is no eligible leader either; where it was
    one comes last.

    Spec: Reassignment!TakeOutOfIsr, ReassignmentElr!TakeOut.
    Kafka: ReplicationControlManager.generateLeaderAndIsrUpdates, .handleBrokerShutdown.
    """
    index = brokers_to_partitions(image) if index is None else index
    keys = sorted(index.isr.get(broker_id, ()))
    if unclean:
        keys += sorted(index.elr.get(broker_id, ()))
    return _without(image, defaults, broker_id, keys, unclean=unclean)


def _without(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    keys: Iterable[PartitionKey],
    *,
    unclean: bool,
) -> tuple[PartitionChangeRecord, ...]:
    changes = []
    for key in keys:
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
