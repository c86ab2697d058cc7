"""What a choice comes to: done, as an action of the spec, or refused."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from kraft.sim.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Done:
    """The choice was possible, and was this action of BrokerLease."""

    action: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The choice was not possible now, and nothing changed."""

    reason: str


Outcome = Done | Refused
Result = tuple[Cluster, Outcome]

done: Final = cache(Done)
UNKNOWN_PROCESS: Final = Refused("no such process")
UNKNOWN_MESSAGE: Final = Refused("no such message in flight")
