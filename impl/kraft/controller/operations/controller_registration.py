"""Registrations of controllers.

Kafka: ClusterControlManager.registerController. KIP-919.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.operations.registration_checks import endpoints_of
from kraft.controller.operations.result import Result
from kraft.errors import ErrorCode
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import IBP_3_7_IV0
from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import FeatureRange
from kraft.rpc.controller_registration import ControllerRegistrationResponse

if TYPE_CHECKING:
    from collections.abc import Collection

    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.controller_registration import ControllerRegistrationRequest
    from kraft.rpc.node_description import SupportedFeature

REGISTRATION_LEVEL: Final = IBP_3_7_IV0
"""The first metadata version with controller registrations."""


def is_registration_supported(metadata_version: int | None) -> bool:
    """Return whether a metadata version has controller registrations.

    Spec: ControllerRegistration!RegistrationSupported.
    Kafka: MetadataVersion.isControllerRegistrationSupported.
    """
    return metadata_version is not None and metadata_version >= REGISTRATION_LEVEL


def register_controller(
    image: MetadataImage, request: ControllerRegistrationRequest
) -> Result[ControllerRegistrationResponse]:
    """Return the registration of a controller. It replaces any earlier one under the same id.

    The record never says that the controller migrates from ZooKeeper, whatever the request says.

    Raises ControllerFaultError for an invalid listener.
    Spec: ControllerRegistration!RegisterController, ControllerRegistration!RefuseRegistration.
    Kafka: ClusterControlManager.registerController.
    """
    if not is_registration_supported(image.metadata_version):
        reason = "the metadata version has no controller registrations yet"
        return Result((), ControllerRegistrationResponse(ErrorCode.UNSUPPORTED_VERSION, reason))
    record = RegisterControllerRecord(
        request.controller_id,
        request.incarnation_id,
        zk_migration_ready=False,
        endpoints=endpoints_of(request),
        features=tuple(FeatureRange(*one) for one in request.features),
    )
    return Result((record,), ControllerRegistrationResponse())


def supports_level(features: Collection[FeatureRange | SupportedFeature], level: int) -> bool:
    """Return whether software with these features supports a metadata version."""
    return any(
        one.name == METADATA_VERSION and one.minimum <= level <= one.maximum for one in features
    )
