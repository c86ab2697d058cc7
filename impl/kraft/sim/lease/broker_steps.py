"""The steps of broker processes. Their guards are those of the actions of BrokerLease."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.broker import lease
from kraft.broker.lease import BrokerState, Disconnect, Send
from kraft.rpc import BrokerHeartbeatResponse, BrokerRegistrationResponse
from kraft.sim.common.step import UNKNOWN_PROCESS, Refused, done
from kraft.sim.lease.cluster import Cluster, Process, broker_time_ms, is_running
from kraft.sim.lease.network import Envelope, overtaken, take, unawaited

if TYPE_CHECKING:
    from kraft.sim.lease import choices
    from kraft.sim.lease.cluster import Result


def start_broker(cluster: Cluster, choice: choices.StartBroker) -> Result:
    """Start a process that never ran."""
    process = cluster.processes.get(choice.incarnation_id)
    if process is None:
        return cluster, UNKNOWN_PROCESS
    if process.crashed or process.lifecycle.state is not BrokerState.NOT_RUNNING:
        return cluster, Refused("an incarnation starts once")
    started = lease.start(process.lifecycle)
    at_ms = cluster.controller_time_ms
    return _with_process(cluster, Process(started.state, at_ms)), done("StartBroker")


def send_registration(cluster: Cluster, choice: choices.SendRegistration) -> Result:
    """Let a process ask for its epoch."""
    process = cluster.processes.get(choice.incarnation_id)
    if process is None:
        return cluster, UNKNOWN_PROCESS
    if process.crashed or not lease.can_send_registration(process.lifecycle):
        return cluster, Refused("the process cannot register now")
    now_ms = broker_time_ms(cluster, process)
    taken = lease.send_registration(process.lifecycle, now_ms)
    return _after_broker_step(cluster, process, taken), done("SendRegistration")


def send_heartbeat(cluster: Cluster, choice: choices.SendHeartbeat) -> Result:
    """Let a process send a heartbeat."""
    process = cluster.processes.get(choice.incarnation_id)
    if process is None:
        return cluster, UNKNOWN_PROCESS
    want_fence = choice.want_fence
    if process.crashed or not lease.can_send_heartbeat(process.lifecycle, want_fence=want_fence):
        return cluster, Refused("the process cannot send this heartbeat now")
    now_ms = broker_time_ms(cluster, process)
    taken = lease.send_heartbeat(process.lifecycle, want_fence=want_fence, now_ms=now_ms)
    return _after_broker_step(cluster, process, taken), done("SendHeartbeat")


def request_timeout(cluster: Cluster, choice: choices.RequestTimeout) -> Result:
    """Let a process stop waiting for an answer."""
    process = cluster.processes.get(choice.incarnation_id)
    if process is None:
        return cluster, UNKNOWN_PROCESS
    if not is_running(process) or not lease.is_waiting(process.lifecycle):
        return cluster, Refused("the process waits for nothing")
    taken = lease.on_request_timeout(process.lifecycle)
    return _after_broker_step(cluster, process, taken), done("RequestTimeout")


def replay_metadata(cluster: Cluster, choice: choices.ReplayMetadata) -> Result:
    """Let a process replay the log up to an offset."""
    process = cluster.processes.get(choice.incarnation_id)
    if process is None:
        return cluster, UNKNOWN_PROCESS
    if choice.offset >= len(cluster.log):
        return cluster, Refused("the log has not come that far")
    if process.crashed or not lease.can_replay_metadata(process.lifecycle, choice.offset):
        return cluster, Refused("the process cannot replay that now")
    taken = lease.replay_metadata(process.lifecycle, choice.offset)
    return _after_broker_step(cluster, process, taken), done("ReplayMetadata")


def request_shutdown(cluster: Cluster, choice: choices.RequestShutdown) -> Result:
    """Tell a process to stop."""
    process = cluster.processes.get(choice.incarnation_id)
    if process is None:
        return cluster, UNKNOWN_PROCESS
    if process.crashed or not lease.can_request_shutdown(process.lifecycle):
        return cluster, Refused("the process does not run, or is shutting down already")
    taken = lease.request_shutdown(process.lifecycle)
    return _after_broker_step(cluster, process, taken), done("RequestShutdown")


def crash(cluster: Cluster, choice: choices.Crash) -> Result:
    """Kill a process. Its messages stay in flight.

    Spec: BrokerLease!Crash.
    """
    process = cluster.processes.get(choice.incarnation_id)
    if process is None:
        return cluster, UNKNOWN_PROCESS
    if not is_running(process):
        return cluster, Refused("the process does not run")
    crashed = Process(lease.without_memory(process.lifecycle), crashed=True)
    after = replace(cluster, network=unawaited(cluster.network, choice.incarnation_id))
    return _with_process(after, crashed), done("Crash")


def deliver_response(cluster: Cluster, envelope: Envelope) -> Result:
    """Deliver a response to the process that awaits it."""
    process = cluster.processes[envelope.incarnation_id]
    assert is_running(process), "the connection of a process that ended is closed"
    match envelope.payload:
        case BrokerRegistrationResponse() as response:
            action = "HandleRegistrationResponse"
            taken = lease.on_registration_response(
                process.lifecycle, envelope.correlation_id, response
            )
        case BrokerHeartbeatResponse() as response:
            action = "HandleHeartbeatResponse"
            taken = lease.on_heartbeat_response(
                process.lifecycle, envelope.correlation_id, response
            )
        case _:
            raise AssertionError("a request is not for a process")
    delivered = replace(cluster, network=take(cluster.network, envelope.message_id))
    return _after_broker_step(delivered, process, taken), done(action)


def _after_broker_step(cluster: Cluster, process: Process, taken: lease.LeaseStep) -> Cluster:
    """Perform the effects of a broker's step, in order."""
    incarnation_id = process.lifecycle.incarnation_id
    network, next_message_id = cluster.network, cluster.next_message_id
    for effect in taken.effects:
        match effect:
            case Send(correlation_id, request):
                if not cluster.configuration.reorder:
                    network = overtaken(network, incarnation_id)
                sent = Envelope(
                    next_message_id, incarnation_id, correlation_id, request, is_awaited=True
                )
                network = (*network, sent)
                next_message_id += 1
            case Disconnect():
                network = unawaited(network, incarnation_id)
    if lease.is_live(taken.state):
        after = Process(taken.state, process.started_at_ms, process.clock_lead_ms)
    else:
        after = Process(taken.state)
    return Cluster(
        cluster.configuration,
        cluster.controller,
        cluster.processes.set(incarnation_id, after),
        network,
        cluster.log,
        cluster.controller_time_ms,
        next_message_id,
    )


def _with_process(cluster: Cluster, process: Process) -> Cluster:
    incarnation_id = process.lifecycle.incarnation_id
    return replace(cluster, processes=cluster.processes.set(incarnation_id, process))
