"""The choices of the environment: the actions of ControllerRegistration that it can cause."""

from __future__ import annotations

from typing import TypeAlias

from kraft.ids import ControllerId, IncarnationId  # noqa: TC001 - msgspec reads the types
from kraft.sim.common.recording import BaseChoice


class _OfProcess(BaseChoice, frozen=True):
    incarnation_id: IncarnationId


class _OfController(BaseChoice, frozen=True):
    controller_id: ControllerId


class _OfMessage(BaseChoice, frozen=True):
    message_id: int


class StartController(_OfProcess, frozen=True, tag=True):
    """Start a process.

    Spec: ControllerRegistration!StartController.
    """


class SendRegistration(_OfProcess, frozen=True, tag=True):
    """Let a process send its registration as soon as its back-off is over.

    Spec: ControllerRegistration!SendRegistration.
    """


class RequestTimeout(_OfProcess, frozen=True, tag=True):
    """Let time pass until a process's request times out.

    Spec: ControllerRegistration!RequestTimeout.
    """


class ReplayMetadata(_OfProcess, frozen=True, tag=True):
    """Let a process replay the log; it halts if it does not support the metadata version.

    Spec: ControllerRegistration!ReplayMetadata.
    """


class Crash(_OfProcess, frozen=True, tag=True):
    """End a process.

    Spec: ControllerRegistration!Crash.
    """


class BecomeActive(_OfProcess, frozen=True, tag=True):
    """Elect a process.

    Spec: ControllerRegistration!BecomeActive.
    """


class RaiseMetadataVersion(BaseChoice, frozen=True, tag=True):
    """Let an operator request a level; the active controller writes it or refuses.

    Spec: ControllerRegistration!UpgradeFeature, ControllerRegistration!RefuseUpgrade.
    """

    level: int


class UnregisterController(_OfController, frozen=True, tag=True):
    """Let an operator remove a registration.

    Spec: ControllerRegistration!UnregisterController.
    """


class RemoveVoter(_OfController, frozen=True, tag=True):
    """Remove a controller from the voters.

    Spec: ControllerRegistration!RemoveVoter.
    """


class AddVoter(_OfController, frozen=True, tag=True):
    """Add a controller to the voters.

    Spec: ControllerRegistration!AddVoter.
    """


class Deliver(_OfMessage, frozen=True, tag=True):
    """Deliver a request to the active controller, or a response to the process that asked.

    The action of the spec depends on the message and on the state of its receiver.
    """


class DeliverElsewhere(_OfMessage, frozen=True, tag=True):
    """Deliver a request to a controller that is not active.

    Spec: ControllerRegistration!AnswerNotController.
    """


class LoseMessage(_OfMessage, frozen=True, tag=True):
    """Lose a message.

    Spec: ControllerRegistration!LoseMessage.
    """


class DuplicateMessage(_OfMessage, frozen=True, tag=True):
    """Let a request arrive a second time later.

    Spec: ControllerRegistration!DuplicateMessage.
    """


Choice: TypeAlias = (
    StartController
    | SendRegistration
    | RequestTimeout
    | ReplayMetadata
    | Crash
    | BecomeActive
    | RaiseMetadataVersion
    | UnregisterController
    | RemoveVoter
    | AddVoter
    | Deliver
    | DeliverElsewhere
    | LoseMessage
    | DuplicateMessage
)
