"""The simulated cluster as one value: the controller, the processes, the network and the clocks.

Two equal clusters behave alike from here on.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from immutables import Map

from kraft.broker.lease import BrokerLifecycle, is_live
from kraft.sim.lease.active_controller import ControllerState, first_controller

if TYPE_CHECKING:
    from kraft.ids import IncarnationId
    from kraft.sim.common.step import Outcome
    from kraft.sim.lease.configuration import Configuration
    from kraft.sim.lease.network import Network
    from kraft.sim.lease.stand_ins import Record


@dataclass(frozen=True, slots=True)
class Process:
    """One broker process and its clock.

    `started_at_ms` is by the controller's clock. `clock_lead_ms` is how much more time the
    process's own clock has measured since. Only the simulation knows `crashed`.
    """

    lifecycle: BrokerLifecycle
    started_at_ms: int = 0
    clock_lead_ms: int = 0
    crashed: bool = False


@dataclass(frozen=True, slots=True)
class Cluster:
    """The whole state at one moment. The position of a record in `log` is its offset."""

    configuration: Configuration
    controller: ControllerState
    processes: Map[IncarnationId, Process]
    network: Network = ()
    log: tuple[Record, ...] = ()
    controller_time_ms: int = 0
    next_message_id: int = 0


if TYPE_CHECKING:
    Result = tuple[Cluster, Outcome]


def first_cluster(configuration: Configuration) -> Cluster:
    """Return the cluster before the first step.

    Spec: BrokerLease!Init.
    """
    return Cluster(
        configuration,
        first_controller(configuration.session_timeout_ms),
        Map(
            {
                identity.incarnation_id: Process(
                    BrokerLifecycle(
                        identity.broker_id,
                        identity.incarnation_id,
                        configuration.broker_timeout_ms,
                    )
                )
                for identity in configuration.processes
            }
        ),
    )


def broker_time_ms(cluster: Cluster, process: Process) -> int:
    """Return the time by a process's own clock, which is 0 when the process starts."""
    return cluster.controller_time_ms - process.started_at_ms + process.clock_lead_ms


def is_running(process: Process) -> bool:
    """Return whether a process exists and runs.

    Spec: BrokerLease!Live.
    """
    return not process.crashed and is_live(process.lifecycle)


def status(process: Process) -> str:
    """Return the broker state of a process by name, or CRASHED.

    Spec: BrokerLease!Status.
    """
    return "CRASHED" if process.crashed else process.lifecycle.state.name


def digest(cluster: Cluster) -> str:
    """Return 16 hexadecimal digits that are equal for equal clusters, in every Python process."""
    image, heartbeats = cluster.controller.image, cluster.controller.heartbeats
    everything = (
        cluster.configuration,
        sorted(image.registrations.items()),
        sorted(image.leads),
        image.log_end,
        sorted(heartbeats.brokers.items()),
        [cluster.processes[each.incarnation_id] for each in cluster.configuration.processes],
        cluster.network,
        cluster.log,
        cluster.controller_time_ms,
        cluster.next_message_id,
    )
    return hashlib.blake2b(repr(everything).encode(), digest_size=8).hexdigest()
