"""The events of a process: messages, and the requests of its own state machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, get_args

from kraft.raft.configuration import MILLISECOND
from kraft.raft.events import (
    CleanRequested,
    PrepareAppend,
    RequestReceived,
    ResignRequested,
    ResponseReceived,
    ScheduleAppend,
    ShutdownRequested,
    SnapshotCreated,
    Source,
)
from kraft.rpc.requests import RaftRequest, RaftResponse
from kraft.sim.raft.machines import Local

if TYPE_CHECKING:
    from kraft.raft.events import Event
    from kraft.sim.raft.machines import Connection, Process
    from kraft.sim.raft.workload import Workload

RAFT_MESSAGES: Final = frozenset((*get_args(RaftRequest), *get_args(RaftResponse)))
"""The classes of Raft's own messages; all others are for the state machine above Raft."""

_SHUTDOWN: Final = 5_000 * MILLISECOND


def message_event(process: Process, connection: Connection, own: int) -> Event:
    """Return the event of an arrived message; from now on a request can be answered."""
    envelope = connection.envelope
    if envelope.is_request:
        process.connections[envelope.message_id] = connection
        source = Source(envelope.source, envelope.message_id)
        request = cast("RaftRequest", envelope.payload)
        return RequestReceived(own, process.chance(), source, request)
    response = cast("RaftResponse", envelope.payload)
    return ResponseReceived(
        own, process.chance(), envelope.source, envelope.correlation_id, response
    )


def local_event(process: Process, local: Local, own: int, workload: Workload) -> Event | None:
    """Return the event of a state machine's request; None if it no longer applies.

    A prepared append is scheduled next, and a log is cleaned after a snapshot.
    """
    chance = process.chance()
    role_epoch = process.state.role.epoch
    match local.what:
        case "append":
            if process.leads_epoch is None:
                return None
            workload.taken(process, process.leads_epoch, local.values)
            process.inbox.appendleft(Local("schedule"))
            return PrepareAppend(own, chance, process.leads_epoch, local.values)
        case "prepare":
            return PrepareAppend(own, chance, local.number, local.values)
        case "schedule":
            return ScheduleAppend(own, chance)
        case "snapshot":
            process.inbox.append(Local("clean"))
            snapshot_id, values = workload.snapshot(process)
            return SnapshotCreated(own, chance, snapshot_id, values, own // MILLISECOND)
        case "clean":
            return CleanRequested(own, chance)
        case "resign":
            return ResignRequested(own, chance, local.number or role_epoch)
        case "shutdown":
            return ShutdownRequested(own, chance, _SHUTDOWN)
    raise ValueError(f"no such request of a state machine: {local.what!r}")
