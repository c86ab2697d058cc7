"""The scheduler: it draws random choices from a seed, most of them possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.controller.memory import in_transaction
from kraft.controller.state import NO_EPOCH, is_active
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import (
    Cluster,
    Configuration,
    count_before,
    is_asked,
    newest_epoch,
)
from kraft.sim.metadata.values import LEFT, value_of

if TYPE_CHECKING:
    from random import Random

    from kraft.ids import NodeId
    from kraft.sim.common.step import StepResult
    from kraft.sim.metadata.choices import Choice

_WEIGHTS: Final = {
    "hand_over": 40,
    "commit": 30,
    "ask": 26,
    "tell_leader": 24,
    "elect": 1.5,
    "lose_leadership": 1.2,
    "tell_other": 4,
    "mistake": 1.5,
    "lose_tail": 8,
    "begin": 3,
    "end": 8,
    "create": 6,
    "load": 7,
    "restart": 1.2,
}
_MAKES_LONGER: Final = {"elect", "ask", "begin"}
_OF_RAFT: Final = {"elect", "commit", "lose_tail"}
# How often a request expects the present value.
_FITTING: Final = 0.6
_LEADERLESS: Final = 0.1
_MUCH: Final = 4
_BROKERS_LAG: Final = 0.8
_TRIES: Final = 200


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Draws the choices of one run."""

    configuration: Configuration
    random: Random

    def next_choice(self, cluster: Cluster) -> Choice:
        """Return a choice; it may be refused."""
        if newest_epoch(cluster) not in cluster.leader_epoch.values() and (
            self.random.random() < _LEADERLESS
        ):
            choice = self._draw("elect", cluster)
            if choice is not None:
                return choice
        for _ in range(_TRIES):
            (kind,) = self.random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
            choice = self._draw(kind, cluster)
            if choice is not None:
                return choice
        return choices.Commit(1)

    def observe(self, result: StepResult[Cluster, Choice]) -> None:
        """Ignore the result of a choice: the next choice does not depend on it."""

    def _draw(self, kind: str, cluster: Cluster) -> Choice | None:
        configuration = self.configuration
        length = len(cluster.committed) + len(cluster.uncommitted)
        if length >= configuration.longest_log and kind in _MAKES_LONGER:
            kind = "restart"
        if kind in _OF_RAFT:
            return self._of_raft(kind, cluster)
        if kind in {"hand_over", "create", "load", "restart"}:
            return self._of_node(kind, cluster)
        controller = self.random.choice(configuration.controllers)
        leads = cluster.leader_epoch[controller] != NO_EPOCH
        state = cluster.nodes[controller]
        if kind == "lose_leadership":
            return choices.LoseLeadership(controller) if leads else None
        if kind == "tell_leader":
            return choices.TellLeader(controller) if leads and not is_active(state) else None
        if not is_active(state):
            return None
        if kind == "tell_other":
            return choices.TellOther(controller)
        if kind == "mistake":
            return choices.MakeMistake(controller)
        if kind == "ask":
            return self._ask(controller, cluster)
        if not configuration.transactions:
            return None
        if in_transaction(state.written):
            return choices.EndTransaction(controller) if kind == "end" else None
        return choices.BeginTransaction(controller) if kind == "begin" else None

    def _ask(self, controller: NodeId, cluster: Cluster) -> Choice | None:
        random, image = self.random, cluster.nodes[controller].written.image
        left = [one for one in self.configuration.requests if not is_asked(cluster, one)]
        fitting = [one for one in left if one.expected == value_of(image, LEFT)]
        if fitting and random.random() < _FITTING:
            left = fitting
        return choices.Ask(controller, random.choice(left)) if left else None

    def _of_raft(self, kind: str, cluster: Cluster) -> Choice | None:
        random, tail = self.random, len(cluster.uncommitted)
        if kind == "elect":
            return self._elect(cluster)
        if not tail:
            return None
        if kind == "lose_tail" and newest_epoch(cluster) in cluster.leader_epoch.values():
            return None
        count = random.randint(1, min(tail, 2))
        return choices.Commit(count) if kind == "commit" else choices.LoseTail(count)

    def _elect(self, cluster: Cluster) -> Choice | None:
        random = self.random
        free = [one for one, epoch in sorted(cluster.leader_epoch.items()) if epoch == NO_EPOCH]
        if not free:
            return None
        newest = newest_epoch(cluster)
        epoch = newest + random.choice((1, 1, 1, 2))
        passed: tuple[tuple[int, NodeId], ...] = ()
        if epoch > newest + 1 and random.random() < _FITTING:
            passed = ((newest + 1, random.choice(self.configuration.controllers)),)
        survivors = random.randint(0, len(cluster.uncommitted))
        return choices.Elect(random.choice(free), epoch, survivors, passed)

    def _of_node(self, kind: str, cluster: Cluster) -> Choice | None:
        random, configuration = self.random, self.configuration
        node = random.choice(configuration.nodes)
        if kind == "restart":
            return choices.Restart(node) if configuration.restarts else None
        if kind == "hand_over":
            if node in configuration.brokers and random.random() < _BROKERS_LAG:
                return None
            end = count_before(cluster.committed, cluster.nodes[node].committed_end)
            left = len(cluster.committed) - end
            return choices.HandOver(node, random.randint(1, min(left, _MUCH))) if left else None
        if not configuration.snapshots:
            return None
        if kind == "create":
            return choices.CreateSnapshot(node)
        reached = cluster.nodes[node].committed_end
        files = sorted(cluster.snapshots.items())
        ahead = [one for one, file in files if file.snapshot_id.end_offset > reached]
        return choices.LoadSnapshot(node, random.choice(ahead)) if ahead else None
