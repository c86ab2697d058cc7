"""The sightings of a cluster, in streams: one of records, one for each broker's log.

The order within a stream is certain: a metadata log orders its records, a file its lines. Between
streams only timestamps order sightings. A line of the active controller about a record is joined
with the record: both are one step.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from krafla.audit.result import Finding, Weight
from krafla.audit.server_logs.events import OF_CONTROLLER, Event, EventKind
from krafla.audit.server_logs.operations import Act

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.audit.server_logs.files import NodeLogs
    from krafla.audit.server_logs.operations import Operation, Operations

_QUARTER_HOUR_MS: Final = 15 * 60 * 1000
_JOIN_MS: Final = 1000
"""The largest time between a record and the controller's line about it. A record has the time at
which its batch was begun, a line the time at which it was written."""

_ACTS: Final = {
    EventKind.REGISTERING: Act.REGISTER,
    EventKind.UNFENCING: Act.UNFENCE,
    EventKind.SHUTDOWN_BEGUN: Act.SHUTDOWN,
    EventKind.LEAVE_GIVEN: Act.FENCE,
    EventKind.LEAVE_AT_ONCE: Act.FENCE,
    EventKind.FENCING_ASKED: Act.FENCE,
    EventKind.SESSION_EXPIRED: Act.FENCE,
}


@dataclass(frozen=True, slots=True)
class Sighting:
    """One sighting, to be explained by a step of the spec.

    It is an operation of the metadata log, with the controller's line about it if there is one; or
    a line of a broker, whose process is `incarnation`; or a controller's line without a record. A
    `hint` was not seen: the process should send a heartbeat here, if the spec allows it.
    """

    time_ms: int
    operation: Operation | None = None
    event: Event | None = None
    incarnation: str | None = None
    hint: bool = False


@dataclass(frozen=True, slots=True)
class Streams:
    """The sightings of a cluster between two times, and what was left out."""

    streams: tuple[tuple[Sighting, ...], ...]
    findings: tuple[Finding, ...]
    incarnations: dict[str, int]
    brokers: frozenset[int]
    before_start: dict[int, tuple[Event, ...]]
    clipped: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """The times covered by the logs of brokers and controllers, by node id: first and last."""

    brokers: dict[int, tuple[int, int]]
    controllers: dict[int, tuple[int, int]]

    def broker(self, broker: int, time_ms: int) -> bool:
        """Return whether a broker's own log covers a time."""
        return _covers(self.brokers.get(broker), time_ms)

    def controller(self, node: int, time_ms: int) -> bool:
        """Return whether a controller's log covers a time."""
        return _covers(self.controllers.get(node), time_ms)


def _covers(extent: tuple[int, int] | None, time_ms: int) -> bool:
    return extent is not None and extent[0] <= time_ms <= extent[1]


def align_clocks(logs: Sequence[NodeLogs], log: Operations) -> tuple[list[NodeLogs], int]:
    """Return logs shifted to the time of the metadata log, and the shift in milliseconds.

    Server logs have a local time zone, records have UTC. The shift is the multiple of a quarter of
    an hour that fits most lines about a record.
    """
    times: dict[tuple[Act, int, int], int] = {
        (op.act, op.broker, op.epoch): op.time_ms
        for op in log.operations
        if op.act in (Act.REGISTER, Act.LEADER_CHANGE)
    }
    votes: Counter[int] = Counter()
    for event in (event for node in logs for event in node.events):
        act = Act.LEADER_CHANGE if event.kind is EventKind.ACTIVE else Act.REGISTER
        node = event.node if event.kind is EventKind.ACTIVE else event.broker
        if event.epoch is not None and node is not None and (act, node, event.epoch) in times:
            apart = times[act, node, event.epoch] - event.time_ms
            votes[round(apart / _QUARTER_HOUR_MS) * _QUARTER_HOUR_MS] += 1
    if not votes:
        return list(logs), 0
    shift = min(votes, key=lambda ms: (-votes[ms], abs(ms), ms))
    shifted = [
        replace(
            node,
            first_ms=node.first_ms + shift,
            last_ms=node.last_ms + shift,
            events=tuple(replace(e, time_ms=e.time_ms + shift) for e in node.events),
        )
        for node in logs
    ]
    return shifted, shift


