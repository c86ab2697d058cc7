"""RPC 70: a controller says where it listens, and which features it supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import ControllerId, IncarnationId


@dataclass(frozen=True, slots=True)
class Listener:
    """Where a controller listens; `security_protocol` is Kafka's number, 0 for PLAINTEXT."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


@dataclass(frozen=True, slots=True)
class SupportedFeature:
    """The levels of a feature that a controller supports, both ends included."""

    name: str
    min_supported_version: int
    max_supported_version: int


@dataclass(frozen=True, slots=True)
class ControllerRegistrationRequest:
    """RPC 70. Kafka: ControllerRegistrationRequest. KIP-919."""

    controller_id: ControllerId
    incarnation_id: IncarnationId
    zk_migration_ready: bool = False
    listeners: tuple[Listener, ...] = ()
    features: tuple[SupportedFeature, ...] = ()


@dataclass(frozen=True, slots=True)
class ControllerRegistrationResponse:
    """RPC 70, the answer. Kafka: ControllerRegistrationResponse."""

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
