"""A controller process keeps itself registered.

It looks for its own incarnation in the metadata that it replays, and asks the active controller
until it finds it there. A response only ends the wait for that request: whether the process is
registered, only the log says.

Kafka: ControllerRegistrationManager. KIP-919.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kraft.chance import backoff_ms
from kraft.controller.operations.controller_registration import (
    is_registration_supported,
    supports_level,
)
from kraft.errors import ErrorCode
from kraft.rpc.controller_registration import ControllerRegistrationRequest

if TYPE_CHECKING:
    from kraft.ids import ControllerId, IncarnationId
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.controller_registration import ControllerRegistrationResponse
    from kraft.rpc.node_description import Listener, SupportedFeature

_FIRST_BACKOFF_MS: Final = 100
_BACKOFF_MAX_MS: Final = 120_000
# Kafka's channel to the active controller retries one request for this long.
_REQUEST_TIMEOUT_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """The one request that awaits a response, and when it was sent."""

    correlation_id: int
    sent_ms: int


@dataclass(frozen=True, slots=True)
class RegistrationSender:
    """The registration state of a controller process. Times are by its own clock, in ms.

    `registered_incarnation` is the incarnation that the replayed log has under its id.
    `metadata_version` is the replayed metadata version; it decides whether controllers register at
    all. `not_before_ms` is the end of the back-off after a failure.

    Spec: ControllerRegistration!Image.
    Kafka: ControllerRegistrationManager.
    """

    controller_id: ControllerId
    incarnation_id: IncarnationId
    listeners: tuple[Listener, ...] = ()
    features: tuple[SupportedFeature, ...] = ()
    registered_incarnation: IncarnationId | None = None
    metadata_version: int | None = None
    pending: PendingRequest | None = None
    next_correlation_id: int = 0
    failed_rpcs: int = 0
    not_before_ms: int = 0


def is_registered_in_log(sender: RegistrationSender) -> bool:
    """Return whether the replayed log has this incarnation of the process.

    Kafka: ControllerRegistrationManager.registeredInLog.
    """
    return sender.registered_incarnation == sender.incarnation_id


def wants_registration(sender: RegistrationSender) -> bool:
    """Return whether the process must send a registration and awaits no response.

    Kafka: ControllerRegistrationManager.maybeSendControllerRegistration.
    """
    is_open = is_registration_supported(sender.metadata_version)
    return is_open and not is_registered_in_log(sender) and sender.pending is None


def next_deadline(sender: RegistrationSender) -> int | None:
    """Return when to send a request or to time one out; None if there is nothing to do."""
    if sender.pending is not None:
        return sender.pending.sent_ms + _REQUEST_TIMEOUT_MS
    return sender.not_before_ms if wants_registration(sender) else None


def on_due(
    sender: RegistrationSender, now_ms: int, chance: int
) -> tuple[RegistrationSender, ControllerRegistrationRequest | None]:
    """Return the sender after what is due now, and the request to send, if any."""
    deadline_ms = next_deadline(sender)
    if deadline_ms is None or now_ms < deadline_ms:
        return sender, None
    if sender.pending is not None:
        return on_request_timeout(sender, now_ms, chance), None
    return send_registration(sender, now_ms)


def send_registration(
    sender: RegistrationSender, now_ms: int
) -> tuple[RegistrationSender, ControllerRegistrationRequest]:
    """Return the sender that awaits a response, and its request.

    Spec: ControllerRegistration!SendRegistration.
    Kafka: ControllerRegistrationManager.sendControllerRegistration.
    """
    assert wants_registration(sender)
    correlation_id = sender.next_correlation_id
    request = ControllerRegistrationRequest(
        sender.controller_id,
        sender.incarnation_id,
        listeners=sender.listeners,
        features=sender.features,
    )
    waiting = replace(
        sender,
        pending=PendingRequest(correlation_id, now_ms),
        next_correlation_id=correlation_id + 1,
    )
    return waiting, request


def on_registration_response(
    sender: RegistrationSender,
    correlation_id: int,
    response: ControllerRegistrationResponse,
    now_ms: int,
    chance: int,
) -> RegistrationSender:
    """Return the sender after a response. Only the log can tell it that it is registered.

    After NONE it asks again no sooner than after the first back-off, because the record is on its
    way. Kafka asks again at the next change of the metadata.

    Spec: ControllerRegistration!HandleRegistrationResponse.
    Kafka: ControllerRegistrationManager.RegistrationResponseHandler.
    """
    if sender.pending is None or sender.pending.correlation_id != correlation_id:
        return sender
    answered = replace(sender, pending=None)
    if response.error_code is not ErrorCode.NONE:
        return _after_failure(answered, now_ms, chance)
    return replace(answered, failed_rpcs=0, not_before_ms=now_ms + _FIRST_BACKOFF_MS)


def on_request_timeout(sender: RegistrationSender, now_ms: int, chance: int) -> RegistrationSender:
    """Return the sender after its request timed out; the request may still arrive.

    Kafka's sender, up to 4.1, still believes that it awaits a response, and never asks again.

    Spec: ControllerRegistration!RequestTimeout.
    Kafka: ControllerRegistrationManager.RegistrationResponseHandler.
    """
    assert sender.pending is not None
    return _after_failure(replace(sender, pending=None), now_ms, chance)


def can_replay(sender: RegistrationSender, image: MetadataImage) -> bool:
    """Return whether the process supports the metadata version of an image.

    A process that does not support it halts.

    Spec: ControllerRegistration!HaltUnsupported.
    Kafka: FeatureControlManager.replay.
    """
    level = image.metadata_version
    return level is None or supports_level(sender.features, level)


def on_metadata_update(
    sender: RegistrationSender, image: MetadataImage, now_ms: int
) -> RegistrationSender:
    """Return the sender after it replayed an image.

    A changed registration or metadata version ends the back-off: the sender may ask at once.

    Spec: ControllerRegistration!ReplayMetadata.
    Kafka: ControllerRegistrationManager.MetadataUpdateEvent.
    """
    registration = image.controllers.get(sender.controller_id)
    incarnation_id = None if registration is None else registration.incarnation_id
    if (sender.registered_incarnation, sender.metadata_version) == (
        incarnation_id,
        image.metadata_version,
    ):
        return sender
    return replace(
        sender,
        registered_incarnation=incarnation_id,
        metadata_version=image.metadata_version,
        not_before_ms=now_ms,
    )


def _after_failure(sender: RegistrationSender, now_ms: int, chance: int) -> RegistrationSender:
    delay_ms = backoff_ms(_FIRST_BACKOFF_MS, _BACKOFF_MAX_MS, sender.failed_rpcs, chance)
    return replace(sender, failed_rpcs=sender.failed_rpcs + 1, not_before_ms=now_ms + delay_ms)
