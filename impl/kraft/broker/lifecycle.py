"""The life of one broker process: it registers, heartbeats, and leaves with permission.

Every handler is a function from a state and an event to a Step. Times are integers in milliseconds
by the process's own clock, which is never compared with another.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.ids import NO_BROKER_EPOCH, Offset

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, IncarnationId
    from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest

NO_OFFSET: Final = Offset(-1)


class BrokerState(enum.Enum):
    """Where a broker process is in its life, with the numbers of Kafka's metric.

    Kafka: BrokerState.
    """

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


@dataclass(frozen=True, slots=True)
class RequestInFlight:
    """The one request whose answer the process waits for, and when it was sent."""

    correlation_id: int
    sent_ms: int


@dataclass(frozen=True, slots=True)
class BrokerLifecycle:
    """Everything a broker process knows of its lease.

    `broker_timeout_ms` is None in a broker that, like Kafka's, does not fence itself.
    `lease_start_ms` is when the last answered heartbeat was sent; None before, and in a broker that
    does not fence itself.

    Kafka: BrokerLifecycleManager.
    """

    broker_id: BrokerId
    incarnation_id: IncarnationId
    broker_timeout_ms: int | None = None
    state: BrokerState = BrokerState.NOT_RUNNING
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH
    applied_offset: Offset = NO_OFFSET
    request: RequestInFlight | None = None
    lease_start_ms: int | None = None
    next_correlation_id: int = 0


@dataclass(frozen=True, slots=True)
class Send:
    """Put a request on the network and wait for its answer."""

    correlation_id: int
    request: BrokerRegistrationRequest | BrokerHeartbeatRequest


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Close the connection: no answer to an earlier request arrives any more."""


Effect = Send | Disconnect


@dataclass(frozen=True, slots=True)
class Step:
    """What one event did: the next state, and the effects to perform in order."""

    state: BrokerLifecycle
    effects: tuple[Effect, ...] = ()
