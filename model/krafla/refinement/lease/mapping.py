"""A simulated cluster as a state of BrokerLease, and a step of it as one of its actions.

This changes the notation and holds no rule of the protocol: times become ages, messages lose their
ids, and a crashed process has no memory. Where spec and code differ, one of them is fixed, never
this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from krafla.refinement.common.interner import Interner
from krafla.refinement.common.judged_spec import Disagreement, StepMapping
from krafla.refinement.lease.messages import MessageMapping
from krafla.refinement.lease.vocabulary import NIL, NO_AGE
from krafla.values import Value, function, record
from kraft.broker.lease import BrokerState, is_serving
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import broker_time_ms
from kraft.sim.lease.network import find

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from krafla.refinement.lease.vocabulary import Vocabulary
    from krafla.testing import Spec, State
    from kraft.controller.operations.lease_view import BrokerRegistration
    from kraft.ids import BrokerId
    from kraft.sim.lease.active_controller import ControllerState
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster, Process
    from kraft.sim.lease.image import ClusterImage

__all__ = ["LeaseMapping"]

_NO_OFFSET = -1
_NO_EPOCH = -1
_STATUS: Final = {state: state.name for state in BrokerState}
_COLUMNS: Final = (
    "status", "broker_epoch", "applied_offset", "request_age", "lease_age", "clock_lead",
)  # fmt: skip
# Serving depends on these: a process starts or stops serving only when one of them changes.
_SERVING_READS: Final = frozenset({"status", "lease_age"})
_OF_MESSAGES: Final = (choices.Deliver, choices.LoseMessage, choices.DuplicateMessage)
_OF_BROKERS: Final = (choices.FenceStaleBroker, choices.UnregisterBroker, choices.ElectLeader)
_Row: TypeAlias = tuple[str, int, int, int, int, int]
_CRASHED: Final[_Row] = ("CRASHED", _NO_EPOCH, _NO_OFFSET, NO_AGE, NO_AGE, 0)


class LeaseMapping(StepMapping):
    """The mapping for one vocabulary. Equal values are one object while they are remembered."""

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
        self._values: Interner[Value] = Interner()
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

    def parameters_of(self, cluster: Cluster, choice: Choice) -> tuple[Value, ...] | None:
        """Return the parameters of the action a choice stands for, by the cluster before it."""
        if isinstance(choice, choices.Tick):
            return self._elapsed(choice)
        if isinstance(choice, _OF_MESSAGES):
            envelope = find(cluster.network, choice.message_id)
            return None if envelope is None else (self.messages.message(envelope),)
        if isinstance(choice, choices.FailOver):
            return ()
        if isinstance(choice, _OF_BROKERS):
            broker = self.vocabulary.brokers.get(choice.broker_id)
            return None if broker is None else (broker,)
        process = self.vocabulary.processes.get(choice.incarnation_id)
        if process is None:
            return None
        if isinstance(choice, choices.SendHeartbeat):
            return process, choice.want_fence
        if isinstance(choice, choices.ReplayMetadata):
            return process, choice.offset
        return (process,)

    def _elapsed(self, choice: choices.Tick) -> tuple[Value, ...] | None:
        by_controller_ms, listed = choice.by_controller_ms, dict(choice.by_broker_ms)
        if min(by_controller_ms, *listed.values(), 0) < 0:
            return None  # The spec has no action in which time runs backwards.
        if listed.keys() - self.vocabulary.processes:
            return None
        elapsed = (listed.get(one, by_controller_ms) for one in self.vocabulary.processes)
        return by_controller_ms, self.by_process(elapsed)

    def refused_action(self, choice: Choice) -> str | None:
        """Return the action that a refused choice would have been.

        A message in flight can always be delivered, so a refused ``Deliver`` names none.
        """
        return None if isinstance(choice, choices.Deliver) else type(choice).__name__

    def disagreement(
        self, spec: Spec, reached: State, cluster: Cluster, changed: Collection[str]
    ) -> Disagreement | None:
        """Return the disagreement on which processes may serve, if there is one."""
        if _SERVING_READS.isdisjoint(changed):
            return None
        expected = spec.evaluate("ServingProcesses", reached)
        got = self.serving(cluster)
        if got == expected:
            return None
        finding = "implementation and spec disagree on which processes serve"
        return Disagreement(finding, "ServingProcesses", expected, got)

    def serving(self, cluster: Cluster) -> frozenset[Value]:
        """Return the processes that believe they are brokers that may lead.

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
        """Return the function from each process to its result, in the order of the process ids."""
        return self._function("process", self._process_values, results)

    def _function(
        self, domain: str, arguments: tuple[Value, ...], results: Iterable[Value]
    ) -> Value:
        key = (domain, *results)
        return self._values.get(key, lambda: function(zip(arguments, key[1:], strict=True)))

    def _registrations(self, held: tuple[BrokerRegistration | None, ...]) -> Value:
        def made() -> Value:
            results = [NIL if one is None else self._registration(one) for one in held]
            return function(zip(self._broker_values, results, strict=True))

        return self._values.get(held, made)

    def _registration(self, registration: BrokerRegistration) -> Value:
        return record(
            incarnation=self.vocabulary.processes[registration.incarnation_id],
            epoch=registration.epoch,
            record_offset=registration.record_offset,
            fenced=registration.fenced,
            in_controlled_shutdown=registration.in_controlled_shutdown,
        )

    def _leads(self, leads: frozenset[BrokerId]) -> Value:
        brokers = self.vocabulary.brokers
        return self._values.get(leads, lambda: frozenset(brokers[broker] for broker in leads))


def _age(then_ms: int | None, now_ms: int, timeout_ms: int | None) -> int:
    """Return how long ago something was. An age stops growing once it is past its timeout.

    Without a timeout nothing reads the age, and it is not measured.
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
