"""Registrations of controllers, and what the active controller does with them.

Kafka: ClusterControlManager, FeatureControlManager. KIP-919.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.errors import ControllerError
from kraft.controller.result import Result
from kraft.errors import ErrorCode
from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.cluster import FeatureLevelRecord, RegisterControllerRecord
from kraft.records.lease import Endpoint, FeatureRange
from kraft.rpc.controller_registration import ControllerRegistrationResponse

if TYPE_CHECKING:
    from collections.abc import Collection

    from kraft.controller.defaults import Defaults
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.controller_registration import ControllerRegistrationRequest
    from kraft.rpc.node_description import SupportedFeature

REGISTRATION_LEVEL: Final = 15
"""The first metadata version with registrations of controllers: 3.7-IV0."""


def is_registration_supported(metadata_version: int | None) -> bool:
    """Return whether a metadata version has registrations of controllers.

    Spec: ControllerRegistration!RegistrationSupported.
    Kafka: MetadataVersion.isControllerRegistrationSupported.
    """
    return metadata_version is not None and metadata_version >= REGISTRATION_LEVEL


def register_controller(
    image: MetadataImage, _defaults: Defaults, request: ControllerRegistrationRequest
) -> Result[ControllerRegistrationResponse]:
    """Return the record of a registration, whoever is registered under the id: the last one counts.

    Raises ControllerError UNSUPPORTED_VERSION below the first version with such records.

    Spec: ControllerRegistration!RegisterController.
    Kafka: ClusterControlManager.registerController.
    """
    if not is_registration_supported(image.metadata_version):
        raise ControllerError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"metadata version {image.metadata_version} has no registrations of controllers",
        )
    record = RegisterControllerRecord(
        request.controller_id,
        request.incarnation_id,
        # There is no migration from ZooKeeper any more to be ready for.
        zk_migration_ready=False,
        endpoints=tuple(Endpoint(*one) for one in request.listeners),
        features=tuple(FeatureRange(*one) for one in request.features),
    )
    return Result((record,), ControllerRegistrationResponse())


def supports_level(features: Collection[FeatureRange | SupportedFeature], level: int) -> bool:
    """Return whether software with these features can run with a metadata version."""
    return any(
        one.name == METADATA_VERSION and one.minimum <= level <= one.maximum for one in features
    )


def reason_not_supported(
    image: MetadataImage,
    defaults: Defaults,
    own_features: Collection[SupportedFeature],
    quorum_ids: Collection[int],
    level: int,
) -> str | None:
    """Return why the metadata version must not be raised to a level; None if it may.

    The active controller asks itself, not the log. `quorum_ids` are those that the configuration
    names; none if the quorum is dynamic.

    Spec: ControllerRegistration!LevelSupported.
    Kafka: FeatureControlManager.reasonNotSupported.
    """
    if not supports_level(own_features, level):
        return f"controller {defaults.node_id} does not support level {level}"
    if not is_registration_supported(image.metadata_version):
        return None
    for controller_id, registration in sorted(image.controllers.items()):
        is_other = int(controller_id) != int(defaults.node_id)
        if is_other and not supports_level(registration.features, level):
            return f"controller {controller_id} does not support level {level}"
    registered = {int(controller_id) for controller_id in image.controllers}
    for quorum_id in sorted(set(quorum_ids) - registered - {int(defaults.node_id)}):
        return f"controller {quorum_id} has not registered"
    return None


def raise_metadata_version(
    image: MetadataImage,
    defaults: Defaults,
    own_features: Collection[SupportedFeature],
    quorum_ids: Collection[int],
    level: int,
) -> Result[None]:
    """Return the record of a higher metadata version.

    Raises ControllerError INVALID_UPDATE_VERSION if some controller does not support it, or may
    not.

    Spec: ControllerRegistration!UpgradeFeature.
    Kafka: FeatureControlManager.updateFeatures.
    """
    reason = reason_not_supported(image, defaults, own_features, quorum_ids, level)
    if reason is not None:
        raise ControllerError(ErrorCode.INVALID_UPDATE_VERSION, reason)
    return Result((FeatureLevelRecord(METADATA_VERSION, level),), None)
