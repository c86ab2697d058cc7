"""Feature levels are finalized.

Kafka: FeatureControlManager, ConfigurationControlManager.updateFeatures. KIP-584, KIP-778.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.operations.defaults import MIN_INSYNC_REPLICAS
from kraft.controller.operations.leader_eligibility import (
    ELIGIBLE_LEADER_REPLICAS,
    metadata_version_of,
)
from kraft.controller.operations.registration_checks import KRAFT_VERSION
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import (
    IBP_3_7_IV0,
    IBP_4_0_IV1,
    LATEST_METADATA_VERSION,
    OLDEST_METADATA_VERSION,
    is_metadata_lost,
)
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.lease import NoOpRecord
from kraft.records.topics import BROKER_RESOURCE, ConfigRecord
from kraft.rpc.update_features import UpdateFeaturesResponse, UpgradeType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kraft.controller.operations.defaults import Defaults
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.lease import FeatureRange
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc.update_features import FeatureUpdate, UpdateFeaturesRequest

GROUP_VERSION: Final = "group.version"
TRANSACTION_VERSION: Final = "transaction.version"
SHARE_VERSION: Final = "share.version"

SUPPORTED_FEATURES: Final[Mapping[str, tuple[int, int]]] = {
    METADATA_VERSION: (OLDEST_METADATA_VERSION, LATEST_METADATA_VERSION),
    ELIGIBLE_LEADER_REPLICAS: (0, 1),
    GROUP_VERSION: (0, 1),
    SHARE_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
}
"""The lowest and the highest supported level of each feature, as in Kafka 4.1."""

_KNOWN_AT_LEVEL_0: Final = frozenset(
    {
        "streams.version",
        "test.feature.version",
        *(f"unit.test.feature.version.{number}" for number in range(8)),
    }
)
"""Other features that Kafka knows by name. No node supports more than level 0, which can be set.

Kafka: Feature.featureFromName.
"""

_DEPENDENCIES: Final[Mapping[tuple[str, int], tuple[tuple[str, int], ...]]] = {
    (ELIGIBLE_LEADER_REPLICAS, 1): ((METADATA_VERSION, IBP_4_0_IV1),),
    ("unit.test.feature.version.7", 0): ((METADATA_VERSION, IBP_3_7_IV0),),
}
"""The minimum levels of other features that a level needs."""
_NEEDED_ABOVE_LEVEL_0: Final = METADATA_VERSION, OLDEST_METADATA_VERSION
"""What every level above 0 needs, too: a metadata version that Kafka 4.1 can start with.

