"""What an image permits, by rules of the checks' own.

The judged code has these rules too, and is not asked for them: a mistake there would excuse itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kraft.controller.operations.defaults import Defaults
    from kraft.image.metadata_image import MetadataImage

__all__ = ["is_elr_enabled", "may_elect_uncleanly"]

_TOPIC: Final = 2
_BROKER: Final = 4
_UNCLEAN: Final = "unclean.leader.election.enable"
_ELR: Final = "eligible.leader.replicas.version"


def may_elect_uncleanly(image: MetadataImage, defaults: Defaults, topic: str) -> bool:
    """Return whether the topic, else the node, else all nodes allow unclean elections.

    Kafka: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic.
    """
    for resource in ((_TOPIC, topic), (_BROKER, str(defaults.node_id)), (_BROKER, "")):
        configured = image.configurations.get(resource)
        if configured is not None and _UNCLEAN in configured:
            return str(configured[_UNCLEAN]).lower() == "true"
    return defaults.unclean_leader_election_enable


def is_elr_enabled(image: MetadataImage) -> bool:
    """Return whether replicas outside the ISR may be eligible to lead (KIP-966)."""
    return image.features.get(_ELR, 0) > 0
