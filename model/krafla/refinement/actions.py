"""Which action of BrokerLease a step of the simulation claims to be, and its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.values import Value, fmt, function
from kraft.sim.choices import (
    Choice,
    Crash,
    Deliver,
    DuplicateMessage,
    ElectLeader,
    FailOver,
    FenceStaleBroker,
    LoseMessage,
    ReplayMetadata,
    RequestShutdown,
    RequestTimeout,
    SendHeartbeat,
    SendRegistration,
    StartBroker,
    Tick,
    UnregisterBroker,
)

if TYPE_CHECKING:
    from krafla.refinement.lease import LeaseMapping
    from kraft.sim.cluster import Cluster

__all__ = ["SpecAction", "parameters_of", "refused_action"]


@dataclass(frozen=True, slots=True)
class SpecAction:
    """An action of the spec with its parameters in order."""

    name: str
    parameters: tuple[Value, ...]

    def __str__(self) -> str:
        return (
            f"{self.name}({', '.join(map(fmt, self.parameters))})" if self.parameters else self.name
        )


def parameters_of(
    mapping: LeaseMapping, cluster: Cluster, choice: Choice
) -> tuple[Value, ...] | None:
    """Return the parameters of the action a choice stands for, by the cluster before it.

    ``None`` if the choice names a node or message that is not there: no action has it.
    """
    processes, brokers = mapping.vocabulary.processes, mapping.vocabulary.brokers
    match choice:
        case SendHeartbeat(incarnation_id, want_fence) if incarnation_id in processes:
            return processes[incarnation_id], want_fence
        case ReplayMetadata(incarnation_id, offset) if incarnation_id in processes:
            return processes[incarnation_id], offset
        case (
            StartBroker(one) | SendRegistration(one) | RequestTimeout(one) | RequestShutdown(one)
            | Crash(one)
        ) if one in processes:  # fmt: skip
            return (processes[one],)
        case FenceStaleBroker(broker) | UnregisterBroker(broker) | ElectLeader(broker) if (
            broker in brokers
        ):
            return (brokers[broker],)
        case Deliver(message_id) | LoseMessage(message_id) | DuplicateMessage(message_id):
            for envelope in cluster.network:
                if envelope.message_id == message_id:
                    return (mapping.messages.message(envelope),)
            return None
        case Tick(by_controller_ms, by_broker_ms):
            elapsed = dict.fromkeys(processes, by_controller_ms) | dict(by_broker_ms)
            return by_controller_ms, function((processes[one], ms) for one, ms in elapsed.items())
        case FailOver():
            return ()
        case _:
            return None


def refused_action(choice: Choice) -> str | None:
    """Return the action a refused choice would have been; ``None`` if that depends on its answer.

    A message that is in flight can always be delivered, so a refused ``Deliver`` names none.
    """
    return None if isinstance(choice, Deliver) else type(choice).__name__
