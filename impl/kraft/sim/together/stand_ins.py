"""Two operations of the controller that are the smallest ones faithful to Cluster.

They stand for the whole ones: registrations of controllers, and levels of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.controller.eligible import metadata_version_of
from kraft.controller.result import Result
from kraft.errors import ErrorCode
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import IBP_3_7_IV0
from kraft.records.cluster import FeatureLevelRecord, RegisterControllerRecord
from kraft.records.lease import FeatureRange

if TYPE_CHECKING:
    from kraft.controller.quorum.operations import Asked
    from kraft.ids import ControllerId, IncarnationId, NodeId


@dataclass(frozen=True, slots=True)
class ControllerRegistrationRequest:
    """RPC 70: a controller process, and the metadata versions that it supports. KIP-919."""

    controller_id: ControllerId
    incarnation_id: IncarnationId
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class UpdateFeaturesRequest:
    """RPC 57, of the metadata version only. `quorum` are the controllers there are.

    Kafka: UpdateFeaturesRequest.
    """

    level: int
    quorum: tuple[NodeId, ...]
    lowest: int
    highest: int


def register_controller(asked: Asked) -> Result[ErrorCode]:
    """Return the registration of a controller, whoever was registered under its id: the last wins.

    Spec: ControllerRegistration!RegisterController.
    Kafka: ClusterControlManager.registerController.
    """
    request: ControllerRegistrationRequest = asked.request
    if metadata_version_of(asked.image) < IBP_3_7_IV0:
        return Result((), ErrorCode.UNSUPPORTED_VERSION)
    record = RegisterControllerRecord(
        request.controller_id,
        request.incarnation_id,
        zk_migration_ready=False,
        endpoints=(),
        features=(FeatureRange(METADATA_VERSION, request.lowest, request.highest),),
    )
    return Result((record,), ErrorCode.NONE)


def update_features(asked: Asked) -> Result[ErrorCode]:
    """Return the metadata version raised, if each controller supports it by its registration.

    Before controllers registered nobody but this one is asked; its range is in the request.

    Spec: ControllerRegistration!UpgradeFeature.
    Kafka: FeatureControlManager.updateFeatures.
    """
    request: UpdateFeaturesRequest = asked.request
    image, level = asked.image, request.level
    if level <= metadata_version_of(image) or not request.lowest <= level <= request.highest:
        return Result((), ErrorCode.INVALID_UPDATE_VERSION)
    if metadata_version_of(image) >= IBP_3_7_IV0 and not all(
        is_supported(asked, other, level)
        for other in request.quorum
        if other != asked.defaults.node_id
    ):
        return Result((), ErrorCode.INVALID_UPDATE_VERSION)
    return Result((FeatureLevelRecord(METADATA_VERSION, level),), ErrorCode.NONE)


def is_supported(asked: Asked, controller: NodeId, level: int) -> bool:
    """Return whether a controller is registered, and supports a metadata version.

    Kafka: QuorumFeatures.reasonNotSupported.
    """
    registrations = {int(one): value for one, value in asked.image.controllers.items()}
    registration = registrations.get(controller)
    return registration is not None and any(
        one.name == METADATA_VERSION and one.minimum <= level <= one.maximum
        for one in registration.features
    )
