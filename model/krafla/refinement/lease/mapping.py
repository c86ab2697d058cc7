"""A simulated cluster as a state of BrokerLease, and a step of it as one of its actions.

This is a change of notation and holds no rule of the protocol: times become ages, messages
lose their ids, a crashed process has no memory. Where spec and code differ, one of them is
mended, never this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from krafla.refinement.common.judged_spec import Disagreement
from krafla.refinement.lease.actions import parameters_of, refused_action
from krafla.refinement.lease.messages import MessageMapping
from krafla.refinement.lease.vocabulary import NIL, NO_AGE
from krafla.values import Value, function, record
from kraft.broker.lease import BrokerState, is_serving
from kraft.sim.lease.cluster import broker_time_ms

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable

    from krafla.oracle import Spec, State
    from krafla.refinement.lease.vocabulary import Vocabulary
    from kraft.controller.operations.lease_view import BrokerRegistration
    from kraft.ids import BrokerId
    from kraft.sim.lease.active_controller import ControllerState
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster, Process
    from kraft.sim.lease.image import ClusterImage

__all__ = ["LeaseMapping"]

_REMEMBERED = 50_000
_NO_OFFSET = -1
_NO_EPOCH = -1
_STATUS: Final = {state: state.name for state in BrokerState}
_COLUMNS: Final = (
    "status", "broker_epoch", "applied_offset", "request_age", "lease_age", "clock_lead",
)  # fmt: skip
# What Serving depends on: nobody begins or ceases to serve but by a change of these.
_SERVING_READS: Final = frozenset({"status", "lease_age"})
_Row: TypeAlias = tuple[str, int, int, int, int, int]
_CRASHED: Final[_Row] = ("CRASHED", _NO_EPOCH, _NO_OFFSET, NO_AGE, NO_AGE, 0)


class LeaseMapping:
    """The mapping for one vocabulary. Equal values are one object, so ``is`` compares them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        configuration = vocabulary.configuration
        self.vocabulary = vocabulary
        self.messages = MessageMapping(vocabulary)
        self._session_timeout_ms = configuration.session_timeout_ms
        self._broker_timeout_ms = configuration.broker_timeout_ms
        self._brokers = tuple(vocabulary.brokers)
        self._processes = tuple(vocabulary.processes)
        self._broker_values = tuple(vocabulary.brokers.values())
        self._process_values = tuple(vocabulary.processes.values())
        self._known: dict[Hashable, Value] = {}
        self._last_rows: tuple[_Row, ...] = ()
        self._last_columns: dict[str, Value] = {}

    def variables(self, cluster: Cluster) -> dict[str, Value]:
        """Return the values of all variables of BrokerLease.

        Spec: BrokerLease!vars.
        """
        return {
            **self._of_log(cluster.controller.image),
            **self._of_soft_state(cluster.controller, cluster.controller_time_ms),
            **self._of_processes(cluster),
            "messages": self.messages.bag(cluster.network),
        }

    def action_of(self, action: str) -> str:
        """Return how the spec calls an action of the simulation: by the same name."""
        return action

    def parameters_of(self, cluster: Cluster, choice: Choice) -> tuple[Value, ...] | None:
        """Return the parameters of the action a choice stands for, by the cluster before it."""
        return parameters_of(self, cluster, choice)

    def refused_action(self, choice: Choice) -> str | None:
        """Return the action a refused choice would have been; ``None`` if its answer tells."""
        return refused_action(choice)

    def disagreement(
        self, spec: Spec, reached: State, cluster: Cluster, changed: Collection[str]
    ) -> Disagreement | None:
        """Return that the implementation decides otherwise than the spec who may serve."""
        if _SERVING_READS.isdisjoint(changed):
            return None
        expected = spec.evaluate("ServingProcesses", reached)
        got = self.serving(cluster)
        if got == expected:
            return None
        finding = "the implementation takes other processes for servers than the spec"
        return Disagreement(finding, "ServingProcesses", expected, got)

    def serving(self, cluster: Cluster) -> frozenset[Value]:
        """Return the processes that take themselves for brokers that may lead.

        Spec: BrokerLeaseProperties!ServingProcesses.
        """
        return frozenset(
            value
            for one, value in self.vocabulary.processes.items()
            if _is_serving(cluster, cluster.processes[one])
        )

    def _of_log(self, image: ClusterImage) -> dict[str, Value]:
        held = tuple(image.registrations.get(broker) for broker in self._brokers)
        return {
            "registrations": self._registrations(held),
            "log_end": image.log_end,
            "leads": self._leads(image.leads),
        }

    def _of_soft_state(self, controller: ControllerState, now_ms: int) -> dict[str, Value]:
        states = controller.heartbeats.brokers
        timeout = self._session_timeout_ms
        contacts, metadata, shutdowns = [], [], []
        for broker in self._brokers:
            state = states.get(broker)
            contacts.append(
                NO_AGE if state is None else _age(state.contact_time_ms, now_ms, timeout)
            )
            metadata.append(_NO_OFFSET if state is None else state.metadata_offset)
            shutdowns.append(_NO_OFFSET if state is None else state.controlled_shutdown_offset)
        return {
            "contact_age": self._by_broker(contacts),
            "metadata_offset": self._by_broker(metadata),
            "controlled_shutdown_offset": self._by_broker(shutdowns),
        }

    def _of_processes(self, cluster: Cluster) -> dict[str, Value]:
        now_ms = cluster.controller_time_ms
        processes = cluster.processes
        rows = tuple(self._of_process(processes[one], now_ms) for one in self._processes)
        if rows != self._last_rows:
            columns = zip(*rows, strict=True)
            self._last_columns = {
                name: self.by_process(column)
                for name, column in zip(_COLUMNS, columns, strict=True)
            }
            self._last_rows = rows
        return self._last_columns

    def _of_process(self, process: Process, controller_time_ms: int) -> _Row:
        if process.crashed:
            return _CRASHED
        lifecycle = process.lifecycle
        lead_ms = process.clock_lead_ms
        now_ms = controller_time_ms - process.started_at_ms + lead_ms
        request, timeout_ms = lifecycle.request, self._broker_timeout_ms
        return (
            _STATUS[lifecycle.state],
            lifecycle.broker_epoch,
            lifecycle.applied_offset,
            NO_AGE if request is None else _age(request.sent_ms, now_ms, timeout_ms),
            _age(lifecycle.lease_start_ms, now_ms, timeout_ms),
            lead_ms,
        )

    def _by_broker(self, results: list[int]) -> Value:
        return self._function("broker", self._broker_values, results)

    def by_process(self, results: Iterable[Value]) -> Value:
        """Return the function from each process to its result, in the order of the ids."""
        return self._function("process", self._process_values, results)

    def _function(
        self, domain: str, arguments: tuple[Value, ...], results: Iterable[Value]
    ) -> Value:
        key = (domain, *results)
        known = self._known.get(key)
        if known is None:
            known = self._remember(key, function(zip(arguments, key[1:], strict=True)))
        return known

    def _registrations(self, held: tuple[BrokerRegistration | None, ...]) -> Value:
        known = self._known.get(held)
        if known is None:
            results = [NIL if one is None else self._registration(one) for one in held]
            known = self._remember(held, function(zip(self._broker_values, results, strict=True)))
        return known

    def _registration(self, registration: BrokerRegistration) -> Value:
        return record(
            incarnation=self.vocabulary.processes[registration.incarnation_id],
            epoch=registration.epoch,
            record_offset=registration.record_offset,
            fenced=registration.fenced,
            in_controlled_shutdown=registration.in_controlled_shutdown,
        )

    def _leads(self, leads: frozenset[BrokerId]) -> Value:
        known = self._known.get(leads)
        if known is None:
            brokers = self.vocabulary.brokers
            known = self._remember(leads, frozenset(brokers[broker] for broker in leads))
        return known

    def _remember(self, key: Hashable, value: Value) -> Value:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[key] = value
        return value


def _age(then_ms: int | None, now_ms: int, timeout_ms: int | None) -> int:
    """Return how long ago something was; an age past its timeout stops growing.

    Without a timeout nobody asks for the age, and it is not measured.
    Spec: BrokerLease!Older.
    """
    if then_ms is None:
        return NO_AGE
    if timeout_ms is None:
        return 0
    return min(now_ms - then_ms, timeout_ms + 1)


def _is_serving(cluster: Cluster, process: Process) -> bool:
    now_ms = broker_time_ms(cluster, process)
    return not process.crashed and is_serving(process.lifecycle, now_ms)
