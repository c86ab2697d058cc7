"""The steps of the network and of the clocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.sim.common.step import UNKNOWN_MESSAGE, UNKNOWN_PROCESS, Refused, done
from kraft.sim.lease.cluster import Cluster, is_running
from kraft.sim.lease.network import copy_of, find, is_request, take

if TYPE_CHECKING:
    from kraft.sim.lease import choices
    from kraft.sim.lease.cluster import Result


def lose_message(cluster: Cluster, choice: choices.LoseMessage) -> Result:
    """Lose one message.

    Spec: BrokerLease!LoseMessage.
    """
    if find(cluster.network, choice.message_id) is None:
        return cluster, UNKNOWN_MESSAGE
    left = take(cluster.network, choice.message_id)
    return replace(cluster, network=left), done("LoseMessage")


def duplicate_message(cluster: Cluster, choice: choices.DuplicateMessage) -> Result:
    """Let a request arrive once more; no process awaits the response to the copy.

    Spec: BrokerLease!DuplicateMessage.
    """
    envelope = find(cluster.network, choice.message_id)
    if envelope is None:
        return cluster, UNKNOWN_MESSAGE
    if not cluster.configuration.reorder or not is_request(envelope):
        return cluster, Refused("the network does not repeat this message")
    copy_id = cluster.next_message_id
    network = (*cluster.network, copy_of(envelope, copy_id))
    after = replace(cluster, network=network, next_message_id=copy_id + 1)
    return after, done("DuplicateMessage")


def tick(cluster: Cluster, choice: choices.Tick) -> Result:
    """Let time pass on every clock.

    Spec: BrokerLease!Tick.
    """
    by_controller_ms, processes = choice.by_controller_ms, cluster.processes
    if by_controller_ms < 0:
        return cluster, Refused("time does not run backwards")
    for incarnation_id, by_broker_ms in dict(choice.by_broker_ms).items():
        process = processes.get(incarnation_id)
        if process is None:
            return cluster, UNKNOWN_PROCESS
        lead_ms = process.clock_lead_ms + by_broker_ms - by_controller_ms
        lead_max_ms = cluster.configuration.max_skew_ms if is_running(process) else 0
        if by_broker_ms < 0 or not 0 <= lead_ms <= lead_max_ms:
            return cluster, Refused("clocks do not differ by that much")
        ticked = replace(process, clock_lead_ms=lead_ms)
        processes = processes.set(incarnation_id, ticked)
    after = Cluster(
        cluster.configuration,
        cluster.controller,
        processes,
        cluster.network,
        cluster.log,
        cluster.controller_time_ms + by_controller_ms,
        cluster.next_message_id,
    )
    return after, done("Tick")
