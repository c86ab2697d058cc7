"""A simulated cluster as a state of Cluster, and a choice as one of its actions.

This changes the notation and holds no rule of the protocol. Where spec and code differ, one of them
is fixed, never this file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from krafla.refinement.cluster.notation import (
    image_value,
    record_value,
    request_value,
    response_value,
)
from krafla.refinement.common.interner import Interner
from krafla.refinement.common.judged_spec import StepMapping
from krafla.refinement.lease.vocabulary import NIL, NO_AGE
from krafla.values import function, record
from kraft.controller.operations.heartbeats import heartbeat_state
from kraft.controller.state import is_active, visible
from kraft.ids import NO_OFFSET
from kraft.sim.cluster import choices
from kraft.sim.cluster.cluster import Envelope, find, is_awaited, status
from kraft.sim.cluster.controller_steps import end_of_session_ms

if TYPE_CHECKING:
    from krafla.values import Value
    from kraft.controller.memory import Memory
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.state import Deferred
    from kraft.ids import BrokerId
    from kraft.sim.cluster.choices import Choice
    from kraft.sim.cluster.cluster import Batch, Cluster, Configuration, Controller

__all__ = ["ClusterMapping"]

_FRESH: Final = 0
_OVERDUE: Final = 2

# The implementation decides whether a leader sends a request and which broker is fenced first. It
# does less of both than the spec allows.
_LESS_THAN_ALLOWED: Final = (choices.SendAlterPartition, choices.FenceStaleBroker)


class ClusterMapping(StepMapping):
    """The mapping for one configuration. Equal values are one object while they are remembered."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._values: Interner[Value] = Interner()
        self._images: Interner[tuple[Memory, Value]] = Interner()

    def variables(self, cluster: Cluster) -> dict[str, Value]:
        """Return the values of all variables. Spec: Cluster!vars."""
        configuration = self._configuration
        nodes = configuration.controllers
        controllers = [cluster.controllers[node] for node in nodes]
        brokers = [cluster.brokers[one.incarnation_id] for one in configuration.processes]
        active = frozenset(
            int(node) for node, one in zip(nodes, controllers, strict=True) if is_active(one.state)
        )
        bag = Counter(self.message(cluster, one) for one in cluster.network)
        values: dict[str, Value] = {
            "committed": self._image(cluster.committed),
            "leader": int(cluster.leader),
            "active": active,
            "stable": self._by_node([self._stable(one) for one in controllers]),
            "tail": self._by_node([_tail(cluster, one) for one in controllers]),
            "written": self._by_node([self._written(one) for one in controllers]),
            "contact_age": self._by_node([self._ages(one) for one in controllers]),
            "metadata_offset": self._offsets(controllers, "metadata_offset"),
            "controlled_shutdown_offset": self._offsets(controllers, "controlled_shutdown_offset"),
            "status": self._by_process([status(one) for one in brokers]),
            "broker_epoch": self._by_process([one.lifecycle.broker_epoch for one in brokers]),
            "applied": self._by_process([self._image(one.applied) for one in brokers]),
            "waiting": self._by_process([one.awaited is not None for one in brokers]),
            "messages": function(bag),
        }
        return {name: self._interned(name, value) for name, value in values.items()}

    def message(self, cluster: Cluster, envelope: Envelope) -> Value:
        """Return a message. Spec: Cluster!IsMessage."""
        if envelope.response is None:
            return request_value(envelope, is_awaited(cluster, envelope))
        return response_value(envelope, envelope.response)

    def parameters_of(self, cluster: Cluster, choice: Choice) -> tuple[Value, ...] | None:
        """Return the parameters of the action a choice stands for, by the cluster before it."""
        if isinstance(choice, choices.Deliver | choices.LoseMessage):
            return self._of_message(cluster, choice)
        if hasattr(choice, "controller"):
            return self._of_controller(cluster, choice)
        if choice.incarnation_id not in cluster.brokers:
            return None
        if isinstance(choice, choices.SendAlterPartition):
            return str(choice.incarnation_id), frozenset(map(int, choice.isr))
        return (str(choice.incarnation_id),)

    def _of_controller(self, cluster: Cluster, choice: Any) -> tuple[Value, ...] | None:
        if choice.controller not in cluster.controllers:
            return None
        node = int(choice.controller)
        match choice:
            case choices.SessionsRunOut():
                controller = cluster.controllers[choice.controller]
                return node, self._silent_with(controller, choice.broker_id)
            case choices.FenceStaleBroker():
                known = choice.broker_id in self._configuration.brokers
                return (node, int(choice.broker_id)) if known else None
            case choices.StartReassignment():
                return node, tuple(map(int, choice.target))
            case choices.RegisterController():
                known = self._is_of_controller(choice)
                return (node, str(choice.incarnation_id)) if known else None
            case choices.UpgradeFeature():
                return (node, choice.level) if choice.level in self._configuration.levels else None
            case choices.ElectLeader():
                return node, _survivors(cluster, choice.survivors)
            case _:
                return (node,)

    def refused_action(self, choice: Choice) -> str | None:
        """Return the action that a refused choice would have been, if it can be only one."""
        if isinstance(choice, (choices.Deliver, *_LESS_THAN_ALLOWED)):
            return None
        return type(choice).__name__

    def _of_message(
        self, cluster: Cluster, choice: choices.Deliver | choices.LoseMessage
    ) -> tuple[Value, ...] | None:
        envelope = find(cluster, choice.message_id)
        if envelope is None:
            return None
        message = self.message(cluster, envelope)
        node = getattr(choice, "controller", None)
        return (message,) if node is None else (int(node), message)

    def _silent_with(self, controller: Controller, broker_id: BrokerId) -> Value:
        """Return the brokers whose open sessions run out no later than that of a broker."""
        heartbeats = controller.state.heartbeats
        if heartbeats is None:
            return frozenset({int(broker_id)})
        contact_ms = heartbeat_state(heartbeats, broker_id).contact_time_ms
        later_ms = controller.now_ms if contact_ms is None else end_of_session_ms(contact_ms)
        brokers = self._configuration.brokers
        ends = (_session_end_ms(heartbeats, one) for one in brokers)
        open_until = [(one, end) for one, end in zip(brokers, ends, strict=True) if end is not None]
        silent = {int(one) for one, end in open_until if controller.now_ms < end <= later_ms}
        return frozenset({int(broker_id)} | silent)

    def _is_of_controller(self, choice: choices.RegisterController) -> bool:
        its = self._configuration.controller_processes
        return any(one.incarnation_id == choice.incarnation_id for one in its)

    def _stable(self, controller: Controller) -> Value:
        return self._image(visible(controller.state) if is_active(controller.state) else None)

    def _written(self, controller: Controller) -> Value:
        """Return an active controller's memory; a standby's only if it is ahead of the log."""
        state = controller.state
        keeps_too_much = state.written.end != state.committed_end
        return self._image(state.written if is_active(state) or keeps_too_much else None)

    def _ages(self, controller: Controller) -> Value:
        heartbeats = controller.state.heartbeats
        ages: dict[Value, Value] = {}
        for broker_id in self._configuration.brokers:
            age = NO_AGE
            end_ms = None if heartbeats is None else _session_end_ms(heartbeats, broker_id)
            if end_ms is not None:
                age = _OVERDUE if end_ms <= controller.now_ms else _FRESH
            ages[int(broker_id)] = age
        return function(ages)

    def _offsets(self, controllers: list[Controller], name: str) -> Value:
        rows: list[Value] = []
        for controller in controllers:
            heartbeats = controller.state.heartbeats
            row: dict[Value, Value] = {
                int(broker_id): NO_OFFSET
                if heartbeats is None
                else getattr(heartbeat_state(heartbeats, broker_id), name)
                for broker_id in self._configuration.brokers
            }
            rows.append(function(row))
        return self._by_node(rows)

    def _by_node(self, values: list[Value]) -> Value:
        return function(zip(map(int, self._configuration.controllers), values, strict=True))

    def _by_process(self, values: list[Value]) -> Value:
        names = (str(one.incarnation_id) for one in self._configuration.processes)
        return function(zip(names, values, strict=True))

    def _image(self, memory: Memory | None) -> Value:
        if memory is None:
            return NIL
        # The memory is kept with its value, so that no other memory gets its id.
        kept = self._images.get(
            id(memory), lambda: (memory, image_value(memory, self._configuration))
        )
        return kept[1]

    def _interned(self, name: str, value: Value) -> Value:
        return self._values.get((name, value), lambda: value)


