"""The cluster as a state machine of Hypothesis: controllers, brokers, a partition and operators."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar, Final

from krafla.fuzz.cluster.system import SYSTEM
from krafla.fuzz.engine.choice_machine import ChoiceMachine
from kraft.broker.lease import BrokerState
from kraft.controller.operations.partition_ask import in_progress
from kraft.sim.cluster import choices
from kraft.sim.cluster.cluster import active_controllers, is_running, partition_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.fuzz.engine.choice_machine import Values
    from kraft.ids import BrokerId, NodeId
    from kraft.sim.cluster.cluster import Cluster

__all__ = ["MACHINE", "ClusterMachine"]


def _active(cluster: Cluster) -> list[NodeId]:
    """Return the controllers that believe that they are active, the leader first."""
    return sorted(active_controllers(cluster), key=lambda node: (node != cluster.leader, node))


def _targets(cluster: Cluster) -> Iterator[tuple[BrokerId, ...]]:
    brokers = cluster.configuration.brokers
    for count in range(1, len(brokers) + 1):
        yield from permutations(brokers, count)


def _started(cluster: Cluster) -> Iterator[choices.StartBroker]:
    """Yield the first process of each broker that never ran."""
    seen = set()
    for one in cluster.configuration.processes:
        broker = cluster.brokers[one.incarnation_id]
        never_ran = not broker.crashed and broker.lifecycle.state is BrokerState.NOT_RUNNING
        if never_ran and one.broker_id not in seen:
            seen.add(one.broker_id)
            yield choices.StartBroker(one.incarnation_id)


def _missing(cluster: Cluster) -> Iterator[choices.StartBroker]:
    """Yield the next process of each broker of which none runs."""
    own = {one.incarnation_id: one.broker_id for one in cluster.configuration.processes}
    serving = {own[one] for one, broker in cluster.brokers.items() if is_running(broker)}
    return (one for one in _started(cluster) if own[one.incarnation_id] not in serving)


def _asks(cluster: Cluster) -> Iterator[choices.SendAlterPartition]:
    """Yield the requests of leaders: one member more, or the leader alone, or the pending one."""
    for one in cluster.configuration.processes:
        view = cluster.brokers[one.incarnation_id].view
        if view is None:
            continue
        wanted = [(*view.isr, other) for other in view.replicas if other not in view.isr]
        for isr in (view.pending, *wanted, (one.broker_id,)):
            if isr:
                yield choices.SendAlterPartition(one.incarnation_id, isr)


def _delivered(cluster: Cluster) -> Iterator[choices.Deliver]:
    for envelope in cluster.network:
        if envelope.response is not None:
            yield choices.Deliver(envelope.message_id)
        else:
            yield from (choices.Deliver(envelope.message_id, node) for node in _active(cluster))


def _reassigned(cluster: Cluster) -> Iterator[choices.StartReassignment]:
    for node in _active(cluster):
        if not in_progress(partition_of(cluster.controllers[node].state.written)):
            yield from (choices.StartReassignment(node, one) for one in _targets(cluster))


class ClusterMachine(ChoiceMachine):
    """Controllers that lead and linger, two processes or more of each broker, one partition.

    Spec: ``Cluster!Next``.
    """

    system = SYSTEM
    fields: ClassVar[Mapping[str, Values]] = {
        "incarnation_id": lambda cluster: [
            one.incarnation_id for one in cluster.configuration.processes
        ],
        "message_id": lambda cluster: [one.message_id for one in cluster.network],
        "broker_id": lambda cluster: cluster.configuration.brokers,
        "controller": lambda cluster: cluster.configuration.controllers,
        "level": lambda cluster: cluster.configuration.levels,
        "survivors": lambda cluster: range(len(cluster.controllers[cluster.leader].tail) + 1),
    }
    choices_of: ClassVar[Mapping[type[Any], Values]] = {
        choices.StartBroker: _started,
        choices.SendAlterPartition: _asks,
        choices.Deliver: _delivered,
        choices.StartReassignment: _reassigned,
        choices.RegisterController: lambda cluster: [
            choices.RegisterController(node, one.incarnation_id)
            for node in _active(cluster)
            for one in cluster.configuration.controller_processes
        ],
    }
    usual = (
        _missing, choices.SendRegistration, _delivered, choices.Commit, choices.ReplayMetadata,
        choices.SendHeartbeat, _delivered, choices.Commit, _asks, _delivered, choices.Commit,
    )  # fmt: skip


MACHINE: Final = ClusterMachine
