"""The choices of the environment: one class for each action of the lease that it can cause.

A configuration and a list of choices reproduce a run byte for byte.
"""

from __future__ import annotations

from typing import TypeAlias

from kraft.ids import BrokerId, IncarnationId, Offset  # noqa: TC001 - msgspec reads the types
from kraft.sim.common.recording import BaseChoice


class StartBroker(BaseChoice, frozen=True, tag=True):
    """Start a process.

    Spec: BrokerLease!StartBroker.
    """

    incarnation_id: IncarnationId


class SendRegistration(BaseChoice, frozen=True, tag=True):
    """Let a process ask for its epoch.

    Spec: BrokerLease!SendRegistration.
    """

    incarnation_id: IncarnationId


class SendHeartbeat(BaseChoice, frozen=True, tag=True):
    """Let a process send a heartbeat.

    Spec: BrokerLease!SendHeartbeat.
    """

    incarnation_id: IncarnationId
    want_fence: bool


class Deliver(BaseChoice, frozen=True, tag=True):
    """Deliver a message to the controller or the process that it is for.

    The action of the spec depends on the message and on the state of its receiver.
    """

    message_id: int


class LoseMessage(BaseChoice, frozen=True, tag=True):
    """Lose one message.

    Spec: BrokerLease!LoseMessage.
    """

    message_id: int


class DuplicateMessage(BaseChoice, frozen=True, tag=True):
    """Let a request arrive a second time.

    Spec: BrokerLease!DuplicateMessage.
    """

    message_id: int


class RequestTimeout(BaseChoice, frozen=True, tag=True):
    """Let a process stop awaiting a response.

    Spec: BrokerLease!RequestTimeout.
    """

    incarnation_id: IncarnationId


class ReplayMetadata(BaseChoice, frozen=True, tag=True):
    """Let a process replay the log up to an offset.

    Spec: BrokerLease!ReplayMetadata.
    """

    incarnation_id: IncarnationId
    offset: Offset


class RequestShutdown(BaseChoice, frozen=True, tag=True):
    """Tell a process to stop.

    Spec: BrokerLease!RequestShutdown.
    """

    incarnation_id: IncarnationId


class Crash(BaseChoice, frozen=True, tag=True):
    """Kill a process.

    Spec: BrokerLease!Crash.
    """

    incarnation_id: IncarnationId


class FenceStaleBroker(BaseChoice, frozen=True, tag=True):
    """Fence a broker whose session ran out.

    Spec: BrokerLease!FenceStaleBroker.
    """

    broker_id: BrokerId


class UnregisterBroker(BaseChoice, frozen=True, tag=True):
    """Remove a registration.

    Spec: BrokerLease!UnregisterBroker.
    """

    broker_id: BrokerId


class ElectLeader(BaseChoice, frozen=True, tag=True):
    """Make a broker lead that leads nothing yet.

    Spec: BrokerLease!ElectLeader.
    """

    broker_id: BrokerId


class FailOver(BaseChoice, frozen=True, tag=True):
    """Make another controller the active one.

    Spec: BrokerLease!FailOver.
    """


class Tick(BaseChoice, frozen=True, tag=True):
    """Let time pass on the controller's clock and on the clock of each live process.

    `by_broker_ms` lists the processes whose clock advances by another amount.

    Spec: BrokerLease!Tick.
    """

    by_controller_ms: int
    by_broker_ms: tuple[tuple[IncarnationId, int], ...] = ()


Choice: TypeAlias = (
    StartBroker
    | SendRegistration
    | SendHeartbeat
    | Deliver
    | LoseMessage
    | DuplicateMessage
    | RequestTimeout
    | ReplayMetadata
    | RequestShutdown
    | Crash
    | FenceStaleBroker
    | UnregisterBroker
    | ElectLeader
    | FailOver
    | Tick
)
