"""The events that lines of server logs report about the lease.

The sentences are those of Kafka 4.1. Two loggers write only about the lease: BrokerLifecycleManager
and BrokerHeartbeatManager. Their other lines at INFO or above are counted as not understood. Other
lines of the other loggers are ignored.

Kafka: BrokerLifecycleManager, BrokerHeartbeatManager.calculateNextBrokerState,
ReplicationControlManager.maybeFenceOneStaleBroker, ClusterControlManager.registerBroker,
QuorumController.claim.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.server_logs.lines import (
    CLUSTER_CONTROL,
    HEARTBEAT_MANAGER,
    LIFECYCLE_MANAGER,
    QUORUM_CONTROLLER,
    REPLICATION_CONTROL,
)

if TYPE_CHECKING:
    from krafla.audit.server_logs.lines import LogLine


class EventKind(enum.Enum):
    """The kind of an event; the value says it in words."""

    STARTING = "a process starts"
    REGISTERED = "a process learns its epoch"
    REFUSED = "a process learns that its registration is refused"
    CAUGHT_UP = "a process has caught up"
    IN_RECOVERY = "a process is told that it is still fenced"
    UNFENCED = "a process learns that it is unfenced"
    SHUTDOWN_ASKED = "a process is told to stop"
    SHUTDOWN_PENDING = "a process is told to wait for its controlled shutdown"
    LEAVE = "a process is told to shut down"
    STOPPING = "a process stops"
    STALE = "a process is told that its epoch is stale"

    ACTIVE = "a controller becomes active"
    REGISTERING = "the controller registers an incarnation"
    UNFENCING = "the controller unfences a broker"
    SHUTDOWN_BEGUN = "the controller begins a controlled shutdown"
    LEAVE_GIVEN = "the controller ends a controlled shutdown"
    LEAVE_AT_ONCE = "the controller grants an immediate shutdown"
    FENCING_ASKED = "the controller fences a broker on request"
    SESSION_EXPIRED = "the controller fences a broker whose session expired"


OF_CONTROLLER: Final = frozenset(
    {
        EventKind.ACTIVE,
        EventKind.REGISTERING,
        EventKind.UNFENCING,
        EventKind.SHUTDOWN_BEGUN,
        EventKind.LEAVE_GIVEN,
        EventKind.LEAVE_AT_ONCE,
        EventKind.FENCING_ASKED,
        EventKind.SESSION_EXPIRED,
    }
)
"""The events in a controller's log; brokers log the others."""


@dataclass(frozen=True, slots=True)
class Event:
    """The event of one line, written by `node`; a field is None if the line does not name it.

    `time_ms` is the line's time, shifted to the clock of the metadata log. `before` and `after` are
    states of a broker process in Kafka's spelling.
    """

    kind: EventKind
    node: int
    time_ms: int
    line: LogLine
    broker: int | None = None
    incarnation: str | None = None
    epoch: int | None = None
    offset: int | None = None
    before: str | None = None
    after: str | None = None
    cluster_id: str | None = None


class UnintelligibleLineError(Exception):
    """A lease logger's line is no known sentence, or contradicts itself."""


