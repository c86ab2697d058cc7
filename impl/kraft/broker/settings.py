"""The configuration of a broker process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraft.ids import NO_BROKER_EPOCH
from kraft.profile import KAFKA_4_1

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, DirectoryId
    from kraft.profile import Profile
    from kraft.rpc.node_description import Listener, SupportedFeature


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """The static configuration of a broker process, with Kafka's defaults; times in milliseconds.

    `previous_broker_epoch` was read from the file of a clean shutdown; it is -1 without one.

    Kafka: KafkaConfig, AbstractKafkaConfig, CleanShutdownFileHandler.
    """

    cluster_id: str
    log_dirs: tuple[DirectoryId, ...]
    listeners: tuple[Listener, ...] = ()
    features: tuple[SupportedFeature, ...] = ()
    rack: str | None = None
    previous_broker_epoch: BrokerEpoch = NO_BROKER_EPOCH
    broker_heartbeat_interval_ms: int = KAFKA_4_1.heartbeat_interval_ms
    broker_session_timeout_ms: int = KAFKA_4_1.session_timeout_ms
    initial_broker_registration_timeout_ms: int = KAFKA_4_1.registration_timeout_ms
    log_dir_failure_timeout_ms: int = 30_000


def with_profile(settings: BrokerSettings, profile: Profile) -> BrokerSettings:
    """Return settings with the times of a profile. KIP-631 "Configurations"."""
    return replace(
        settings,
        broker_heartbeat_interval_ms=profile.heartbeat_interval_ms,
        broker_session_timeout_ms=profile.session_timeout_ms,
        initial_broker_registration_timeout_ms=profile.registration_timeout_ms,
    )
