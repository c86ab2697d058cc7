"""The scheduler: it draws random choices from a seed, most of them possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.broker.lease import BrokerState
from kraft.controller.operations.heartbeats import (
    has_valid_session,
    heartbeat_state,
    overdue_brokers,
)
from kraft.controller.operations.leader_eligibility import is_active
from kraft.controller.operations.partition_ask import in_progress
from kraft.ids import NO_BROKER_EPOCH
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.sim.cluster import choices
from kraft.sim.cluster.cluster import (
    Cluster,
    Configuration,
    active_controllers,
    is_awaited,
    is_running,
    partition_of,
)

if TYPE_CHECKING:
    from random import Random

    from kraft.ids import BrokerId, NodeId
    from kraft.sim.cluster.choices import Choice
    from kraft.sim.cluster.cluster import Broker
    from kraft.sim.common.step import StepResult

_WEIGHTS: Final = {
    "deliver": 46,
    "commit": 20,
    "send": 40,
    "replay": 16,
    "start": 6,
    "timeout": 1.5,
    "lose": 0.7,
    "shutdown": 0.6,
    "crash": 0.6,
    "silence": 8,
    "fence": 10,
    "elect": 0.7,
    "renounce": 3,
    "reassign": 1.5,
    "cancel": 0.7,
    "register": 0.8,
    "upgrade": 0.5,
}
_OF_NETWORK: Final = {"deliver", "lose"}
_OF_RAFT: Final = {"commit", "elect", "renounce"}
_OF_PROCESSES: Final = {"send", "replay", "start", "timeout", "shutdown", "crash"}
# How often a request goes to the leader instead of any controller that believes to lead.
_TO_LEADER: Final = 0.75
# How often a process starts although another process of its broker runs.
_BESIDE_ANOTHER: Final = 0.15
# How often a leader asks for another ISR instead of sending a heartbeat.
_ASKS: Final = 0.6
# How often a session runs out although the process runs, as one cut off or slow would.
_THOUGH_IT_RUNS: Final = 0.03
_ASKS_THOUGH_REPLACED: Final = 0.9
# How often a leader does not replay what it could. Its requests are slow, too, so that much can
# happen that it does not know.
_LEADERS_LAG: Final = 0.6
_SOON: Final = 0.3
# How often a leader with other in-sync replicas keeps them.
_STAYS: Final = 0.7
# How often a request is delivered whose response is no longer awaited.
_LATE: Final = 0.1
_TRIES: Final = 200


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Draws the choices of one run; with `lingering`, a deposed controller hears of it late."""

    configuration: Configuration
    random: Random
    lingering: bool = False

    def next_choice(self, cluster: Cluster) -> Choice:
        """Return a choice; it may be refused."""
        for node in active_controllers(cluster):
            if len(cluster.controllers[node].tail) >= self.configuration.longest_tail:
                leads = node == cluster.leader
                return choices.Commit(node) if leads else choices.Renounce(node)
        for _ in range(_TRIES):
            (kind,) = self.random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
            choice = self._draw(kind, cluster)
            if choice is not None:
                return choice
        return choices.Commit(cluster.leader)

    def observe(self, result: StepResult[Cluster, Choice]) -> None:
        """Ignore the result of a choice: the next choice does not depend on it."""

    def _draw(self, kind: str, cluster: Cluster) -> Choice | None:
        if kind in _OF_NETWORK:
            return self._of_network(kind, cluster)
        if kind in _OF_RAFT:
            return self._of_raft(kind, cluster)
        if kind in _OF_PROCESSES:
            return self._of_process(kind, cluster)
        node = self._controller(cluster)
        if kind in {"silence", "fence"}:
            return self._of_silence(kind, cluster, node)
        return self._of_operator(kind, cluster, node)

    def _controller(self, cluster: Cluster) -> NodeId:
        """Return a controller that believes that it is active."""
        if self.random.random() < _TO_LEADER:
            return cluster.leader
        return self.random.choice(active_controllers(cluster))

    def _of_network(self, kind: str, cluster: Cluster) -> Choice | None:
        if not cluster.network:
            return None
        envelope = self.random.choice(cluster.network)
        if kind == "lose":
            return choices.LoseMessage(envelope.message_id)
        if envelope.response is not None:
            return choices.Deliver(envelope.message_id)
        asks = isinstance(envelope.request, AlterPartitionRequest)
        chance = _SOON if asks else _LATE
        if (asks or not is_awaited(cluster, envelope)) and self.random.random() > chance:
            return None
        asked = self.random.choice(active_controllers(cluster))
        return choices.Deliver(envelope.message_id, asked if asks else self._controller(cluster))

    def _of_raft(self, kind: str, cluster: Cluster) -> Choice | None:
        random, active = self.random, active_controllers(cluster)
        tail = cluster.controllers[cluster.leader].tail
        if kind == "commit":
            return choices.Commit(cluster.leader) if tail else None
        if kind == "renounce":
            if self.lingering and random.random() > _LATE:
                return None
            deposed = [node for node in active if node != cluster.leader]
            return choices.Renounce(random.choice(deposed)) if deposed else None
        standbys = [node for node in self.configuration.controllers if node not in active]
        if not standbys:
            return None
        return choices.ElectLeader(random.choice(standbys), random.randint(0, len(tail)))

    def _of_process(self, kind: str, cluster: Cluster) -> Choice | None:
        random = self.random
        if kind == "start":
            return self._start(cluster)
        running = [
            cluster.brokers[one.incarnation_id]
            for one in self.configuration.processes
            if is_running(cluster.brokers[one.incarnation_id])
        ]
        if not running:
            return None
        broker = random.choice(running)
        incarnation_id = broker.lifecycle.incarnation_id
        if kind == "send":
            return self._send(cluster, broker) if broker.awaited is None else self._give_up(broker)
        if kind == "replay":
            known = broker.applied is not None and broker.applied.end == cluster.committed.end
            lags = broker.view is not None and random.random() < _LEADERS_LAG
            return None if known or lags else choices.ReplayMetadata(incarnation_id)
        if kind == "timeout":
            waits = broker.awaited is not None
            return choices.RequestTimeout(incarnation_id) if waits else None
        if kind == "shutdown":
            runs = broker.lifecycle.state is BrokerState.RUNNING
            return choices.RequestShutdown(incarnation_id) if runs else None
        replaced = [one for one in running if not self._is_registered(cluster, one)]
        if replaced and random.random() < _TO_LEADER:
            return choices.Crash(random.choice(replaced).lifecycle.incarnation_id)
        return choices.Crash(incarnation_id)

    def _give_up(self, broker: Broker) -> Choice | None:
        """Time out the request of a starting process; its answer may arrive late or never.

        Its heartbeat asked to stay fenced.
        """
        lease = broker.lifecycle
        starts = lease.state is BrokerState.STARTING and lease.broker_epoch != NO_BROKER_EPOCH
        if not starts or self.random.random() > _LATE:
            return None
        return choices.RequestTimeout(lease.incarnation_id)

    def _is_registered(self, cluster: Cluster, broker: Broker) -> bool:
        """Return whether a process has no epoch yet, or the registered epoch of its broker."""
        lease = broker.lifecycle
        registration = cluster.committed.image.brokers.get(lease.broker_id)
        epochs = {NO_BROKER_EPOCH, NO_BROKER_EPOCH if registration is None else registration.epoch}
        return lease.broker_epoch in epochs

    def _start(self, cluster: Cluster) -> Choice | None:
        random, processes = self.random, self.configuration.processes
        broker_id = random.choice(self.configuration.brokers)
        its = [
            cluster.brokers[one.incarnation_id] for one in processes if one.broker_id == broker_id
        ]
        if any(map(is_running, its)) and random.random() > _BESIDE_ANOTHER:
            return None
        fresh = [
            one for one in its if not one.crashed and one.lifecycle.state is BrokerState.NOT_RUNNING
        ]
        return choices.StartBroker(fresh[0].lifecycle.incarnation_id) if fresh else None

    def _send(self, cluster: Cluster, broker: Broker) -> Choice:
        random, lease, view = self.random, broker.lifecycle, broker.view
        incarnation_id = lease.incarnation_id
        if lease.broker_epoch == NO_BROKER_EPOCH:
            return choices.SendRegistration(incarnation_id)
        replaced = not self._is_registered(cluster, broker)
        if broker.applied is None or view is None or lease.state is BrokerState.STARTING:
            return choices.SendHeartbeat(incarnation_id)
        if random.random() > (_ASKS_THOUGH_REPLACED if replaced else _ASKS):
            return choices.SendHeartbeat(incarnation_id)
        if view.pending:
            return choices.SendAlterPartition(incarnation_id, view.pending)
        image = broker.applied.image
        outside = [
            replica
            for replica in view.replicas
            if replica not in view.isr and is_active(image, replica)
        ]
        if outside:
            joined = (*view.isr, random.choice(outside))
            return choices.SendAlterPartition(incarnation_id, joined)
        stays = not replaced and random.random() < _STAYS
        if stays or view.isr == (lease.broker_id,):
            return choices.SendHeartbeat(incarnation_id)
        return choices.SendAlterPartition(incarnation_id, (lease.broker_id,))

    def _of_silence(self, kind: str, cluster: Cluster, node: NodeId) -> Choice | None:
        controller = cluster.controllers[node]
        heartbeats = controller.state.heartbeats
        if heartbeats is None:
            return None
        if kind == "fence":
            overdue = overdue_brokers(heartbeats, controller.now_ms)
            return choices.FenceStaleBroker(node, self.random.choice(overdue)) if overdue else None
        valid = {
            one: heartbeat_state(heartbeats, one).contact_time_ms or 0
            for one in self.configuration.brokers
            if has_valid_session(heartbeats, one, controller.now_ms)
        }
        dead = [one for one in valid if not self._runs(cluster, one)]
        if dead:
            return choices.SessionsRunOut(node, self.random.choice(dead))
        if not valid or self.random.random() > _THOUGH_IT_RUNS:
            return None
        return choices.SessionsRunOut(node, min(valid, key=lambda one: (valid[one], one)))

    def _runs(self, cluster: Cluster, broker_id: BrokerId) -> bool:
        """Return whether the registered process of a broker runs."""
        registration = cluster.committed.image.brokers.get(broker_id)
        if registration is None:
            return False
        return is_running(cluster.brokers[registration.incarnation_id])

    def _of_operator(self, kind: str, cluster: Cluster, node: NodeId) -> Choice | None:
        random, configuration = self.random, self.configuration
        moving = in_progress(partition_of(cluster.controllers[node].state.written))
        if kind == "reassign":
            count = random.randint(1, len(configuration.brokers))
            target = tuple(random.sample(configuration.brokers, count))
            return None if moving else choices.StartReassignment(node, target)
        if kind == "cancel":
            return choices.CancelReassignment(node) if moving else None
        if kind == "upgrade":
            return choices.UpgradeFeature(node, random.choice(configuration.levels))
        process = random.choice(configuration.controller_processes)
        return choices.RegisterController(node, process.incarnation_id)