def coverage_of(logs: Iterable[NodeLogs]) -> Coverage:
    """Return the times covered by logs."""
    brokers: dict[int, tuple[int, int]] = {}
    controllers: dict[int, tuple[int, int]] = {}
    for node in logs:
        for event in node.events:
            side = controllers if event.kind in OF_CONTROLLER else brokers
            first, last = side.get(event.node, (node.first_ms, node.last_ms))
            side[event.node] = (min(first, node.first_ms), max(last, node.last_ms))
    return Coverage(brokers, controllers)


def sightings_of(logs: Sequence[NodeLogs], log: Operations, skew_ms: int) -> Streams:
    """Return the sightings from the start of the metadata log to its end."""
    events = _each_once(logs)
    start = (
        log.start_ms
        if log.start_ms is not None
        else min(
            [event.time_ms for event in events]
            + [op.time_ms for op in log.operations]
            + [log.end_ms]
        )
    )
    known = [e for e in events if start <= e.time_ms <= log.end_ms + skew_ms]
    early: dict[int, list[Event]] = {}
    for event in events:
        if event.time_ms < start and event.kind not in OF_CONTROLLER:
            early.setdefault(event.node, []).append(event)
    joined, alone, findings = _join(known, log, skew_ms)
    incarnations = _incarnations(events, log)
    streams = [_records(log, joined)]
    for node in sorted({e.node for e in known if e.kind not in OF_CONTROLLER}):
        of_node = [e for e in known if e.node == node and e.kind not in OF_CONTROLLER]
        streams.append(_of_broker(of_node, early.get(node, []), log))
    streams += [[Sighting(e.time_ms, event=e)] for e in alone]
    for sighting in (s for stream in streams for s in stream):
        if sighting.event is not None and sighting.incarnation is not None:
            incarnations.setdefault(sighting.incarnation, sighting.event.broker or 0)
    clipped = sum(not start <= e.time_ms <= log.end_ms + skew_ms for e in events)
    return Streams(
        tuple(map(tuple, streams)),
        tuple(findings),
        incarnations,
        frozenset(e.broker for e in events if e.broker is not None),
        {node: tuple(said) for node, said in early.items()},
        clipped,
    )


def _each_once(logs: Sequence[NodeLogs]) -> list[Event]:
    """Return the events of all logs; equal lines in two directories count once."""
    found: list[Event] = []
    known: set[tuple[int, int, str]] = set()
    for node in logs:
        marks = [(e.node, e.time_ms, e.line.text) for e in node.events]
        found += [e for e, mark in zip(node.events, marks, strict=True) if mark not in known]
        known.update(marks)
    return found


def _incarnations(events: Sequence[Event], log: Operations) -> dict[str, int]:
    """Return the broker id of each process in records and lines; records win over lines."""
    found = {
        event.incarnation: event.broker
        for event in events
        if event.incarnation is not None and event.broker is not None
    }
    found |= {op.incarnation: op.broker for op in log.operations if op.incarnation is not None}
    found |= {r.incarnation: broker for broker, r in log.registrations.items()}
    return dict(sorted(found.items()))


def _join(
    events: Sequence[Event], log: Operations, skew_ms: int
) -> tuple[dict[int, Event], list[Event], list[Finding]]:
    """Return the controller's line for each operation, by offset; the lines without one."""
    joined: dict[int, Event] = {}
    alone: list[Event] = []
    findings: list[Finding] = []
    for event in events:
        if event.kind is EventKind.ACTIVE:
            findings += _becoming_active(event, log, joined)
        elif event.kind in _ACTS:
            operation = _about(event, log.operations, joined, skew_ms)
            if operation is not None:
                joined[operation.offset] = event
            elif is_deposed(event, log, skew_ms):
                findings.append(_not_active(event))
            else:
                alone.append(event)
    return joined, alone, findings


def _about(
    event: Event, operations: Sequence[Operation], joined: dict[int, Event], skew_ms: int
) -> Operation | None:
    """Return the nearest operation that a controller's line may be about."""
    fitting = [
        op
        for op in operations
        if op.act is _ACTS[event.kind]
        and op.broker == event.broker
        and op.offset not in joined
        and abs(op.time_ms - event.time_ms) <= _JOIN_MS + skew_ms
    ]
    return min(fitting, key=lambda op: (abs(op.time_ms - event.time_ms), op.offset), default=None)


