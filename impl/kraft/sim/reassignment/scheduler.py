"""The scheduler: it draws random choices from a seed, most of them possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.controller.operations.partition_ask import in_progress
from kraft.ids import BrokerEpoch, BrokerId
from kraft.records.topics import NO_LEADER, RECOVERED, RECOVERING
from kraft.sim.reassignment import choices
from kraft.sim.reassignment.cluster import Cluster, Configuration, partition_of

if TYPE_CHECKING:
    from random import Random

    from kraft.image.entries import Partition
    from kraft.sim.common.step import StepResult
    from kraft.sim.reassignment.choices import Choice

_WEIGHTS: Final = {
    "deliver": 30,
    "learn": 25,
    "send": 25,
    "start": 4,
    "cancel": 1.5,
    "elect": 2,
    "fence": 2,
    "unfence": 9,
    "shut_down": 0.7,
    "register": 4,
    "unregister": 0.3,
    "retry": 4,
    "stray": 3,
    "delete": 0.03,
}
_NOT_WITH_ELR: Final = {"elect", "shut_down", "unregister", "retry", "stray", "delete"}
# How often a stray request asks for the present ISR.
_NOTHING_NEW: Final = 0.25
# An epoch is mostly the present one.
_NEAR: Final = (0, 0, 0, 1, -1)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Draws the choices of one run."""

    configuration: Configuration
    random: Random

    def next_choice(self, cluster: Cluster) -> Choice:
        """Return a choice; it may be refused."""
        with_elr = self.configuration.min_isr is not None
        while True:
            (kind,) = self.random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
            if with_elr and kind in _NOT_WITH_ELR and not self._wants_leader(kind, cluster):
                continue
            choice = self._draw(kind, cluster)
            if choice is not None:
                return choice

    def _wants_leader(self, kind: str, cluster: Cluster) -> bool:
        """Return whether this is the one election that ReassignmentElr has."""
        partition = partition_of(cluster)
        allowed = kind == "elect" and self.configuration.unclean_elections
        return allowed and partition is not None and partition.leader == NO_LEADER

    def observe(self, result: StepResult[Cluster, Choice]) -> None:
        """Ignore the result of a choice: the next choice does not depend on it."""

    def _draw(self, kind: str, cluster: Cluster) -> Choice | None:
        random, configuration = self.random, self.configuration
        if kind in {"start", "cancel", "elect", "delete", "send", "stray"}:
            return self._of_partition(kind, cluster)
        if kind in {"deliver", "retry"}:
            return self._of_message(kind, cluster)
        broker_id = random.choice(configuration.brokers)
        if kind == "learn":
            return choices.LearnPartition(broker_id)
        registration = cluster.image.brokers.get(broker_id)
        if kind == "register":
            return choices.RegisterBroker(broker_id)
        if registration is None:
            return None
        if kind == "fence" and not registration.fenced:
            return choices.FenceBroker(broker_id)
        if kind == "unfence" and registration.fenced:
            return choices.UnfenceBroker(broker_id)
        if kind == "shut_down":
            return choices.BeginControlledShutdown(broker_id)
        return choices.UnregisterBroker(broker_id) if kind == "unregister" else None

    def _of_message(self, kind: str, cluster: Cluster) -> Choice | None:
        if not cluster.network:
            return None
        envelope = self.random.choice(cluster.network)
        if kind == "deliver":
            return choices.Deliver(envelope.message_id)
        if envelope.response is not None or not self.configuration.repeats:
            return None
        return choices.RetryAlterPartition(envelope.message_id)

    def _of_partition(self, kind: str, cluster: Cluster) -> Choice | None:
        partition = partition_of(cluster)
        if partition is None:
            # Now and then a request names the deleted partition.
            return self._stray(cluster, partition) if kind == "stray" else None
        if kind == "send":
            return self._send(cluster)
        if kind == "stray":
            return self._stray(cluster, partition)
        if kind == "start":
            return choices.StartReassignment(tuple(self._target()))
        if kind == "cancel":
            return choices.CancelReassignment() if self._may_cancel(partition) else None
        if kind == "elect":
            if partition.leader == NO_LEADER and self.configuration.unclean_elections:
                return choices.ElectUncleanLeader()
            return choices.ElectPreferredLeader()
        return choices.DeleteTopic()

    def _target(self) -> list[BrokerId]:
        """Return a target assignment; with eligible leader replicas, of the original size.

        With fewer replicas, replicas could stay eligible although enough are in sync: Kafka
        computes eligibility before it elects.
        """
        brokers, random = self.configuration.brokers, self.random
        count = len(self.configuration.initial_replicas)
        if self.configuration.min_isr is None:
            count = random.randint(1, min(3, len(brokers)))
        return random.sample(brokers, count)

    def _may_cancel(self, partition: Partition) -> bool:
        """Return whether a reassignment can be cancelled here.

        With ELR, a forced cancellation puts a replica in sync whether it is eligible or not, so
        there is none.
        """
        forced = self.configuration.min_isr is not None and self.configuration.unclean_enabled
        return in_progress(partition) and not forced

    def _send(self, cluster: Cluster) -> Choice | None:
        """Return a leader's request: mostly for one more member, else for fewer."""
        random = self.random
        if not cluster.leading:
            return None
        broker_id = random.choice(sorted(cluster.leading))
        view = cluster.leading[broker_id]
        outside = [replica for replica in view.replicas if replica not in view.isr]
        if outside and random.random() < 0.8:
            return choices.SendAlterPartition(broker_id, (*view.isr, random.choice(outside)))
        stay = tuple(one for one in view.isr if one == broker_id or random.random() < 0.6)
        return choices.SendAlterPartition(broker_id, stay)

    def _stray(self, cluster: Cluster, partition: Partition | None) -> Choice | None:
        """Return a request that is almost right, or asks for nothing new."""
        if not self.configuration.strays:
            return None
        random = self.random
        brokers, epochs = self.configuration.brokers, cluster.last_epochs
        leader = BrokerId(partition.leader) if partition else brokers[0]
        sender = random.choice((leader, random.choice(brokers)))
        if sender not in brokers:
            return None
        # Keep the order: Kafka writes an ISR that differs only in its order, but in Reassignment an
        # ISR has no order. No leader asks for that.
        present = partition.isr if partition else ()
        isr = present if sender in present else (*present, sender)
        leader_epoch = partition.leader_epoch if partition else 0
        partition_epoch = partition.partition_epoch if partition else 0
        known = tuple((member, epochs[member]) for member in isr)
        if random.random() < _NOTHING_NEW:
            return choices.SendStrayRequest(
                sender, epochs[sender], leader_epoch, partition_epoch, known, RECOVERED
            )
        other = random.choice(brokers)
        changed = tuple(one for one in isr if one != other) if other in isr else (*isr, other)
        members = tuple(
            (member, random.choice((epochs[member], BrokerEpoch(-1), BrokerEpoch(99))))
            for member in changed
        )
        return choices.SendStrayRequest(
            sender,
            random.choice((epochs[sender], epochs[sender], BrokerEpoch(99))),
            max(0, leader_epoch + random.choice(_NEAR)),
            max(0, partition_epoch + random.choice(_NEAR)),
            members,
            random.choice((RECOVERED, RECOVERED, RECOVERING)),
        )
