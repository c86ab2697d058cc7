"""The steps of Raft that controllers notice: commits, elections, and the news of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.controller.events import BatchesCommitted, CommittedBatch, LeaderChanged
from kraft.controller.memory import after_batch, after_control_batch
from kraft.controller.state import is_active
from kraft.sim.cluster.cluster import Batch, Controller
from kraft.sim.cluster.effects import answered, handle
from kraft.sim.common.step import Refused, done

if TYPE_CHECKING:
    from kraft.controller.memory import Memory
    from kraft.ids import NodeId
    from kraft.sim.cluster import choices
    from kraft.sim.cluster.cluster import Cluster
    from kraft.sim.common.step import Outcome


def commit(cluster: Cluster, choice: choices.Commit) -> tuple[Cluster, Outcome]:
    """Commit the leader's first uncommitted batch; the leader sends the answers due then."""
    node = choice.controller
    controller = cluster.controllers.get(node)
    if node != cluster.leader or controller is None or not controller.tail:
        return cluster, Refused("it does not lead, or has written nothing")
    batch = controller.tail[0]
    event = BatchesCommitted(controller.now_ms, (_told(batch),))
    heard = handle(cluster, node, event)
    state = heard.cluster.controllers[node].state
    after = _with(heard.cluster, node, Controller(state, controller.tail[1:], controller.now_ms))
    return answered(_committed(after, (batch,)), heard.replies), done("Commit")


def elect_leader(cluster: Cluster, choice: choices.ElectLeader) -> tuple[Cluster, Outcome]:
    """Let a standby hear of everything committed, and that it leads."""
    node, survivors = choice.controller, choice.survivors
    controller = cluster.controllers.get(node)
    if controller is None or node == cluster.leader or is_active(controller.state):
        return cluster, Refused("no such controller, or it leads, or believes that it does")
    tail = cluster.controllers[cluster.leader].tail
    if not 0 <= survivors <= len(tail):
        return cluster, Refused("only written batches can survive")
    epoch = cluster.epoch + 1
    inherited = tail[:survivors]
    end = inherited[-1].end if inherited else cluster.committed.end
    elected = _committed(cluster, (*inherited, Batch(end, epoch)))
    first = controller.state.committed_end
    news = tuple(_told(batch) for batch in elected.log if batch.base_offset >= first)
    now_ms = controller.now_ms
    told = handle(elected, node, BatchesCommitted(now_ms, news)).cluster
    leads = handle(
        replace(told, leader=node, epoch=epoch), node, LeaderChanged(now_ms, epoch, node)
    )
    return leads.cluster, done("ElectLeader")


def renounce(cluster: Cluster, choice: choices.Renounce) -> tuple[Cluster, Outcome]:
    """Tell an active controller that another one leads.

    It drops its uncommitted batches and the answers that it still owes: the processes ask the new
    leader.
    """
    node = choice.controller
    controller = cluster.controllers.get(node)
    if controller is None or node == cluster.leader or not is_active(controller.state):
        return cluster, Refused("no such controller is active, or it leads")
    event = LeaderChanged(controller.now_ms, cluster.epoch, cluster.leader)
    state = handle(cluster, node, event).cluster.controllers[node].state
    return _with(cluster, node, Controller(state, (), controller.now_ms)), done("Renounce")


def _with(cluster: Cluster, node: NodeId, controller: Controller) -> Cluster:
    return replace(cluster, controllers=cluster.controllers.set(node, controller))


def _told(batch: Batch) -> CommittedBatch:
    return CommittedBatch(batch.base_offset, batch.epoch, batch.records, batch.count)


def _committed(cluster: Cluster, batches: tuple[Batch, ...]) -> Cluster:
    memory = cluster.committed
    for batch in batches:
        memory = _replayed(memory, batch)
    return replace(cluster, log=cluster.log + batches, committed=memory)


def _replayed(memory: Memory, batch: Batch) -> Memory:
    if not batch.records:
        return after_control_batch(memory, batch.end, batch.epoch)
    return after_batch(memory, batch.records, batch.base_offset, batch.epoch)
