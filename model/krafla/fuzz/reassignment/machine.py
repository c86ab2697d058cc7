"""The partition that moves as a state machine of Hypothesis."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any, ClassVar, Final

from krafla.fuzz.engine.choice_machine import ChoiceMachine
from krafla.fuzz.reassignment.system import SYSTEM
from kraft.controller.operations.partition_ask import in_progress
from kraft.ids import BrokerEpoch, BrokerId
from kraft.records.topics import NO_LEADER, RECOVERED, RECOVERING
from kraft.sim.reassignment import choices
from kraft.sim.reassignment.cluster import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krafla.fuzz.engine.choice_machine import Values
    from kraft.sim.reassignment.cluster import Cluster

__all__ = ["MACHINE", "ReassignmentMachine"]


_UNKNOWN_EPOCHS = (BrokerEpoch(-1), BrokerEpoch(99))


def _targets(cluster: Cluster) -> Iterator[choices.StartReassignment]:
    """Yield the assignments that an operator may ask for.

    With eligible leader replicas they are of the original size: Kafka computes eligibility before
    it elects, so with fewer replicas some could stay eligible although enough are in sync.
    """
    configuration = cluster.configuration
    counts = range(1, min(3, len(configuration.brokers)) + 1)
    if configuration.min_isr is not None:
        counts = range(len(configuration.initial_replicas), len(configuration.initial_replicas) + 1)
    if partition_of(cluster) is not None:
        for count in counts:
            yield from map(choices.StartReassignment, permutations(configuration.brokers, count))


def _cancelled(cluster: Cluster) -> Iterator[choices.CancelReassignment]:
    """Yield a cancellation; with ELR a forced one would put any replica in sync."""
    configuration, partition = cluster.configuration, partition_of(cluster)
    forced = configuration.min_isr is not None and configuration.unclean_enabled
    if partition is not None and in_progress(partition) and not forced:
        yield choices.CancelReassignment()


def _asks(cluster: Cluster) -> Iterator[choices.SendAlterPartition]:
    """Yield the requests of leaders: one member more, then one or more members fewer."""
    for leader in sorted(cluster.leading):
        view = cluster.leading[leader]
        for other in view.replicas:
            if other not in view.isr:
                yield choices.SendAlterPartition(leader, (*view.isr, other))
        for gone in (*view.isr, None):
            stay = tuple(one for one in view.isr if one == leader or gone not in (None, one))
            yield choices.SendAlterPartition(leader, stay)


def _more(cluster: Cluster) -> Iterator[choices.SendAlterPartition]:
    """Yield only the requests for one member more."""
    return (one for one in _asks(cluster) if len(one.isr) > len(cluster.leading[one.broker_id].isr))


def _strays(cluster: Cluster) -> Iterator[choices.SendStrayRequest]:
    """Yield requests that are almost right: each differs in few fields from a right one.

    They keep the order of the ISR: Kafka writes one that differs in nothing else, but in
    Reassignment an ISR has no order.
    """
    configuration, epochs, partition = (
        cluster.configuration, cluster.last_epochs, partition_of(cluster)
    )  # fmt: skip
    brokers = configuration.brokers
    if not configuration.strays or configuration.min_isr is not None:
        return
    present = partition.isr if partition else ()
    at = (partition.leader_epoch, partition.partition_epoch) if partition else (0, 0)
    senders = (BrokerId(partition.leader), *brokers) if partition else brokers
    for sender in dict.fromkeys(one for one in senders if one in brokers):
        isr = present if sender in present else (*present, sender)
        known = tuple((member, epochs[member]) for member in isr)
        yield choices.SendStrayRequest(sender, epochs[sender], *at, known, RECOVERED)
        for other in brokers:
            changed = tuple(one for one in isr if one != other) if other in isr else (*isr, other)
            right = tuple((member, epochs[member]) for member in changed)
            for near, epoch, state in product(
                (0, -1, 1), (epochs[sender], BrokerEpoch(99)), (RECOVERED, RECOVERING)
            ):
                later = max(0, at[0] + near), max(0, at[1] + near)
                yield choices.SendStrayRequest(sender, epoch, *later, right, state)
            for epoch in _UNKNOWN_EPOCHS:
                wrong = tuple((one, epoch if one == other else epochs[one]) for one in changed)
                yield choices.SendStrayRequest(sender, epochs[sender], *at, wrong, RECOVERED)


def _if_there(kind: Any) -> Values:
    """Return a choice that needs the partition, and that ReassignmentElr does not have."""

    def found(cluster: Any) -> list[Any]:
        has_elr = cluster.configuration.min_isr is not None
        return [] if has_elr or partition_of(cluster) is None else [kind()]

    return found


def _if_registered(kind: Any) -> Values:
    """Return choices for registered brokers; ReassignmentElr does not have them."""

    def found(cluster: Any) -> list[Any]:
        has_elr = cluster.configuration.min_isr is not None
        return [] if has_elr else [kind(one) for one in sorted(cluster.image.brokers)]

    return found


def _if_led(cluster: Cluster) -> Iterator[choices.ElectPreferredLeader]:
    partition = partition_of(cluster)
    has_elr = cluster.configuration.min_isr is not None
    if partition is not None and partition.leader != NO_LEADER and not has_elr:
        yield choices.ElectPreferredLeader()


def _unclean(cluster: Cluster) -> Iterator[choices.ElectUncleanLeader]:
    partition = partition_of(cluster)
    is_led = partition is None or partition.leader != NO_LEADER
    if cluster.configuration.unclean_elections and not is_led:
        yield choices.ElectUncleanLeader()


def _repeated(cluster: Cluster) -> Iterator[choices.RetryAlterPartition]:
    repeats = cluster.configuration.repeats and cluster.configuration.min_isr is None
    for envelope in cluster.network:
        if envelope.response is None and repeats:
            yield choices.RetryAlterPartition(envelope.message_id)


class ReassignmentMachine(ChoiceMachine):
    """One partition, brokers that come and go, leaders that ask, and an operator.

    Spec: ``Reassignment!Next``.
    """

    system = SYSTEM
    fields: ClassVar[Mapping[str, Values]] = {
        "broker_id": lambda cluster: cluster.configuration.brokers,
        "message_id": lambda cluster: [one.message_id for one in cluster.network],
    }
    choices_of: ClassVar[Mapping[type[Any], Values]] = {
        choices.StartReassignment: _targets,
        choices.CancelReassignment: _cancelled,
        choices.ElectPreferredLeader: _if_led,
        choices.ElectUncleanLeader: _unclean,
        choices.DeleteTopic: _if_there(choices.DeleteTopic),
        choices.UnregisterBroker: _if_registered(choices.UnregisterBroker),
        choices.BeginControlledShutdown: _if_registered(choices.BeginControlledShutdown),
        choices.SendAlterPartition: _asks,
        choices.RetryAlterPartition: _repeated,
        choices.SendStrayRequest: _strays,
    }
    usual = (
        choices.LearnPartition, _more, choices.Deliver, choices.UnfenceBroker,
        choices.RegisterBroker, choices.Deliver,
    )  # fmt: skip


MACHINE: Final = ReassignmentMachine
