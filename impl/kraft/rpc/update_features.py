"""RPC 57: levels of features are finalized."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kraft.errors import ErrorCode


class UpgradeType(enum.IntEnum):
    """Which way a feature may go, and at what cost. Kafka: FeatureUpdate.UpgradeType."""

    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    """A feature and the level it should have; level 0 removes it."""

    feature: str
    max_version_level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


@dataclass(frozen=True, slots=True)
class UpdateFeaturesRequest:
    """RPC 57. Kafka: UpdateFeaturesRequest. KIP-584, KIP-778."""

    feature_updates: tuple[FeatureUpdate, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class UpdateFeaturesResponse:
    """RPC 57, the answer: one error for the whole request. Kafka: UpdateFeaturesResponse."""

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
