"""What a controller keeps of brokers in memory only: their sessions and what they reported.

A new controller starts without it. Times are integers in milliseconds by the controller's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.ids import Offset

if TYPE_CHECKING:
    from kraft.ids import BrokerId

NO_OFFSET: Final = Offset(-1)


@dataclass(frozen=True, slots=True)
class HeartbeatState:
    """The soft state of one registered broker.

    `contact_time_ms` is None while there is no session. It is the session of the registered epoch:
    contacts of other epochs are never read, so they are not kept.

    Kafka: BrokerHeartbeatManager.BrokerHeartbeatState, BrokerHeartbeatTracker.
    """

    contact_time_ms: int | None = None
    metadata_offset: Offset = NO_OFFSET
    controlled_shutdown_offset: Offset = NO_OFFSET


_NO_BROKERS: Final[Map[BrokerId, HeartbeatState]] = Map()


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """The soft state of every registered broker, and how long a session lasts.

    Kafka: BrokerHeartbeatManager.
    """

    session_timeout_ms: int
    brokers: Map[BrokerId, HeartbeatState] = _NO_BROKERS
