"""The effects of a controller: Raft appends or refuses, and clients get answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraft.controller import effects, events
from kraft.controller.machine import on_event
from kraft.controller.state import NO_EPOCH
from kraft.sim.metadata.cluster import Entry, SnapshotFile, log_end, newest_epoch
from kraft.sim.metadata.values import OPERATIONS, SetValue

if TYPE_CHECKING:
    from kraft.errors import ErrorCode
    from kraft.ids import NodeId
    from kraft.sim.metadata.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Handled:
    """The cluster after an event of one node, and what the node asked of Raft."""

    cluster: Cluster
    appended: bool = False
    refused: bool = False
    replied: bool = False
    has_snapshot: bool = False


class ControllerFault(Exception):  # noqa: N818 - Kafka's word: the process is at its end
    """A controller cannot go on; a correct one never gets here."""


def handle(
    cluster: Cluster, node: NodeId, event: events.Event, request: SetValue | None = None
) -> Handled:
    """Return the result of an event: the node's next state, with its effects performed.

    Raft reports a refused append at once, and the effects after it are not performed.

    Raises ControllerFault if the node cannot go on.
    """
    step = on_event(cluster.nodes[node], event, OPERATIONS)
    done = Handled(replace(cluster, nodes=cluster.nodes.set(node, step.state)))
    for effect in step.effects:
        match effect:
            case effects.Append():
                if done.cluster.leader_epoch.get(node) != effect.epoch:
                    refusal = events.AppendRefused(event.now_ms, effect.epoch)
                    return replace(handle(done.cluster, node, refusal), refused=True)
                done = replace(_append(done, node, effect, request), appended=True)
            case effects.Resign():
                done = _resign(done, node, effect.epoch)
            case effects.Reply():
                done = _reply(done, effect)
            case effects.CreateSnapshot():
                file = SnapshotFile(effect.snapshot_id, effect.records)
                snapshots = done.cluster.snapshots.set(node, file)
                after = replace(done.cluster, snapshots=snapshots)
                done = replace(done, cluster=after, has_snapshot=True)
            case effects.Fatal():
                raise ControllerFault(f"node {node}: {effect.reason}")
    return done


def _append(
    done: Handled, node: NodeId, effect: effects.Append, request: SetValue | None
) -> Handled:
    """Append a batch to the log if its writer leads the newest epoch.

    Spec: MetadataLog!AppendBatch.
    """
    cluster = done.cluster
    if effect.epoch != newest_epoch(cluster):
        return done
    end = log_end(cluster.committed + cluster.uncommitted)
    if effect.base_offset != end:
        raise ControllerFault(f"node {node} appends at {effect.base_offset}, the log ends at {end}")
    entry = Entry(end, effect.epoch, node, effect.records, request)
    return replace(done, cluster=replace(cluster, uncommitted=(*cluster.uncommitted, entry)))


def _resign(done: Handled, node: NodeId, epoch: int) -> Handled:
    leader_epoch = done.cluster.leader_epoch
    if leader_epoch[node] != epoch:
        return done
    changed = leader_epoch.set(node, NO_EPOCH)
    return replace(done, cluster=replace(done.cluster, leader_epoch=changed))


def _reply(done: Handled, effect: effects.Reply) -> Handled:
    if not isinstance(effect.token, SetValue):
        return done
    answer = effect.response
    code: ErrorCode = answer.error_code if isinstance(answer, effects.Failure) else answer
    answers = done.cluster.answers
    if effect.token in answers:
        raise ControllerFault(f"{effect.token} is answered twice")
    changed = replace(done.cluster, answers=answers.set(effect.token, code.name))
    return replace(done, cluster=changed, replied=True)