_NUMBERS: Final = ("broker", "epoch", "offset")
_DIGITS_MAX: Final = 19
_NODE_ID_MAX: Final = 2**31 - 1
_NODE: Final = re.compile(r"\[(\w+) id=(\d{1,10})\] (.*)", re.DOTALL | re.ASCII)
_SESSION: Final = "because its session has timed out"
_PATTERNS: Final[dict[str, tuple[tuple[EventKind | None, str], ...]]] = {
    LIFECYCLE_MANAGER: (
        (
            EventKind.STARTING,
            r"Incarnation (?P<incarnation>[\w-]{22}) of broker (?P<broker>\d+)"
            r" in cluster (?P<cluster_id>\S+) is now STARTING\.",
        ),
        (
            EventKind.REGISTERED,
            r"Successfully registered broker (?P<broker>\d+) with broker epoch (?P<epoch>\d+)",
        ),
        (
            EventKind.REFUSED,
            r"Unable to register broker (?P<broker>\d+) because the controller returned error"
            r" DUPLICATE_BROKER_REGISTRATION",
        ),
        (
            EventKind.CAUGHT_UP,
            r"The broker has caught up\."
            r" Transitioning from (?P<before>[A-Z_]+) to (?P<after>[A-Z_]+)\.",
        ),
        (EventKind.IN_RECOVERY, r"The broker is in RECOVERY\."),
        (
            EventKind.UNFENCED,
            r"The broker has been unfenced\."
            r" Transitioning from (?P<before>[A-Z_]+) to (?P<after>[A-Z_]+)\.",
        ),
        (EventKind.SHUTDOWN_ASKED, r"Beginning controlled shutdown\."),
        (
            EventKind.SHUTDOWN_PENDING,
            r"The broker is in PENDING_CONTROLLED_SHUTDOWN state, still waiting for the active"
            r" controller\.",
        ),
        (EventKind.LEAVE, r"The controller has asked us to exit controlled shutdown\."),
        (
            EventKind.STOPPING,
            r"Transitioning from (?P<before>[A-Z_]+) to (?P<after>SHUTTING_DOWN)\.",
        ),
        (
            EventKind.STALE,
            r"Broker (?P<broker>\d+) sent a heartbeat request but received error"
            r" STALE_BROKER_EPOCH\.",
        ),
        (
            None,
            r"Unable to (?:send a heartbeat|register the broker) because the RPC got timed out"
            r" before it could be sent\.",
        ),
        (None, r"The broker is STARTING\. Still waiting to catch up with cluster metadata\."),
        (None, r"Skipping controlled shutdown because we are in state [A-Z_]+\."),
        (None, r"The broker is in SHUTTING_DOWN state\."),
    ),
    HEARTBEAT_MANAGER: (
        (
            EventKind.UNFENCING,
            r"The request from broker (?P<broker>\d+) to unfence has been granted because it has"
            r" caught up with the offset of its register broker record (?P<offset>\d+)\.",
        ),
        (
            EventKind.SHUTDOWN_BEGUN,
            r"Unfenced broker (?P<broker>\d+) has requested and been granted a controlled"
            r" shutdown\.",
        ),
        (
            EventKind.LEAVE_AT_ONCE,
            r"(?:Unf|F)enced broker (?P<broker>\d+) has requested and been granted an immediate"
            r" shutdown\.",
        ),
        (
            EventKind.FENCING_ASKED,
            r"Unfenced broker (?P<broker>\d+) has requested and been granted fencing\.?",
        ),
        (
            EventKind.LEAVE_GIVEN,
            r"The request from broker (?P<broker>\d+) to shut down has been granted since the"
            r" lowest active offset -?\d+ is now greater than the broker's controlled shutdown"
            r" offset (?P<offset>\d+)\.",
        ),
        (None, r"The request from broker \d+ to unfence cannot yet be granted because .*"),
        (None, r"The request from broker \d+ to shut down can not yet be granted .*"),
    ),
    REPLICATION_CONTROL: (
        (
            EventKind.SESSION_EXPIRED,
            rf"Fencing broker (?P<broker>\d+) at epoch (?P<epoch>\d+) {_SESSION}\.",
        ),
    ),
    CLUSTER_CONTROL: (
        (
            EventKind.REGISTERING,
            r"No previous registration found for broker (?P<broker>\d+)\. New incarnation ID is"
            r" (?P<incarnation>[\w-]{22})\. .*New broker epoch is (?P<epoch>\d+)\.",
        ),
        (
            EventKind.REGISTERING,
            r"Registering a new incarnation of broker (?P<broker>\d+)\. .*new incarnation ID is"
            r" (?P<incarnation>[\w-]{22})\. .*Broker epoch will become (?P<epoch>\d+)\.",
        ),
    ),
    QUORUM_CONTROLLER: (
        (
            EventKind.ACTIVE,
            r"Becoming the active controller at epoch (?P<epoch>\d+),"
            r" next write offset (?P<offset>\d+)\.",
        ),
    ),
}
_COMPILED: Final = {
    logger: tuple((kind, re.compile(pattern, re.DOTALL | re.ASCII)) for kind, pattern in patterns)
    for logger, patterns in _PATTERNS.items()
}
_SPEAK_OF_NOTHING_ELSE: Final = frozenset({LIFECYCLE_MANAGER, HEARTBEAT_MANAGER})
_QUIET_LEVELS: Final = frozenset({"DEBUG", "TRACE"})
_NODE_WORD: Final = {LIFECYCLE_MANAGER: "BrokerLifecycleManager"}


def event_of(line: LogLine) -> Event | None:
    """Return the event that a line reports, None if it reports none.

    Raises UnintelligibleLineError for a line that should be about the lease and is not understood.
    """
    match = _NODE.fullmatch(line.text)
    speaks = line.logger in _SPEAK_OF_NOTHING_ELSE and line.level not in _QUIET_LEVELS
    if match is None or match[1] != _NODE_WORD.get(line.logger, "QuorumController"):
        if speaks:
            raise UnintelligibleLineError("the line does not say which node wrote it")
        return None
    for kind, pattern in _COMPILED[line.logger]:
        said = pattern.fullmatch(match[3])
        if said is not None:
            return None if kind is None else _event(kind, int(match[2]), line, said)
    if speaks:
        raise UnintelligibleLineError("no sentence of Kafka 4.1 about the lease")
    return None


def _event(kind: EventKind, node: int, line: LogLine, said: re.Match[str]) -> Event:
    fields: dict[str, str] = {name: text for name, text in said.groupdict().items() if text}
    numbers = {name: fields.pop(name) for name in _NUMBERS if name in fields}
    if any(len(text) > _DIGITS_MAX for text in numbers.values()):
        raise UnintelligibleLineError("a number that Kafka cannot hold")
    values = {name: int(text) for name, text in numbers.items()}
    if max(node, values.get("broker", 0)) > _NODE_ID_MAX:
        raise UnintelligibleLineError("a node id that Kafka cannot have")
    if kind not in OF_CONTROLLER and values.setdefault("broker", node) != node:
        raise UnintelligibleLineError(
            f"node {node} writes about broker {values['broker']} as about itself"
        )
    return Event(
        kind=kind,
        node=node,
        time_ms=line.time_ms,
        line=line,
        broker=values.get("broker"),
        epoch=values.get("epoch"),
        offset=values.get("offset"),
        incarnation=fields.get("incarnation"),
        before=fields.get("before"),
        after=fields.get("after"),
        cluster_id=fields.get("cluster_id"),
    )