def leader_at(log: Operations, time_ms: int) -> int | None:
    """Return the leader at a time by LeaderChange records; None before the first."""
    leader = None
    for op in log.operations:
        if op.act is Act.LEADER_CHANGE and op.time_ms <= time_ms:
            leader = op.broker
    return leader


def is_deposed(event: Event, log: Operations, skew_ms: int) -> bool:
    """Return whether a controller wrote a line while another controller led the quorum."""
    leaders = {leader_at(log, event.time_ms - skew_ms), leader_at(log, event.time_ms + skew_ms)}
    return None not in leaders and event.node not in leaders


def _not_active(event: Event) -> Finding:
    detail = (
        f"{event.kind.value}, but controller {event.node} is no longer the leader and the log has"
        " no such record; BrokerLease has only one active controller"
    )
    return Finding(Weight.NOTE, "not judged", detail, event.line.path, line=event.line.number)


def _becoming_active(event: Event, log: Operations, joined: dict[int, Event]) -> list[Finding]:
    """Join a controller's line with its LeaderChange; return a finding if they do not match."""
    changes = [op for op in log.operations if op.act is Act.LEADER_CHANGE]
    for op in changes:
        if op.epoch == event.epoch and op.broker == event.node:
            joined[op.offset] = event
            if event.offset is not None and event.offset > op.last:
                return []
            return [_contradiction(event, f"LeaderChange of epoch {op.epoch} is at {op.offset}")]
    if event.offset is not None and event.offset <= log.start:
        return []
    near = [op for op in changes if op.broker == event.node]
    said = ", ".join(f"{op.epoch} at {op.offset}" for op in near) or "none"
    return [_contradiction(event, f"its LeaderChange records have epochs {said}")]


def _contradiction(event: Event, known: str) -> Finding:
    from krafla.audit.result import Evidence
    from krafla.report.explain.outcome import Falsehood

    epoch, offset = str(event.epoch), str(event.offset)
    said = (("epoch", epoch, epoch), ("next write offset", offset, offset))
    text = "there is a LeaderChange of this controller and epoch just before the next write offset"
    evidence = Evidence(
        "leader-change-is-logged",
        "a controller becomes active with the LeaderChange record of its epoch",
        "Kafka: QuorumController.claim",
        false=(Falsehood("leader-change-is-logged", text, values=said),),
        said=event.line.text,
    )
    detail = f"controller {event.node} says it is active at epoch {event.epoch}, but {known}"
    return Finding(
        Weight.VIOLATION, "leader-change-is-logged", detail, event.line.path,
        evidence=evidence, line=event.line.number,
    )  # fmt: skip


def _records(log: Operations, joined: dict[int, Event]) -> list[Sighting]:
    sightings = []
    for op in log.operations:
        event = joined.get(op.offset)
        time = op.time_ms if event is None else event.time_ms
        sightings.append(Sighting(time, op, event, op.incarnation))
    return sightings


def _of_broker(events: list[Event], early: list[Event], log: Operations) -> list[Sighting]:
    """Return the sightings of a broker's lines, with the processes that wrote them."""
    current = next((e.incarnation for e in reversed(early) if e.kind is EventKind.STARTING), None)
    sightings = []
    for event in events:
        if event.kind is EventKind.STARTING:
            current = event.incarnation
        process = current if current is not None else _registered(event, log)
        # A process without a start or a registration in the logs has no name; it gets one here.
        process = f"unknown process of broker {event.node}" if process is None else process
        sightings.append(Sighting(event.time_ms, None, event, process))
    return sightings


def _registered(event: Event, log: Operations) -> str | None:
    """Return the process registered at the time of a line, which may have written the line."""
    registered = log.registrations.get(event.node)
    found = None if registered is None else registered.incarnation
    for op in log.operations:
        if op.act is Act.REGISTER and op.broker == event.node and op.time_ms <= event.time_ms:
            found = op.incarnation
    return found
