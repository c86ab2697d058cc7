"""A trace of BrokerLease as choices that make the simulator take the same steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.refinement.lease.vocabulary import Vocabulary
from krafla.values import Function, fmt, sorted_values
from krafla.verdict import KraflaError
from kraft.ids import BrokerId, IncarnationId, uuid_bytes
from kraft.sim.lease import choices
from kraft.sim.lease.configuration import (
    Configuration,
    ConfigurationError,
    ProcessIdentity,
    processes,
)

if TYPE_CHECKING:
    from krafla.refinement.lease.mapping import LeaseMapping
    from krafla.testing import Step, Trace
    from krafla.values import Value
    from kraft.sim.lease.choices import Choice
    from kraft.sim.lease.cluster import Cluster

__all__ = ["NotPossible", "choice_of", "vocabulary_of"]

_OF_PROCESS: Final = {
    kind.__name__: kind
    for kind in (
        choices.StartBroker, choices.SendRegistration, choices.RequestTimeout,
        choices.RequestShutdown, choices.Crash,
    )
}  # fmt: skip
_OF_BROKER: Final = {
    kind.__name__: kind
    for kind in (choices.FenceStaleBroker, choices.UnregisterBroker, choices.ElectLeader)
}
_OF_NETWORK: Final = {
    kind.__name__: kind for kind in (choices.LoseMessage, choices.DuplicateMessage)
}


def vocabulary_of(trace: Trace) -> Vocabulary:
    """Return a configuration with the constants of a trace, and the trace's names of its nodes.

    ``KraflaError`` if the trace lacks a constant of BrokerLease.
    """
    constants: dict[str, Any] = dict(trace.constants)
    try:
        broker_of = constants["BrokerOf"]
        self_fence = constants["SelfFence"]
        numbers = {
            "session_timeout_ms": constants["SessionTimeout"],
            "broker_timeout_ms": constants["BrokerTimeout"] if self_fence else None,
            "max_skew_ms": constants["MaxSkew"] if self_fence else 0,
            "reorder": constants["Reorder"],
        }
        brokers = {
            _broker_id(index, one): one
            for index, one in enumerate(sorted_values(constants["Broker"]), start=1)
        }
    except KeyError as error:
        raise KraflaError(f"the trace of {trace.spec} lacks the constant {error}") from None
    pairs = (
        list(broker_of.items())
        if isinstance(broker_of, Function)
        else [*enumerate(broker_of, start=1)]
    )
    named = _incarnation_ids([process for process, _ in pairs])
    ids = {broker: broker_id for broker_id, broker in brokers.items()}
    identities = tuple(ProcessIdentity(named[one], ids[broker]) for one, broker in pairs)
    try:
        configuration = Configuration(identities, **numbers)
    except ConfigurationError as error:
        raise KraflaError(f"the implementation has no such cluster: {error}") from None
    return Vocabulary(configuration, brokers, {named[one]: one for one, _ in pairs})


class NotPossible(KraflaError):  # noqa: N818 - a verdict on the implementation, not a fault
    """The implementation lacks what a step needs, and cannot follow the trace any further."""


def choice_of(mapping: LeaseMapping, cluster: Cluster, index: int, one: Step) -> Choice:
    """Return the choice that makes a cluster take a step.

    ``NotPossible`` if the step delivers a message that the implementation did not send;
    ``KraflaError`` if it has no known parameters, or names a node that the trace does not have.
    """
    place = f"step {index}, {one.action}"
    if one.parameters is None:
        raise KraflaError("its parameters are not known", place)
    nodes = _Nodes(mapping.vocabulary, place)
    return _choice(mapping, cluster, nodes, one, list(one.parameters))


class _Nodes:
    """The implementation's names of the nodes of a trace."""

    def __init__(self, vocabulary: Vocabulary, place: str) -> None:
        self._processes = {value: name for name, value in vocabulary.processes.items()}
        self._brokers = {value: name for name, value in vocabulary.brokers.items()}
        self.place = place

    def process(self, value: Value) -> IncarnationId:
        """Return the process with a name; ``KraflaError`` if there is none."""
        if value not in self._processes:
            raise KraflaError(f"{fmt(value)} is not a process of the trace", self.place)
        return self._processes[value]

    def broker(self, value: Value) -> BrokerId:
        """Return the broker with a name; ``KraflaError`` if there is none."""
        if value not in self._brokers:
            raise KraflaError(f"{fmt(value)} is not a broker of the trace", self.place)
        return self._brokers[value]


def _choice(
    mapping: LeaseMapping, cluster: Cluster, nodes: _Nodes, one: Step, parameters: list[Any]
) -> Choice:
    action = one.action
    if action == "FailOver":
        return choices.FailOver()
    if action == "Tick":
        return _tick(nodes, *parameters)
    if action == "SendHeartbeat":
        return choices.SendHeartbeat(nodes.process(parameters[0]), parameters[1])
    if action == "ReplayMetadata":
        return choices.ReplayMetadata(nodes.process(parameters[0]), parameters[1])
    if action in _OF_PROCESS:
        return _OF_PROCESS[action](nodes.process(parameters[0]))
    if action in _OF_BROKER:
        return _OF_BROKER[action](nodes.broker(parameters[0]))
    message_id = _message_id(mapping, cluster, parameters[0])
    if message_id is None:
        raise NotPossible(f"{fmt(parameters[0])} is not in flight", nodes.place)
    return _OF_NETWORK.get(action, choices.Deliver)(message_id)


def _tick(nodes: _Nodes, by_controller: Any, by_broker: Any) -> Choice:
    if not isinstance(by_controller, int) or not isinstance(by_broker, Function | tuple):
        raise KraflaError("takes a number and a function from processes to numbers", nodes.place)
    pairs = by_broker.items() if isinstance(by_broker, Function) else enumerate(by_broker, 1)
    elapsed: list[tuple[IncarnationId, Any]] = [(nodes.process(one), ms) for one, ms in pairs]
    if not all(type(ms) is int for _, ms in elapsed):
        raise KraflaError("takes a number and a function from processes to numbers", nodes.place)
    return choices.Tick(
        by_controller, tuple(sorted(one for one in elapsed if one[1] != by_controller))
    )


def _message_id(mapping: LeaseMapping, cluster: Cluster, message: Value) -> int | None:
    for envelope in cluster.network:
        if mapping.messages.message(envelope) == message:
            return envelope.message_id
    return None


def _broker_id(index: int, value: Value) -> BrokerId:
    return BrokerId(value if isinstance(value, int) else index)


def _incarnation_ids(values: list[Value]) -> dict[Value, IncarnationId]:
    """Return the values themselves if they are incarnation ids, otherwise ids made up for them."""
    try:
        return {value: IncarnationId(str(value)) for value in values if uuid_bytes(str(value))}
    except ValueError:
        made_up = processes(1, len(values))
        return {value: one.incarnation_id for value, one in zip(values, made_up, strict=True)}
