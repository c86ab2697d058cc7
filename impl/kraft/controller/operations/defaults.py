"""What the controller's own configuration says, where no record says anything else."""

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
"""The operator's own say: from the type and name of a resource and what is to be set of it, why
that may not be; None if it may. Kafka: AlterConfigPolicy. KIP-133."""

_CLUSTER: Final = ""
_FIRST_NODE: Final = NodeId(0)


@dataclass(frozen=True, slots=True)
class Defaults:
    """The static configuration of a controller, with Kafka's defaults.

    `node_id` is the controller's own: some configurations may be set for one node. `profile` is the
    text that is followed where Kafka and its KIPs differ. `quorum_node_ids` are the voters that the
    configuration names, none if the log does. Without a secret key there are no delegation tokens.

    Kafka: KafkaConfig, ControllerConfigurationManager.
    """

    node_id: NodeId = _FIRST_NODE
    unclean_leader_election_enable: bool = False
    min_insync_replicas: int = 1
    num_partitions: int = 1
    default_replication_factor: int = 1
    # Of which cluster the controller is: brokers of another one may not register.
    cluster_id: str = ""
    # How long a broker may be silent before it is fenced.
    broker_session_timeout_ms: int = KAFKA_4_1.session_timeout_ms
    profile: Profile = KAFKA_4_1
    quorum_node_ids: tuple[NodeId, ...] = ()
    alter_config_policy: AlterConfigPolicy | None = None
    # The levels of each feature that the controller's software supports; None for those of 4.1.
    supported_features: Mapping[str, tuple[int, int]] | None = None
    delegation_token_secret_key: str | None = None
    delegation_token_max_lifetime_ms: int = 7 * 24 * 60 * 60 * 1000
    delegation_token_expiry_time_ms: int = 24 * 60 * 60 * 1000


def with_profile(defaults: Defaults, profile: Profile) -> Defaults:
    """Return a configuration that follows a text, also in how long a session lasts."""
    timeout_ms = profile.session_timeout_ms
    return replace(defaults, profile=profile, broker_session_timeout_ms=timeout_ms)


def is_unclean_election_enabled(image: MetadataImage, defaults: Defaults, topic: str) -> bool:
    """Return whether the controller may by itself elect a leader of a topic that costs data.

    Kafka: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic.
    """
    value = _configured(image, defaults, topic, UNCLEAN_LEADER_ELECTION)
    return defaults.unclean_leader_election_enable if value is None else value.lower() == "true"


def min_isr_of(image: MetadataImage, defaults: Defaults, topic: str) -> int:
    """Return how many replicas of a topic's partitions must be in sync for a commit.

    Kafka: ConfigurationControlManager.getTopicConfig.
    """
    value = _configured(image, defaults, topic, MIN_INSYNC_REPLICAS)
    return defaults.min_insync_replicas if value is None else int(value)


def _configured(image: MetadataImage, defaults: Defaults, topic: str, name: str) -> str | None:
    """Return what is set for a topic, else for this node, else for all brokers; None if nothing."""
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
