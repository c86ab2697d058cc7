"""The effects of a controller: Raft appends, and waiting processes get answers."""

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
    """A controller cannot go on; a correct one never gets here."""


@dataclass(frozen=True, slots=True)
class Handled:
    """The cluster after an event of one controller, its new records, and its replies.

    `replies` are not on the network yet.
    """

    cluster: Cluster
    records: tuple[TypedRecord, ...] = ()
    replies: tuple[effects.Reply, ...] = ()


def handle(
    cluster: Cluster, node: NodeId, event: Event, request: Envelope | None = None
) -> Handled:
    """Return the result of an event; `request` is the request that it carries.

    Raft accepts every append of a controller, also of one that was deposed and has not heard of it;
    such a batch is never committed.

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
                # Raft ignores a Resign here: it knows that it does not lead.
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
    """Return the cluster with the replies in flight to the processes that still await them.

    Raises ControllerFault for a Failure instead of a response.
    """
    for reply in replies:
        request = reply.token
        assert isinstance(request, Envelope), "only broker processes get answers"
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
    """Return a controller's answer to the request in an event, given now or later.

    Raises ControllerFault if it would give none.
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
