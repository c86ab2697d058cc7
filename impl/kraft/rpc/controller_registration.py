"""RPC 70: a controller process says where it can be reached and what its software supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import ControllerId, IncarnationId
    from kraft.rpc.node_description import Listener, SupportedFeature


@dataclass(frozen=True, slots=True)
class ControllerRegistrationRequest:
    """RPC 70: a controller, its endpoints and features.

    Spec: ControllerRegistration!RegistrationRequest.
    Kafka: ControllerRegistrationRequest. KIP-919.
    """

    controller_id: ControllerId
    incarnation_id: IncarnationId
    zk_migration_ready: bool = False
    listeners: tuple[Listener, ...] = ()
    features: tuple[SupportedFeature, ...] = ()


@dataclass(frozen=True, slots=True)
class ControllerRegistrationResponse:
    """RPC 70, the answer; it has no epoch, and does not promise that the record commits.

    Spec: ControllerRegistration!RegistrationResponse.
    Kafka: ControllerRegistrationResponse. KIP-919.
    """

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
