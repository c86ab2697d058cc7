"""The choices of the environment: one class for each action of Cluster that it can cause."""

from __future__ import annotations

from typing import TypeAlias

from kraft.ids import BrokerId, IncarnationId, NodeId  # noqa: TC001 - msgspec reads the types
from kraft.sim.common.recording import BaseChoice


class StartBroker(BaseChoice, frozen=True, tag=True):
    """Start a broker process that never ran. Spec: Cluster!StartBroker."""

    incarnation_id: IncarnationId


class SendRegistration(BaseChoice, frozen=True, tag=True):
    """Let a broker process ask for its epoch. Spec: Cluster!SendRegistration."""

    incarnation_id: IncarnationId


class SendHeartbeat(BaseChoice, frozen=True, tag=True):
    """Let a broker process send a heartbeat. Spec: Cluster!SendHeartbeat."""

    incarnation_id: IncarnationId


class SendAlterPartition(BaseChoice, frozen=True, tag=True):
    """Let a leader ask for another ISR, or resend the pending request.

    Spec: Cluster!SendAlterPartition.
    """

    incarnation_id: IncarnationId
    isr: tuple[BrokerId, ...]


class RequestTimeout(BaseChoice, frozen=True, tag=True):
    """Let a broker process stop awaiting a response. Spec: Cluster!RequestTimeout."""

    incarnation_id: IncarnationId


class ReplayMetadata(BaseChoice, frozen=True, tag=True):
    """Let a broker process replay everything committed. Spec: Cluster!ReplayMetadata."""

    incarnation_id: IncarnationId


class RequestShutdown(BaseChoice, frozen=True, tag=True):
    """Tell a RUNNING broker process to stop. Spec: Cluster!RequestShutdown."""

    incarnation_id: IncarnationId


class Crash(BaseChoice, frozen=True, tag=True):
    """Kill a broker process. Spec: Cluster!Crash."""

    incarnation_id: IncarnationId


class Deliver(BaseChoice, frozen=True, tag=True):
    """Deliver a request to a controller, or a response to the process that asked.

    The action of the spec depends on the message and on the state of its receiver. A response goes
    to no `controller`.
    """

    message_id: int
    controller: NodeId | None = None


class LoseMessage(BaseChoice, frozen=True, tag=True):
    """Let the network lose a message. Spec: Cluster!LoseMessage."""

    message_id: int


class SessionsRunOut(BaseChoice, frozen=True, tag=True):
    """Let time pass at a controller until the session of a broker runs out.

    The sessions of brokers with an earlier or equal last contact run out, too.

    Spec: Cluster!SessionsRunOut.
    """

    controller: NodeId
    broker_id: BrokerId


class FenceStaleBroker(BaseChoice, frozen=True, tag=True):
    """Let a controller fence the broker silent longest. Spec: Cluster!FenceStaleBroker."""

    controller: NodeId
    broker_id: BrokerId


class StartReassignment(BaseChoice, frozen=True, tag=True):
    """Let an operator give the partition other replicas. Spec: Cluster!StartReassignment."""

    controller: NodeId
    target: tuple[BrokerId, ...]


class CancelReassignment(BaseChoice, frozen=True, tag=True):
    """Let an operator cancel a reassignment. Spec: Cluster!CancelReassignment."""

    controller: NodeId


class RegisterController(BaseChoice, frozen=True, tag=True):
    """Let a controller handle the registration of a controller process, however old.

    Spec: Cluster!RegisterController.
    """

    controller: NodeId
    incarnation_id: IncarnationId


class UpgradeFeature(BaseChoice, frozen=True, tag=True):
    """Let an operator raise the metadata version. Spec: Cluster!UpgradeFeature."""

    controller: NodeId
    level: int


class Commit(BaseChoice, frozen=True, tag=True):
    """Commit the first uncommitted batch of the leader. Spec: Cluster!Commit."""

    controller: NodeId


class ElectLeader(BaseChoice, frozen=True, tag=True):
    """Elect another controller, with `survivors` of the former leader's batches.

    Spec: Cluster!ElectLeader.
    """

    controller: NodeId
    survivors: int


class Renounce(BaseChoice, frozen=True, tag=True):
    """Let a controller hear that another was elected. Spec: Cluster!Renounce."""

    controller: NodeId


Choice: TypeAlias = (
    StartBroker
    | SendRegistration
    | SendHeartbeat
    | SendAlterPartition
    | RequestTimeout
    | ReplayMetadata
    | RequestShutdown
    | Crash
    | Deliver
    | LoseMessage
    | SessionsRunOut
    | FenceStaleBroker
    | StartReassignment
    | CancelReassignment
    | RegisterController
    | UpgradeFeature
    | Commit
    | ElectLeader
    | Renounce
)
