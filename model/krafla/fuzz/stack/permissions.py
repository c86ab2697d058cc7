"""What an image permits, by rules of the checks' own.

The judged code has these rules too, and is not asked for them: a mistake there would excuse itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.ids import BrokerId

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage

__all__ = ["is_elr_enabled", "may_elect_uncleanly", "may_lead"]

_TOPIC: Final = 2
_BROKER: Final = 4
_UNCLEAN: Final = "unclean.leader.election.enable"
_ELR: Final = "eligible.leader.replicas.version"
_NOT_NAMED_YET: Final = frozenset(("A" * 22, "A" * 21 + "Q"))
_LOST: Final = "A" * 21 + "g"


def may_elect_uncleanly(image: MetadataImage, defaults: Defaults, topic: str) -> bool:
    """Return whether the topic, else the node, else all nodes allow unclean elections.

    Kafka: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic.
    """
    for resource in ((_TOPIC, topic), (_BROKER, str(defaults.node_id)), (_BROKER, "")):
        configured = image.configurations.get(resource)
        if configured is not None and _UNCLEAN in configured:
            return str(configured[_UNCLEAN]).lower() == "true"
    return defaults.unclean_leader_election_enable


def may_lead(image: MetadataImage, partition: Partition, broker_id: int) -> bool:
    """Return whether a replica is active, and its directory works as far as is known.

    Kafka: LeaderAcceptor.test, DirectoryId.isOnline.
    """
    broker = image.brokers.get(BrokerId(broker_id))
    if broker is None or broker.fenced or broker.in_controlled_shutdown:
        return False
    directory = partition.directories[partition.replicas.index(BrokerId(broker_id))]
    if directory in _NOT_NAMED_YET:
        return True
    return directory != _LOST and (not broker.directories or directory in broker.directories)


def is_elr_enabled(image: MetadataImage) -> bool:
    """Return whether replicas outside the ISR may be eligible to lead (KIP-966)."""
    return image.features.get(_ELR, 0) > 0