Kafka: Feature.validateVersion.
"""

_NOT_SUPPORTED: Final = (0, 0)
_EVERY_BROKER: Final = ""


def update_features(
    image: MetadataImage,
    defaults: Defaults,
    request: UpdateFeaturesRequest,
    kraft_version: int = 0,
) -> Result[UpdateFeaturesResponse]:
    """Return new levels of features. The update is atomic.

    If the request enables eligible leader replicas, records before it set one minimum ISR for all
    brokers. A level that a feature already has is written again. `kraft_version` is Raft's: it can
    only be given the level that it has, for which a NoOpRecord is written, as in Kafka.

    Spec: ControllerRegistration!UpgradeFeature, ControllerRegistration!RefuseUpgrade.
    Kafka: ConfigurationControlManager.updateFeatures, FeatureControlManager.updateFeatures.
    """
    updates = {one.feature: one for one in request.feature_updates}
    proposed = {**image.features, METADATA_VERSION: metadata_version_of(image)}
    proposed |= {name: one.max_version_level for name, one in updates.items()}
    records: list[TypedRecord] = []
    for name, update in updates.items():
        if name == KRAFT_VERSION:
            reason = _reason_against_kraft_version(kraft_version, update.max_version_level)
        else:
            reason = _reason_against(image, defaults, update, proposed)
        if reason is not None:
            reason = f"{name} cannot have level {update.max_version_level}: {reason}"
            response = UpdateFeaturesResponse(ErrorCode.INVALID_UPDATE_VERSION, reason)
            return Result((), response, is_atomic=False)
        is_raft = name == KRAFT_VERSION
        records.append(
            NoOpRecord() if is_raft else FeatureLevelRecord(name, update.max_version_level)
        )
    if request.validate_only:
        return Result((), UpdateFeaturesResponse(), is_atomic=False)
    elr = updates.get(ELIGIBLE_LEADER_REPLICAS)
    if elr is not None and elr.max_version_level > 0:
        records = [*_one_min_isr(image, defaults), *records]
    return Result(tuple(records), UpdateFeaturesResponse())


def _reason_against(
    image: MetadataImage, defaults: Defaults, update: FeatureUpdate, proposed: Mapping[str, int]
) -> str | None:
    """Return why a feature cannot have a level, or None if it can.

    Kafka: FeatureControlManager.updateFeature.
    """
    name, level = update.feature, update.max_version_level
    present = (
        metadata_version_of(image) if name == METADATA_VERSION else image.features.get(name, 0)
    )
    if update.upgrade_type is UpgradeType.UNKNOWN:
        return "the upgrade type is unknown"
    if level < 0:
        return "a level is not negative"
    reason = reason_not_supported(image, defaults, name, level)
    if reason is not None:
        return reason
    if level < present and update.upgrade_type is UpgradeType.UPGRADE:
        return f"it has level {present}, and the request is not a downgrade"
    if level > present and update.upgrade_type is not UpgradeType.UPGRADE:
        return f"it has level {present}, and a downgrade cannot raise it"
    if name == METADATA_VERSION:
        return _reason_against_metadata_version(present, level, update.upgrade_type)
    if name not in SUPPORTED_FEATURES and name not in _KNOWN_AT_LEVEL_0:
        return "unknown feature"
    needed = _DEPENDENCIES.get((name, level), ())
    for other, least in needed if level == 0 else (_NEEDED_ABOVE_LEVEL_0, *needed):
        if proposed.get(other, 0) < least:
            return f"it needs {other} of at least {least}"
    return None


def _reason_against_kraft_version(present: int, level: int) -> str | None:
    """Return why the kraft.version cannot have this level, or None if it has it."""
    return (
        None
        if level == present
        else f"it keeps level {present}; ask for the other features without it"
    )


def _reason_against_metadata_version(
    present: int, level: int, upgrade_type: UpgradeType
) -> str | None:
    """Return why the metadata version cannot change to this level, or None if it can.

    Kafka: FeatureControlManager.updateMetadataVersion.
    """
    if level >= present or not is_metadata_lost(present, level):
        return None
    if upgrade_type is UpgradeType.UNSAFE_DOWNGRADE:
        return "an unsafe downgrade of metadata is not supported"
    return "metadata might be lost"


def reason_not_supported(
    image: MetadataImage, defaults: Defaults, name: str, level: int
) -> str | None:
    """Return which node does not support a level, or has not registered; None if all support it.

    Controllers count only from the metadata version on that has controller registrations. The
    active controller uses its own features, not its registration.

    Spec: ControllerRegistration!LevelSupported.
    Kafka: FeatureControlManager.reasonNotSupported, QuorumFeatures.reasonNotSupported.
    """
    for node, (lowest, highest) in _ranges(image, defaults, name):
        if not lowest <= level <= highest:
            return f"{node} supports {lowest} to {highest}"
    if metadata_version_of(image) >= IBP_3_7_IV0:
        registered = {defaults.node_id, *image.controllers}
        for node_id in defaults.quorum_node_ids:
            if node_id not in registered:
                return f"controller {node_id} has not registered"
    return None


def _ranges(
    image: MetadataImage, defaults: Defaults, name: str
) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each node and its supported levels of a feature, the local node first."""
    own = SUPPORTED_FEATURES if defaults.supported_features is None else defaults.supported_features
    yield f"controller {defaults.node_id}", own.get(name, _NOT_SUPPORTED)
    for broker_id, broker in sorted(image.brokers.items()):
        yield f"broker {broker_id}", _range_of(broker.features, name)
    if metadata_version_of(image) < IBP_3_7_IV0:
        return
    for controller_id, controller in sorted(image.controllers.items()):
        if int(controller_id) != int(defaults.node_id):
            yield f"controller {controller_id}", _range_of(controller.features, name)


def _range_of(features: tuple[FeatureRange, ...], name: str) -> tuple[int, int]:
    for one in features:
        if one.name == name:
            return one.minimum, one.maximum
    return _NOT_SUPPORTED


def _one_min_isr(image: MetadataImage, defaults: Defaults) -> Iterator[ConfigRecord]:
    """Yield the records that set one minimum ISR for all brokers, which ELR needs.

    Kafka: ConfigurationControlManager.maybeGenerateElrSafetyRecords. KIP-966.
    """
    everywhere = image.configurations.get((BROKER_RESOURCE, _EVERY_BROKER))
    if everywhere is None or MIN_INSYNC_REPLICAS not in everywhere:
        yield _min_isr_of_all(defaults)
    own = [
        name
        for (resource_type, name), values in image.configurations.items()
        if resource_type == BROKER_RESOURCE and name and MIN_INSYNC_REPLICAS in values
    ]
    for name in sorted(own, key=int):
        yield ConfigRecord(BROKER_RESOURCE, name, MIN_INSYNC_REPLICAS, None)


def _min_isr_of_all(defaults: Defaults) -> ConfigRecord:
    value = str(defaults.min_insync_replicas)
    return ConfigRecord(BROKER_RESOURCE, _EVERY_BROKER, MIN_INSYNC_REPLICAS, value)
