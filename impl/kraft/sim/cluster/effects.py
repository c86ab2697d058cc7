"""What becomes of the effects of a controller: Raft appends, and whoever waits is answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kraft.controller import effects
from kraft.controller.machine import on_event
from kraft.sim.cluster.cluster import Batch, Controller, Envelope, is_awaited
from kraft.sim.cluster.operations import OPERATIONS

if TYPE_CHECKING:
    from kraft.controller.events import Event
    from kraft.ids import NodeId
    from kraft.records.typed_record import TypedRecord
    from kraft.sim.cluster.cluster import Cluster


class ControllerFault(Exception):  # noqa: N818 - Kafka's word: the process is at its end
    """A controller that cannot go on; no run of a correct one gets here."""


@dataclass(frozen=True, slots=True)
class Handled:
    """The cluster after an event of one controller, the records that it wrote, what it answered.

    `replies` are not on the network yet.
    """

    cluster: Cluster
    records: tuple[TypedRecord, ...] = ()
    replies: tuple[effects.Reply, ...] = ()


def handle(
    cluster: Cluster, node: NodeId, event: Event, request: Envelope | None = None
) -> Handled:
    """Return what comes of an event; `request` is the one that comes with it.

    Its Raft takes whatever a controller appends: one that was deposed has not heard of it, and
    nothing that it writes from then on is ever committed.

    Raises ControllerFault if the controller cannot go on.
    """
    controller = cluster.controllers[node]
    taken = on_event(controller.state, event, OPERATIONS)
    tail, replies = controller.tail, []
    records: tuple[TypedRecord, ...] = ()
    for effect in taken.effects:
        match effect:
            case effects.Append():
                tail = (*tail, _batch(node, controller, tail, effect, request))
                records = (*records, *effect.records)
            case effects.Reply():
                replies.append(effect)
            case effects.Fatal():
                raise ControllerFault(f"controller {node}: {effect.reason}")
            case _:
                # A Resign is for Raft, which knows that it does not lead.
                pass
    after = Controller(taken.state, tail, event.now_ms)
    changed = replace(cluster, controllers=cluster.controllers.set(node, after))
    return Handled(changed, records, tuple(replies))


def _batch(
    node: NodeId,
    controller: Controller,
    tail: tuple[Batch, ...],
    effect: effects.Append,
    request: Envelope | None,
) -> Batch:
    end = tail[-1].end if tail else controller.state.written.end
    if effect.base_offset != end:
        raise ControllerFault(f"controller {node} appends at {effect.base_offset} instead of {end}")
    request_id = None if request is None else request.request_id
    return Batch(end, effect.epoch, effect.records, request_id)


def answered(cluster: Cluster, replies: tuple[effects.Reply, ...]) -> Cluster:
    """Return the cluster with answers on their way, each to a process that still waits for it.

    Raises ControllerFault for an answer that is no response: a request went wrong.
    """
    for reply in replies:
        request = reply.token
        assert isinstance(request, Envelope), "only processes of brokers are answered"
        if isinstance(reply.response, effects.Failure):
            raise ControllerFault(f"{request.request}: {reply.response.reason}")
        if is_awaited(cluster, request):
            envelope = replace(request, message_id=cluster.next_message_id, response=reply.response)
            cluster = replace(
                cluster,
                network=(*cluster.network, envelope),
                next_message_id=cluster.next_message_id + 1,
            )
    return cluster


def response_of(cluster: Cluster, node: NodeId, event: Event, token: object) -> Any:
    """Return what a controller would answer to the request in an event, now or later.

    Raises ControllerFault if it would not.
    """
    taken = on_event(cluster.controllers[node].state, event, OPERATIONS)
    now = [(one.token, one.response) for one in taken.effects if isinstance(one, effects.Reply)]
    later = [(one.token, one.response) for one in taken.state.deferred]
    for given, response in (*now, *later):
        if given == token:
            if isinstance(response, effects.Failure):
                raise ControllerFault(f"controller {node}: {response.reason}")
            return response
    raise ControllerFault(f"controller {node} has no answer to {event}")
