"""The constants of BrokerLease for a configuration, and the names of nodes in the spec."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from krafla.values import ModelValue, Value, fmt, function

if TYPE_CHECKING:
    from kraft.ids import BrokerId, IncarnationId
    from kraft.sim.lease.configuration import Configuration

__all__ = ["NIL", "NO_AGE", "Vocabulary"]

NIL: Final = ModelValue("Nil")
NO_AGE: Final = -1


@dataclass(frozen=True)
class Vocabulary:
    """The names in the spec of the nodes of a configuration, in the order of their ids.

    ``of`` names a broker by its id, a number, and a process by its incarnation id, a string.
    A trace of a model names them by model values instead.
    """

    configuration: Configuration
    brokers: dict[BrokerId, Value]
    processes: dict[IncarnationId, Value]

    @classmethod
    def of(cls, configuration: Configuration) -> Vocabulary:
        """Return the vocabulary that names every node by its id."""
        identities = configuration.processes
        return cls(
            configuration,
            {broker: int(broker) for broker in sorted({one.broker_id for one in identities})},
            {one: str(one) for one in sorted(each.incarnation_id for each in identities)},
        )

    @property
    def self_fence(self) -> bool:
        """Return whether brokers stop serving when their lease is void."""
        return self.configuration.broker_timeout_ms is not None

    @cached_property
    def constants(self) -> dict[str, Value]:
        """Return the constants of BrokerLease; a unit of time in the spec is a millisecond.

        If brokers do not fence themselves, ``BrokerTimeout`` is never read.
        """
        configuration = self.configuration
        return {
            "Broker": frozenset(self.brokers.values()),
            "Incarnation": frozenset(self.processes.values()),
            "BrokerOf": function(
                (self.processes[one.incarnation_id], self.brokers[one.broker_id])
                for one in configuration.processes
            ),
            "SessionTimeout": configuration.session_timeout_ms,
            "BrokerTimeout": configuration.broker_timeout_ms or 1,
            "MaxSkew": configuration.max_skew_ms,
            "SelfFence": self.self_fence,
            "Reorder": configuration.reorder,
            "Nil": NIL,
        }

    def key(self) -> tuple[tuple[str, str], ...]:
        """Return a key that two vocabularies share if and only if one loaded spec serves both."""
        return tuple((name, fmt(value)) for name, value in sorted(self.constants.items()))
