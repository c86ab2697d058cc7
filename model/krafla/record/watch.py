"""What the logs of a running cluster show: the leader, fenced brokers, started nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BROKER_RUNNING", "STARTED", "Leadership", "is_fenced", "last_complaint", "leadership",
    "refusal",
]  # fmt: skip

STARTED = re.compile(r"Kafka Server started")
BROKER_RUNNING = re.compile(r"unfenced\. Transitioning from RECOVERY to RUNNING")
_LEADERSHIP = re.compile(
    r"Becoming the active controller at epoch (?P<won>\d+)"
    r"|In the new epoch (?P<new>\d+), the leader is"
    r"|in the new epoch (?P<lost>\d+), the leader is"
    r"|Renouncing leadership and reverting"
)
_REGISTRATION = re.compile(
    r"Replayed RegisterBrokerRecord .*?RegisterBrokerRecord\(brokerId=(?P<new>\d+),"
    r"|BrokerRegistrationChangeRecord\(brokerId=(?P<changed>\d+), brokerEpoch=\d+, "
    r"fenced=(?P<fenced>-1|1),"
)
_COMPLAINT = re.compile(
    r"^\[[^\]]*\] (?:ERROR|FATAL) (.*)$|^kraft: (.*)$|^(?:Exception|Error|Caused by).*",
    re.MULTILINE,
)
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Leadership:
    """A controller's own leadership in its log: its last epoch, and whether it still leads."""

    epoch: int
    holds: bool


def leadership(log: str) -> Leadership:
    """Return the leadership at the end of `controller.log`, read from the start of the process."""
    epoch, holds = -1, False
    for match in _LEADERSHIP.finditer(log):
        if match["won"] is not None:
            epoch, holds = int(match["won"]), True
        else:
            holds = False
    return Leadership(epoch, holds)


def is_fenced(broker: int, logs: Iterable[str]) -> bool | None:
    """Return whether the last record about a broker in a controller's log leaves it fenced.

    None if there is no such record. The log with the most records of that kind is believed:
    another may belong to a controller that was away.
    """
    best: list[bool] = []
    for log in logs:
        states = [state for who, state in _states(log) if who == broker]
        best = max(best, states, key=len)
    return best[-1] if best else None


def _states(log: str) -> Iterable[tuple[int, bool]]:
    for match in _REGISTRATION.finditer(log):
        if match["changed"] is not None:
            yield int(match["changed"]), match["fenced"] == "1"
        else:
            yield int(match["new"]), True


def refusal(said: str) -> str:
    """Return the line in which a tool names its error, else its last line."""
    lines = [one for one in said.splitlines() if one.strip() and not one[0].isspace()]
    named = next((one for one in lines if "xception" in one or "rror" in one), "")
    return (named or (lines[-1] if lines else ""))[:_LONGEST]


def last_complaint(log: str) -> str:
    """Return the last error in a log, on one line; empty if there is none."""
    found = [match[1] or match[2] or match[0] for match in _COMPLAINT.finditer(log)]
    return found[-1][:_LONGEST].strip() if found else ""
