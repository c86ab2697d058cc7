"""Hints: the places of heartbeats that no log shows, inferred from later lines and records.

A hint only guides the search. The spec judges it like any other step; a hint that the spec does not
allow is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.audit.server_logs.events import EventKind
from krafla.audit.server_logs.operations import Act
from krafla.audit.server_logs.sightings import Sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.audit.server_logs.operations import Operation, Operations


def add_hints(
    streams: Sequence[Sequence[Sighting]], log: Operations, timeout_ms: int
) -> tuple[tuple[Sighting, ...], ...]:
    """Return streams with hints for granted controlled shutdowns and refused registrations."""
    waiting = [
        (s.event.node, s.time_ms)
        for stream in streams
        for s in stream
        if s.event is not None and s.event.kind is EventKind.SHUTDOWN_PENDING
    ]
    records = _for_leave(list(streams[0]), log, waiting)
    others = [_for_refusals(list(stream), records, timeout_ms) for stream in streams[1:]]
    return tuple(map(tuple, [records, *others]))


def _for_leave(
    records: list[Sighting], log: Operations, waiting: Sequence[tuple[int, int]]
) -> list[Sighting]:
    """Add hints that the staying brokers replayed a controlled shutdown before it was granted.

    The hint for each other unfenced broker is as early as possible: after the record that began the
    shutdown, after the last record that made the controller forget that broker's reported offset,
    and after the last line that says that the leaving broker (`waiting`: id and time) still waits.
    """
    after: dict[int, list[Sighting]] = {}
    unfenced = {b: r.incarnation for b, r in log.registrations.items() if not r.fenced}
    leaving: dict[int, int] = {}
    forgotten: dict[int, int] = {}
    for index, sighting in enumerate(records):
        op = sighting.operation
        if op is None:
            continue
        if op.act is Act.FENCE and op.broker in leaving:
            told = [t + 1 for b, t in waiting if b == op.broker and t < sighting.time_ms]
            for other in sorted(unfenced.keys() - leaving.keys()):
                place = max(leaving[op.broker], forgotten.get(other, 0))
                time = max([records[place].time_ms, *told])
                while place + 1 < index and records[place + 1].time_ms < time:
                    place += 1
                hint = Sighting(time, incarnation=unfenced[other], hint=True)
                after.setdefault(place, []).append(hint)
        _follow(op, index, unfenced, leaving, forgotten)
    return [s for i, sighting in enumerate(records) for s in (sighting, *after.get(i, ()))]


def _follow(
    op: Operation,
    index: int,
    unfenced: dict[int, str],
    leaving: dict[int, int],
    forgotten: dict[int, int],
) -> None:
    if op.act is Act.LEADER_CHANGE:
        leaving.clear()
        forgotten.update(dict.fromkeys(unfenced, index))
        return
    forgotten[op.broker] = index
    if op.act is Act.SHUTDOWN:
        leaving[op.broker] = index
        return
    leaving.pop(op.broker, None)
    if op.act is Act.UNFENCE and op.incarnation is not None:
        unfenced[op.broker] = op.incarnation
    else:
        unfenced.pop(op.broker, None)


def _for_refusals(
    stream: list[Sighting], records: Sequence[Sighting], timeout_ms: int
) -> list[Sighting]:
    """Add a hint that the process before a refused one was heard from within the timeout."""
    hints: list[tuple[int, Sighting]] = []
    start = last = None
    for index, sighting in enumerate(stream):
        if sighting.event is None:
            continue
        if sighting.event.kind is EventKind.STARTING:
            start = index
        elif sighting.event.kind is EventKind.REFUSED and start is not None:
            last = sighting
            before = stream[start - 1].incarnation if start > 0 else _before(sighting, records)
            time = min(last.time_ms - timeout_ms, stream[start].time_ms)
            if before is not None and before != sighting.incarnation:
                hints = [h for h in hints if h[0] != start]
                hints.append((start, Sighting(time, incarnation=before, hint=True)))
    at = dict(hints)
    return [s for i, sighting in enumerate(stream) for s in (*_listed(at.get(i)), sighting)]


def _listed(hint: Sighting | None) -> tuple[Sighting, ...]:
    return () if hint is None else (hint,)


def _before(refused: Sighting, records: Sequence[Sighting]) -> str | None:
    found = None
    for sighting in records:
        op = sighting.operation
        if op is not None and op.act is Act.REGISTER and sighting.time_ms < refused.time_ms:
            same = refused.event is not None and op.broker == refused.event.broker
            found = op.incarnation if same else found
    return found
