"""Which brokers may lead and be in sync, and the rules by which a partition changes."""

from __future__ import annotations

from dataclasses import replace
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
    """Return the metadata version of an image; KRaft's lowest if none is set."""
    version = image.metadata_version
    return IBP_3_0_IV1 if version is None else version


def is_elr_enabled(image: MetadataImage) -> bool:
    """Return whether eligible leader replicas are enabled (KIP-966)."""
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
    """Return whether a directory of a registered broker works, as far as the image says.

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
    """Return a function that says whether a replica of a partition may lead.

    A leader must be active, and its replica's directory must work. `counted_in` may lead although
    it is still fenced, `left_out` may not.

    Spec: Reassignment!ActiveBrokers.
    Kafka: ReplicationControlManager.isAcceptableLeader.
    """
    replicas, directories = partition.replicas, partition.directories

    def is_acceptable(broker_id: BrokerId) -> bool:
        if broker_id == left_out:
            return False
        if broker_id != counted_in and not is_active(image, broker_id):
            return False
        # The directory of an added replica is not known yet, so it counts as working.
        is_known = broker_id in replicas
        directory = directories[replicas.index(broker_id)] if is_known else UNASSIGNED
        return is_online(image, broker_id, directory)

    return is_acceptable


def default_directory(image: MetadataImage, broker_id: BrokerId) -> DirectoryId:
    """Return the directory of a new replica: the broker's only one; else the broker chooses.

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

    The number of replicas of the first partition counts for all partitions, as in Kafka.

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
    """Return whether the controller may hold an unclean election for a partition by itself."""
    return is_unclean_election_enabled(image, defaults, image.topics[key[0]].name)


def change_of(
    image: MetadataImage,
    defaults: Defaults,
    key: PartitionKey,
    ask: PartitionAsk,
    *,
    counted_in: BrokerId | None = None,
    left_out: BrokerId | None = None,
    with_elr: bool = True,
    rules: ChangeRules | None = None,
) -> PartitionChangeRecord | None:
    """Return the record that makes the requested change to a partition; None if nothing changes.

    `counted_in` and `left_out` are those of `acceptable_leader`. A change not made `with_elr` is
    one as without eligible leader replicas, even if the feature is on. `rules` are those of the
    topic; they are looked up if omitted.
    """
    partition = image.partitions[key]
    acceptable = acceptable_leader(image, partition, counted_in=counted_in, left_out=left_out)
    if rules is None:
        rules = change_rules(image, defaults, image.topics[key[0]])
    if not with_elr:
        rules = replace(rules, min_isr=None)
    return build(*key, partition, ask, acceptable, rules)
