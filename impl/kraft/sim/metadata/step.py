"""One step: `step(cluster, choice)`.

An impossible choice is refused and changes nothing, so every list of choices has exactly one run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kraft.controller import events
from kraft.controller.memory import in_transaction
from kraft.controller.state import NO_EPOCH, is_active
from kraft.records.cluster import BeginTransactionRecord, EndTransactionRecord
from kraft.sim.common.step import Refused, StepResult, done
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import (
    Cluster,
    Entry,
    believed_epoch,
    count_before,
    fresh_node,
    is_asked,
    log_end,
    newest_epoch,
)
from kraft.sim.metadata.effects import handle
from kraft.sim.metadata.values import Mistake, SetValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.ids import NodeId
    from kraft.sim.common.step import Outcome
    from kraft.sim.metadata.choices import Choice

_NOW_MS: Final = 0
_KRAFT_VERSION: Final = 0
_NO_SUCH_NODE: Final = Refused("no such node")
_NOT_ACTIVE: Final = Refused("no such controller is active")
_DISCONNECTED: Final = "DISCONNECTED"


def step(cluster: Cluster, choice: Choice) -> StepResult[Cluster, Choice]:
    """Return the cluster after a choice; an impossible choice is refused.

    Spec: MetadataLog!Next.
    """
    after, outcome = _HANDLERS[type(choice)](cluster, choice)
    return StepResult(cluster, after, choice, outcome)


_Result = tuple[Cluster, "Outcome"]


def _is_active(cluster: Cluster, controller: NodeId) -> bool:
    state = cluster.nodes.get(controller)
    return state is not None and is_active(state)


def _elect(cluster: Cluster, choice: choices.Elect) -> _Result:
    if cluster.leader_epoch.get(choice.controller) != NO_EPOCH:
        return cluster, Refused("no such controller, or it leads")
    epochs = [newest_epoch(cluster), *(epoch for epoch, _ in choice.passed), choice.epoch]
    if sorted(set(epochs)) != epochs or not 0 <= choice.survivors <= len(cluster.uncommitted):
        return cluster, Refused("epochs must grow, and only written batches can survive")
    log = cluster.committed + cluster.uncommitted[: choice.survivors]
    for epoch, leader in (*choice.passed, (choice.epoch, choice.controller)):
        log = (*log, Entry(log_end(log), epoch, leader))
    leader_epoch = cluster.leader_epoch.set(choice.controller, choice.epoch)
    after = replace(cluster, committed=log, uncommitted=(), leader_epoch=leader_epoch)
    return after, done("Elect")


def _lose_leadership(cluster: Cluster, choice: choices.LoseLeadership) -> _Result:
    if cluster.leader_epoch.get(choice.controller, NO_EPOCH) == NO_EPOCH:
        return cluster, Refused("it does not lead")
    changed = cluster.leader_epoch.set(choice.controller, NO_EPOCH)
    return replace(cluster, leader_epoch=changed), done("LoseLeadership")


def _commit(cluster: Cluster, choice: choices.Commit) -> _Result:
    count, log = choice.count, cluster.uncommitted
    if not 1 <= count <= len(log):
        return cluster, Refused("there are not that many batches to commit")
    committed = cluster.committed + log[:count]
    return replace(cluster, committed=committed, uncommitted=log[count:]), done("Commit")


def _lose_tail(cluster: Cluster, choice: choices.LoseTail) -> _Result:
    log = cluster.uncommitted
    if newest_epoch(cluster) in cluster.leader_epoch.values():
        return cluster, Refused("its writer leads")
    if not 1 <= choice.count <= len(log):
        return cluster, Refused("there are not that many batches to lose")
    return replace(cluster, uncommitted=log[: len(log) - choice.count]), done("LoseTail")


def _tell_leader(cluster: Cluster, choice: choices.TellLeader) -> _Result:
    controller = choice.controller
    epoch = cluster.leader_epoch.get(controller, NO_EPOCH)
    if epoch == NO_EPOCH or _is_active(cluster, controller):
        return cluster, Refused("it does not lead, or is active")
    state = cluster.nodes[controller]
    count = count_before(cluster.committed, state.committed_end)
    last = cluster.committed[count - 1] if count else None
    if last is None or last.records or (last.epoch, last.leader) != (epoch, controller):
        return cluster, Refused("it has not read up to its own epoch")
    heard = handle(cluster, controller, events.LeaderChanged(_NOW_MS, epoch, controller))
    opened = in_transaction(state.written)
    return heard.cluster, done("ClaimWithOpenTransaction" if opened else "Claim")


def _tell_other(cluster: Cluster, choice: choices.TellOther) -> _Result:
    controller = choice.controller
    if not _is_active(cluster, controller):
        return cluster, _NOT_ACTIVE
    claimed = cluster.nodes[controller].claim_epoch
    if cluster.leader_epoch[controller] == claimed:
        return cluster, Refused("it leads")
    event = events.LeaderChanged(_NOW_MS, max(newest_epoch(cluster), claimed) + 1, None)
    return handle(cluster, controller, event).cluster, done("Renounce")


def _make_mistake(cluster: Cluster, choice: choices.MakeMistake) -> _Result:
    if not _is_active(cluster, choice.controller):
        return cluster, _NOT_ACTIVE
    event = events.RequestReceived(_NOW_MS, None, Mistake(), kraft_version=_KRAFT_VERSION)
    return handle(cluster, choice.controller, event).cluster, done("Renounce")


def _ask(cluster: Cluster, choice: choices.Ask) -> _Result:
    controller, request = choice.controller, choice.request
    if not _is_active(cluster, controller):
        return cluster, _NOT_ACTIVE
    if request not in cluster.configuration.requests or is_asked(cluster, request):
        return cluster, Refused("no client has this request, or it was made")
    event = events.RequestReceived(_NOW_MS, request, request, kraft_version=_KRAFT_VERSION)
    heard = handle(cluster, controller, event, request)
    if heard.refused:
        action = "RefuseAppend"
    elif heard.appended:
        action = "HandleWrite"
    else:
        action = "AnswerUnchanged" if heard.replied else "DelayUnchanged"
    return heard.cluster, done(action)


def _begin(cluster: Cluster, choice: choices.BeginTransaction) -> _Result:
    return _mark(cluster, choice.controller, BeginTransactionRecord(), "BeginTransaction")


def _end(cluster: Cluster, choice: choices.EndTransaction) -> _Result:
    return _mark(cluster, choice.controller, EndTransactionRecord(), "EndTransaction")


def _mark(
    cluster: Cluster,
    controller: NodeId,
    record: BeginTransactionRecord | EndTransactionRecord,
    action: str,
) -> _Result:
    if not _is_active(cluster, controller):
        return cluster, _NOT_ACTIVE
    heard = handle(cluster, controller, events.TransactionMarked(_NOW_MS, record))
    if heard.refused:
        return heard.cluster, done("Renounce")
    if not heard.appended:
        return cluster, Refused("the marker is illegal now")
    return heard.cluster, done(action)


def _hand_over(cluster: Cluster, choice: choices.HandOver) -> _Result:
    state = cluster.nodes.get(choice.node)
    if state is None:
        return cluster, _NO_SUCH_NODE
    first = count_before(cluster.committed, state.committed_end)
    entries = cluster.committed[first : first + choice.count]
    if not 1 <= choice.count == len(entries):
        return cluster, Refused("there are not that many batches to hand over")
    believed = believed_epoch(cluster, choice.node)
    if believed != NO_EPOCH and entries[-1].epoch > believed:
        return cluster, Refused("it must first hear that it does not lead")
    batches = tuple(
        events.CommittedBatch(one.base_offset, one.epoch, one.records, one.count) for one in entries
    )
    heard = handle(cluster, choice.node, events.BatchesCommitted(_NOW_MS, batches))
    return heard.cluster, done("HandleCommit" if is_active(state) else "ReplayCommitted")


def _create_snapshot(cluster: Cluster, choice: choices.CreateSnapshot) -> _Result:
    if choice.node not in cluster.nodes:
        return cluster, _NO_SUCH_NODE
    heard = handle(cluster, choice.node, events.SnapshotRequested(_NOW_MS))
    if not heard.has_snapshot:
        return cluster, Refused("there is no news")
    return heard.cluster, done("CreateSnapshot")


def _load_snapshot(cluster: Cluster, choice: choices.LoadSnapshot) -> _Result:
    node = choice.node
    state, file = cluster.nodes.get(node), cluster.snapshots.get(choice.source)
    if state is None or file is None:
        return cluster, _NO_SUCH_NODE
    if file.snapshot_id.end_offset <= state.committed_end:
        return cluster, Refused("it is not ahead")
    if believed_epoch(cluster, node) != NO_EPOCH:
        return cluster, Refused("it leads, or believes that it does")
    event = events.SnapshotLoaded(_NOW_MS, file.snapshot_id, file.records)
    loaded = handle(cluster, node, event).cluster
    return replace(loaded, snapshots=loaded.snapshots.set(node, file)), done("LoadSnapshot")


def _restart(cluster: Cluster, choice: choices.Restart) -> _Result:
    node = choice.node
    state = cluster.nodes.get(node)
    if state is None:
        return cluster, _NO_SUCH_NODE
    answers = cluster.answers
    for parked in state.deferred:
        if isinstance(parked.token, SetValue):
            answers = answers.set(parked.token, _DISCONNECTED)
    leader_epoch = cluster.leader_epoch
    if node in leader_epoch:
        leader_epoch = leader_epoch.set(node, NO_EPOCH)
    anew = replace(
        cluster,
        nodes=cluster.nodes.set(node, fresh_node(node)),
        answers=answers,
        leader_epoch=leader_epoch,
    )
    file = cluster.snapshots[node]
    if file.snapshot_id.end_offset:
        event = events.SnapshotLoaded(_NOW_MS, file.snapshot_id, file.records)
        anew = handle(anew, node, event).cluster
    return anew, done("Restart")


_HANDLERS: Final[dict[type[Any], Callable[[Cluster, Any], _Result]]] = {
    choices.Elect: _elect,
    choices.LoseLeadership: _lose_leadership,
    choices.Commit: _commit,
    choices.LoseTail: _lose_tail,
    choices.TellLeader: _tell_leader,
    choices.TellOther: _tell_other,
    choices.MakeMistake: _make_mistake,
    choices.Ask: _ask,
    choices.BeginTransaction: _begin,
    choices.EndTransaction: _end,
    choices.HandOver: _hand_over,
    choices.CreateSnapshot: _create_snapshot,
    choices.LoadSnapshot: _load_snapshot,
    choices.Restart: _restart,
}
