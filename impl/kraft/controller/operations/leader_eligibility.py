"""Who may lead and be in sync, by an image, and the rules by which a partition changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kraft.controller.operations.defaults import is_unclean_election_enabled, min_isr_of
from kraft.controller.operations.partition_change import ChangeRules, build
from kraft.image.entries import LOST, MIGRATING, UNASSIGNED
from kraft.image.versions import IBP_3_0_IV1, IBP_3_7_IV2

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.partition_ask import PartitionAsk
    from kraft.ids import BrokerId, DirectoryId, PartitionId, TopicId
    from kraft.image.entries import Partition, Topic
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.topics import PartitionChangeRecord

PartitionKey: TypeAlias = "tuple[TopicId, PartitionId]"

ELIGIBLE_LEADER_REPLICAS: Final = "eligible.leader.replicas.version"
_FIRST_PARTITION: Final = 0


def metadata_version_of(image: MetadataImage) -> int:
    """Return the metadata version of an image; the least that KRaft has, before any is set."""
    version = image.metadata_version
    return IBP_3_0_IV1 if version is None else version


def is_elr_enabled(image: MetadataImage) -> bool:
    """Return whether there are eligible leader replicas (KIP-966)."""
    return image.features.get(ELIGIBLE_LEADER_REPLICAS, 0) > 0


def is_active(image: MetadataImage, broker_id: BrokerId) -> bool:
    """Return whether a broker may lead: registered, neither fenced nor in controlled shutdown.

    Spec: Reassignment!Active.
    Kafka: ClusterControlManager.isActive.
    """
    registration = image.brokers.get(broker_id)
    return (
        registration is not None
        and not registration.fenced
        and not registration.in_controlled_shutdown
    )


def is_online(image: MetadataImage, broker_id: BrokerId, directory: DirectoryId) -> bool:
    """Return whether a directory of a registered broker works, as far as is known.

    Kafka: BrokerRegistration.hasOnlineDir.
    """
    registration = image.brokers.get(broker_id)
    if directory in {UNASSIGNED, MIGRATING} or registration is None:
        return registration is not None
    if directory == LOST:
        return False
    return not registration.directories or directory in registration.directories


def acceptable_leader(
    image: MetadataImage,
    partition: Partition,
    *,
    counted_in: BrokerId | None = None,
    left_out: BrokerId | None = None,
) -> Callable[[BrokerId], bool]:
    """Return who of a partition's replicas may lead: who is active, on a directory that works.

    `counted_in` may lead though it is still fenced, `left_out` may not.

    Spec: Reassignment!ActiveBrokers.
    Kafka: ReplicationControlManager.isAcceptableLeader.
    """
    directories = dict(zip(partition.replicas, partition.directories, strict=True))

    def is_acceptable(broker_id: BrokerId) -> bool:
        if broker_id == left_out:
            return False
        active = broker_id == counted_in or is_active(image, broker_id)
        # Where a replica that comes in will be, is not known to be broken.
        return active and is_online(image, broker_id, directories.get(broker_id, UNASSIGNED))

    return is_acceptable


def default_directory(image: MetadataImage, broker_id: BrokerId) -> DirectoryId:
    """Return where a new replica will be: in the broker's one directory, or the broker chooses.

    Kafka: ClusterControlManager.defaultDir. KIP-858.
    """
    registration = image.brokers.get(broker_id)
    if registration is None or not registration.directories:
        return MIGRATING
    if metadata_version_of(image) < IBP_3_7_IV2:
        return MIGRATING
    return registration.directories[0] if len(registration.directories) == 1 else UNASSIGNED


def change_rules(image: MetadataImage, defaults: Defaults, topic: Topic) -> ChangeRules:
    """Return the rules by which the partitions of a topic change now.

    The replicas of the first partition count for all of them: that is Kafka as built.

    Spec: ReassignmentElr!EffectiveMinIsr.
    Kafka: ReplicationControlManager.getTopicEffectiveMinIsr.
    """
    min_isr = None
    if is_elr_enabled(image):
        first = image.partitions[topic.topic_id, topic.partition_ids[_FIRST_PARTITION]]
        min_isr = min(min_isr_of(image, defaults, topic.name), len(first.replicas))

    def directory_for(broker_id: BrokerId) -> DirectoryId:
        return default_directory(image, broker_id)

    return ChangeRules(
        metadata_version_of(image), min_isr, directory_for, defaults.profile.one_survivor_completes
    )


def may_elect_uncleanly(image: MetadataImage, defaults: Defaults, key: PartitionKey) -> bool:
    """Return whether a leader may be looked for beyond the ISR when the controller looks itself."""
    return is_unclean_election_enabled(image, defaults, image.topics[key[0]].name)


def change_of(
    image: MetadataImage,
    defaults: Defaults,
    key: PartitionKey,
    ask: PartitionAsk,
    *,
    counted_in: BrokerId | None = None,
    left_out: BrokerId | None = None,
) -> PartitionChangeRecord | None:
    """Return the record by which a partition becomes what is asked; None if nothing changes.

    `counted_in` and `left_out` as in `acceptable_leader`.
    """
    partition = image.partitions[key]
    acceptable = acceptable_leader(image, partition, counted_in=counted_in, left_out=left_out)
    rules = change_rules(image, defaults, image.topics[key[0]])
    return build(*key, partition, ask, acceptable, rules)
