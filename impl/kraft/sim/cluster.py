"""A simulated cluster as one value: the active controller, every process, the network, the clocks.

Two equal clusters behave alike from here on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from immutables import Map

    from kraft.broker.lifecycle import BrokerLifecycle
    from kraft.controller.active import ControllerState
    from kraft.controller.stand_ins import Record
    from kraft.ids import IncarnationId
    from kraft.rpc import (
        BrokerHeartbeatRequest,
        BrokerHeartbeatResponse,
        BrokerRegistrationRequest,
        BrokerRegistrationResponse,
    )
    from kraft.sim.choices import Choice
    from kraft.sim.configuration import Configuration

    Payload = (
        BrokerRegistrationRequest
        | BrokerRegistrationResponse
        | BrokerHeartbeatRequest
        | BrokerHeartbeatResponse
    )


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message in flight, between a process and the controller.

    `incarnation_id` is the process that sent it or is to get it. `is_awaited`: that process still
    waits for the answer; it is true of every response.

    Spec: BrokerLease!Message.
    """

    message_id: int
    incarnation_id: IncarnationId
    correlation_id: int
    payload: Payload
    is_awaited: bool


@dataclass(frozen=True, slots=True)
class Process:
    """One broker process and its clock.

    `time_ms` is what its own clock measured since it started, which was at `started_at_ms` by the
    controller's clock. `crashed` is known to the simulation only.
    """

    lifecycle: BrokerLifecycle
    time_ms: int = 0
    started_at_ms: int = 0
    crashed: bool = False


@dataclass(frozen=True, slots=True)
class Cluster:
    """Everything there is at one moment. The position of a record in `log` is its offset."""

    configuration: Configuration
    controller: ControllerState
    processes: Map[IncarnationId, Process]
    network: tuple[Envelope, ...] = ()
    log: tuple[Record, ...] = ()
    controller_time_ms: int = 0
    next_message_id: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """The choice was possible and this is what it was: the name of an action of BrokerLease."""

    action: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The choice was not possible now, and nothing changed."""

    reason: str


Outcome = Done | Refused


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step of a run: what was, what was chosen, what came of it, what is."""

    before: Cluster
    after: Cluster
    choice: Choice
    outcome: Outcome
