"""Which action of BrokerLease a step of the simulation claims to be, and its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.sim.lease.choices import (
    Deliver,
    DuplicateMessage,
    ElectLeader,
    FailOver,
    FenceStaleBroker,
    LoseMessage,
    ReplayMetadata,
    SendHeartbeat,
    Tick,
    UnregisterBroker,
)
from kraft.sim.lease.network import find

if TYPE_CHECKING:
    from krafla.refinement.lease.mapping import LeaseMapping
    from krafla.values import Value
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster

__all__ = ["parameters_of", "refused_action"]


def parameters_of(
    mapping: LeaseMapping, cluster: Cluster, choice: Choice
) -> tuple[Value, ...] | None:
    """Return the parameters of the action a choice stands for, by the cluster before it.

    ``None`` if the choice names a node or message that is not there: no action has it.
    """
    if isinstance(choice, Tick):
        return _elapsed(mapping, choice)
    if isinstance(choice, Deliver | LoseMessage | DuplicateMessage):
        envelope = find(cluster.network, choice.message_id)
        return None if envelope is None else (mapping.messages.message(envelope),)
    if isinstance(choice, FailOver):
        return ()
    if isinstance(choice, FenceStaleBroker | UnregisterBroker | ElectLeader):
        broker = mapping.vocabulary.brokers.get(choice.broker_id)
        return None if broker is None else (broker,)
    process = mapping.vocabulary.processes.get(choice.incarnation_id)
    if process is None:
        return None
    if isinstance(choice, SendHeartbeat):
        return process, choice.want_fence
    return (process, choice.offset) if isinstance(choice, ReplayMetadata) else (process,)


def _elapsed(mapping: LeaseMapping, choice: Tick) -> tuple[Value, ...] | None:
    by_controller_ms, listed = choice.by_controller_ms, dict(choice.by_broker_ms)
    if min(by_controller_ms, *listed.values(), 0) < 0:
        return None  # The spec has no action in which time runs backwards.
    if listed.keys() - mapping.vocabulary.processes:
        return None
    elapsed = (listed.get(one, by_controller_ms) for one in mapping.vocabulary.processes)
    return by_controller_ms, mapping.by_process(elapsed)


def refused_action(choice: Choice) -> str | None:
    """Return the action a refused choice would have been; ``None`` if that depends on its answer.

    A message that is in flight can always be delivered, so a refused ``Deliver`` names none.
    """
    return None if isinstance(choice, Deliver) else type(choice).__name__
