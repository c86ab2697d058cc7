"""A trace of BrokerLease as choices for the simulator: what the spec did, the code is to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.refinement.lease import LeaseMapping
from krafla.refinement.vocabulary import Vocabulary
from krafla.traces.trace import INITIAL
from krafla.values import Function, fmt, sorted_values
from krafla.verdict import KraflaError
from kraft.ids import BrokerId, IncarnationId, uuid_bytes
from kraft.sim import choices
from kraft.sim.cluster import first_cluster
from kraft.sim.configuration import Configuration, ProcessIdentity, processes
from kraft.sim.step import step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.traces import Step, Trace
    from krafla.values import Value
    from kraft.sim.choices import Choice
    from kraft.sim.cluster import Cluster

__all__ = ["choices_of", "vocabulary_of"]

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
    """Return a configuration with the constants of a trace, and what the trace calls its nodes.

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
    configuration = Configuration(identities, **numbers)
    return Vocabulary(configuration, brokers, {named[one]: one for one, _ in pairs})


def choices_of(trace: Trace, vocabulary: Vocabulary) -> Iterator[Choice]:
    """Yield the choices that make the implementation take the steps of a trace.

    ``KraflaError`` if a step has no known parameters, or delivers a message that the
    implementation did not send: up to there it did not follow.
    """
    mapping = LeaseMapping(vocabulary)
    cluster = first_cluster(vocabulary.configuration)
    for index, one in enumerate(trace.steps):
        if one.action == INITIAL:
            continue
        if one.parameters is None:
            raise KraflaError(f"step {index}, {one.action}: its parameters are not known")
        choice = _choice(mapping, cluster, index, one, list(one.parameters))
        yield choice
        cluster = step(cluster, choice).after


def _choice(
    mapping: LeaseMapping, cluster: Cluster, index: int, one: Step, parameters: list[Any]
) -> Choice:
    vocabulary = mapping.vocabulary
    incarnations = {value: name for name, value in vocabulary.processes.items()}
    brokers = {value: name for name, value in vocabulary.brokers.items()}
    action = one.action
    if action == "FailOver":
        return choices.FailOver()
    if action == "Tick":
        by_controller, by_broker = parameters
        elapsed = ((incarnations[process], ms) for process, ms in by_broker.items())
        return choices.Tick(
            by_controller, tuple(sorted(pair for pair in elapsed if pair[1] != by_controller))
        )
    if action == "SendHeartbeat":
        return choices.SendHeartbeat(incarnations[parameters[0]], parameters[1])
    if action == "ReplayMetadata":
        return choices.ReplayMetadata(incarnations[parameters[0]], parameters[1])
    if action in _OF_PROCESS:
        return _OF_PROCESS[action](incarnations[parameters[0]])
    if action in _OF_BROKER:
        return _OF_BROKER[action](brokers[parameters[0]])
    message_id = _message_id(mapping, cluster, parameters[0])
    if message_id is None:
        raise KraflaError(f"step {index}, {action}: {fmt(parameters[0])} is not in flight")
    return _OF_NETWORK.get(action, choices.Deliver)(message_id)


def _message_id(mapping: LeaseMapping, cluster: Cluster, message: Value) -> int | None:
    for envelope in cluster.network:
        if mapping.messages.message(envelope) == message:
            return envelope.message_id
    return None


def _broker_id(index: int, value: Value) -> BrokerId:
    return BrokerId(value if isinstance(value, int) else index)


def _incarnation_ids(values: list[Value]) -> dict[Value, IncarnationId]:
    """Return the values themselves where they are incarnation ids, else ids made up for them."""
    try:
        return {value: IncarnationId(str(value)) for value in values if uuid_bytes(str(value))}
    except ValueError:
        made_up = processes(1, len(values))
        return {value: one.incarnation_id for value, one in zip(values, made_up, strict=True)}