def _tail(cluster: Cluster, controller: Controller) -> tuple[Value, ...]:
    """Return the batches of a tail, each followed by the answers without records that wait for it.

    Answers that wait for no batch come last.
    """
    entries: list[Value] = []
    left = list(controller.state.deferred)
    for batch in controller.tail:
        own = [one for one in left if _is_answer_to(one, batch)]
        waiting = [one for one in left if one.end == batch.end and one not in own]
        entries.append(_entry(cluster, batch, own[0] if own else None))
        entries += [_entry(cluster, None, one) for one in waiting]
        left = [one for one in left if one not in own and one not in waiting]
    return (*entries, *(_entry(cluster, None, one) for one in left))


def _is_answer_to(deferred: Deferred, batch: Batch) -> bool:
    return batch.request_id is not None and _request_of(deferred).request_id == batch.request_id


def _request_of(deferred: Deferred) -> Envelope:
    request: Any = deferred.token
    assert isinstance(request, Envelope), "only processes of brokers are answered"
    return request


def _entry(cluster: Cluster, batch: Batch | None, deferred: Deferred | None) -> Value:
    records = () if batch is None else tuple(map(record_value, batch.records))
    reply: Value = NIL
    if deferred is not None:
        request = _request_of(deferred)
        if is_awaited(cluster, request):
            reply = response_value(request, deferred.response)
    return record(records=records, reply=reply)


def _survivors(cluster: Cluster, batches: int) -> int:
    """Return the shortest part of the spec's tail that has this many batches with records.

    If there are fewer, return one more than the whole tail.
    """
    entries: tuple[Any, ...] = _tail(cluster, cluster.controllers[cluster.leader])
    places = [0, *(place for place, one in enumerate(entries, start=1) if one["records"])]
    return places[batches] if 0 <= batches < len(places) else len(entries) + 1


def _session_end_ms(heartbeats: Heartbeats, broker_id: BrokerId) -> int | None:
    """Return when a broker's session is over, by the timeout that the simulation gives; or None."""
    contact_ms = heartbeat_state(heartbeats, broker_id).contact_time_ms
    return None if contact_ms is None else end_of_session_ms(contact_ms)
