"""Controllers register: where they listen, and which features they support.

Kafka: ClusterControlManager.registerController. KIP-919.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.eligible import metadata_version_of
from kraft.controller.result import Result
from kraft.errors import ErrorCode
from kraft.image.versions import IBP_3_7_IV0
from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import Endpoint, FeatureRange
from kraft.rpc.controller_registration import ControllerRegistrationResponse

if TYPE_CHECKING:
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.controller_registration import ControllerRegistrationRequest


def register_controller(
    image: MetadataImage, request: ControllerRegistrationRequest
) -> Result[ControllerRegistrationResponse]:
    """Return the registration of a controller, whoever was registered under its id: the last wins.

    Nobody migrates from ZooKeeper any more, whatever the request says.

    Spec: ControllerRegistration!RegisterController, ControllerRegistration!RefuseRegistration.
    Kafka: ClusterControlManager.registerController.
    """
    if metadata_version_of(image) < IBP_3_7_IV0:
        reason = "the metadata version has no registrations of controllers yet"
        return Result((), ControllerRegistrationResponse(ErrorCode.UNSUPPORTED_VERSION, reason))
    record = RegisterControllerRecord(
        request.controller_id,
        request.incarnation_id,
        False,
        tuple(
            Endpoint(one.name, one.host, one.port, one.security_protocol)
            for one in request.listeners
        ),
        tuple(
            FeatureRange(one.name, one.min_supported_version, one.max_supported_version)
            for one in request.features
        ),
    )
    return Result((record,), ControllerRegistrationResponse())
