"""The controller's static configuration, which applies where no record says otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from kraft.ids import NodeId
from kraft.profile import KAFKA_4_1, Profile
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.image.metadata_image import MetadataImage

UNCLEAN_LEADER_ELECTION: Final = "unclean.leader.election.enable"
MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
AlterConfigPolicy: TypeAlias = "Callable[[int, str, Mapping[str, str | None]], str | None]"
"""The operator's policy.

It gets the type and name of a resource and the requested values, and returns a reason to refuse
them, or None. Kafka: AlterConfigPolicy. KIP-133.
"""

_CLUSTER: Final = ""
_FIRST_NODE: Final = NodeId(0)


@dataclass(frozen=True, slots=True)
class Defaults:
    """The static configuration of a controller, with Kafka's defaults.

    `node_id` is the controller's own id: some configurations can be set for one node. `profile`
    decides where Kafka and its KIPs differ. `quorum_node_ids` are the voters named by the
    configuration; it is empty if the log names the voters. Without a secret key there are no
    delegation tokens.

    Kafka: KafkaConfig, ControllerConfigurationManager.
    """

    node_id: NodeId = _FIRST_NODE
    unclean_leader_election_enable: bool = False
    min_insync_replicas: int = 1
    num_partitions: int = 1
    default_replication_factor: int = 1
    # The controller's cluster; brokers of other clusters may not register.
    cluster_id: str = ""
    # A broker that is silent for longer is fenced.
    broker_session_timeout_ms: int = KAFKA_4_1.session_timeout_ms
    profile: Profile = KAFKA_4_1
    quorum_node_ids: tuple[NodeId, ...] = ()
    alter_config_policy: AlterConfigPolicy | None = None
    # The supported levels of each feature; None for those of Kafka 4.1.
    supported_features: Mapping[str, tuple[int, int]] | None = None
    delegation_token_secret_key: str | None = None
    delegation_token_max_lifetime_ms: int = 7 * 24 * 60 * 60 * 1000
    delegation_token_expiry_time_ms: int = 24 * 60 * 60 * 1000


def with_profile(defaults: Defaults, profile: Profile) -> Defaults:
    """Return a configuration that follows a profile, including its session timeout."""
    timeout_ms = profile.session_timeout_ms
    return replace(defaults, profile=profile, broker_session_timeout_ms=timeout_ms)


def is_unclean_election_enabled(image: MetadataImage, defaults: Defaults, topic: str) -> bool:
    """Return whether the controller may hold unclean elections for a topic by itself.

    Kafka: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic.
    """
    value = _configured(image, defaults, topic, UNCLEAN_LEADER_ELECTION)
    return defaults.unclean_leader_election_enable if value is None else value.lower() == "true"


def min_isr_of(image: MetadataImage, defaults: Defaults, topic: str) -> int:
    """Return how many replicas of a topic's partitions must be in sync to commit a record.

    Blanks around the number are ignored; Kafka's controller fails on them.

    Kafka: ConfigurationControlManager.getTopicConfig.
    """
    value = _configured(image, defaults, topic, MIN_INSYNC_REPLICAS)
    return defaults.min_insync_replicas if value is None else int(value)


def _configured(image: MetadataImage, defaults: Defaults, topic: str, name: str) -> str | None:
    """Return the value set for a topic, else for this node, else for all brokers; else None."""
    for resource in (
        (TOPIC_RESOURCE, topic),
        (BROKER_RESOURCE, str(defaults.node_id)),
        (BROKER_RESOURCE, _CLUSTER),
    ):
        values = image.configurations.get(resource)
        value = None if values is None else values.get(name)
        if value is not None:
            return value
    return None
