"""The partitions that a broker leads, or is in sync with, follow its changes of state.

Each function returns its records in Kafka's order; after a failover only a prefix of them may
remain. Changes of partitions are in the order of their ids; Kafka has the order of a hash map.

`index` maps brokers to their partitions. With it, a function looks only at the partitions
concerned. It is built if omitted.

Kafka: ReplicationControlManager.handleBrokerFenced and the like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.operations import cluster_control
from kraft.controller.operations.defaults import is_unclean_election_enabled
from kraft.controller.operations.leader_eligibility import (
    change_of,
    change_rules,
    is_elr_enabled,
    metadata_version_of,
)
from kraft.controller.operations.partition_ask import election_of, new_leader, without_broker
from kraft.image.brokers_to_partitions import brokers_to_partitions
from kraft.image.versions import IBP_3_3_IV2, IBP_3_3_IV3
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
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
    from kraft.controller.operations.partition_change import ChangeRules
    from kraft.ids import BrokerId, TopicId
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
    """Return the records that fence a broker, after taking it out of every ISR and leadership.

    Spec: Reassignment!FenceBroker.
    Kafka: ReplicationControlManager.handleBrokerFenced.
    """
    epoch = image.brokers[broker_id].epoch
    fence = cluster_control.fence_record(broker_id, epoch)
    return *take_out_of_isr(image, defaults, broker_id, index), *as_written(image, fence)


def unfence_broker(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    index: BrokersToPartitions | None = None,
) -> tuple[TypedRecord, ...]:
    """Return the records that unfence a broker and make it lead partitions without a leader.

    The broker joins no ISR: a leader must ask for that.

    Spec: Reassignment!UnfenceBroker.
    Kafka: ReplicationControlManager.handleBrokerUnfenced.
    """
    epoch = image.brokers[broker_id].epoch
    unfence = cluster_control.unfence_record(broker_id, epoch)
    index = brokers_to_partitions(image) if index is None else index
    leaderless = sorted(index.leads.get(NO_LEADER, ()))
    elections = _elections(image, defaults, leaderless, counted_in=broker_id)
    return *as_written(image, unfence), *elections


def begin_controlled_shutdown(
    image: MetadataImage,
    defaults: Defaults,
    broker_id: BrokerId,
    index: BrokersToPartitions | None = None,
) -> tuple[TypedRecord, ...]:
    """Return the records that begin a controlled shutdown and move the broker's leaderships.

    Spec: Reassignment!BeginControlledShutdown.
    Kafka: ReplicationControlManager.handleBrokerInControlledShutdown.
    """
    epoch = image.brokers[broker_id].epoch
    begin = cluster_control.shutdown_record(broker_id, epoch)
    return *as_written(image, begin), *take_out_of_isr(image, defaults, broker_id, index)


def as_written(
    image: MetadataImage, record: BrokerRegistrationChangeRecord
) -> tuple[TypedRecord, ...]:
    """Return a change of a registration as the metadata version writes it.

    Old versions have records of their own for fencing and unfencing, and none for the beginning of
    a controlled shutdown. A controlled shutdown that has begun is not written again.

    Kafka: ReplicationControlManager.handleBrokerFenced, .handleBrokerUnfenced,
    .handleBrokerInControlledShutdown.
    """
    version = metadata_version_of(image)
    broker_id, epoch = record.broker_id, record.broker_epoch
    if record.in_controlled_shutdown == ENTER_CONTROLLED_SHUTDOWN:
        has_begun = image.brokers[broker_id].in_controlled_shutdown
        return () if version < IBP_3_3_IV3 or has_begun else (record,)
    if version >= IBP_3_3_IV2:
        return (record,)
    is_fence = record.fenced == FENCE
    return (
        FenceBrokerRecord(broker_id, epoch) if is_fence else UnfenceBrokerRecord(broker_id, epoch),
    )


def register_broker(
    image: MetadataImage,
    defaults: Defaults,
    record: RegisterBrokerRecord,
    index: BrokersToPartitions | None = None,
    *,
    clean: bool = False,
) -> tuple[TypedRecord, ...]:
    """Return the records that register a new process of a broker.

    Records before the registration take the previous process out of every ISR. With eligible leader
    replicas they also end its eligibility, because it may have lost data, unless it stopped cleanly
    (`clean`).

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
    """Return the records that remove a registration; the broker stays a replica.

    Where the broker is an eligible leader, the partition gets an election too. The broker stays
    eligible, and so does its next process, as in Kafka.

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
    """Return the changes that take a broker out of every ISR and leadership.

    With `unclean` the broker may have lost data, so it also leaves every ELR. Those changes come
    last.

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
    settings = _TopicSettings(image, defaults)
    changes = []
    for key in keys:
        unclean_enabled, rules = settings[key[0]]
        partition = image.partitions[key]
        ask = without_broker(partition, broker_id, unclean_enabled=unclean_enabled, unclean=unclean)
        changes.append(change_of(image, defaults, key, ask, left_out=broker_id, rules=rules))
    return tuple([change for change in changes if change is not None])


def _elections(
    image: MetadataImage,
    defaults: Defaults,
    keys: Iterable[PartitionKey],
    *,
    counted_in: BrokerId,
) -> tuple[PartitionChangeRecord, ...]:
    settings = _TopicSettings(image, defaults)
    changes = []
    for key in keys:
        unclean_enabled, rules = settings[key[0]]
        election = election_of(unclean_enabled=unclean_enabled)
        ask = new_leader(image.partitions[key], election)
        changes.append(change_of(image, defaults, key, ask, counted_in=counted_in, rules=rules))
    return tuple([change for change in changes if change is not None])


class _TopicSettings(dict["TopicId", tuple[bool, "ChangeRules"]]):
    """Of each topic whether its elections may be unclean, and its rules: looked up once."""

    def __init__(self, image: MetadataImage, defaults: Defaults) -> None:
        super().__init__()
        self._image = image
        self._defaults = defaults

    def __missing__(self, topic_id: TopicId) -> tuple[bool, ChangeRules]:
        topic = self._image.topics[topic_id]
        unclean = is_unclean_election_enabled(self._image, self._defaults, topic.name)
        found = self[topic_id] = unclean, change_rules(self._image, self._defaults, topic)
        return found
