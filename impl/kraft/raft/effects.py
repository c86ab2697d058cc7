"""The effects of a replica, in order: the order is the promise of durability.

A crash may come between any two effects. So the handlers send a message only after everything it
rests on is on the disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.ids import NodeId, OffsetAndEpoch, ReplicaKey
    from kraft.log.batches import LogBatch
    from kraft.raft.events import Source
    from kraft.rpc.requests import RaftRequest, RaftResponse


@dataclass(frozen=True, slots=True)
class WriteQuorumState:
    """Write the quorum-state file: beside it, flushed, renamed. Kafka: FileQuorumStateStore."""

    epoch: int
    leader_id: NodeId | None
    voted: ReplicaKey | None
    version: int


@dataclass(frozen=True, slots=True)
class AppendLog:
    """Write batches at the end of the log. They are not flushed by that."""

    batches: tuple[LogBatch, ...]


@dataclass(frozen=True, slots=True)
class FlushLog:
    """Flush the log: a crash cannot take the records that were appended before."""


@dataclass(frozen=True, slots=True)
class TruncateLog:
    """Cut the log at an offset, which becomes its end, and flush that."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class WriteSnapshot:
    """Write a whole snapshot, given as the bytes of its file, flush it and rename it into place."""

    snapshot_id: OffsetAndEpoch
    data: bytes


@dataclass(frozen=True, slots=True)
class WriteSnapshotPart:
    """Write a piece of a snapshot at a position of its `.part` file; position 0 begins it anew."""

    snapshot_id: OffsetAndEpoch
    position: int
    data: bytes


@dataclass(frozen=True, slots=True)
class FreezeSnapshot:
    """The `.part` file is complete: flush it and rename it into place."""

    snapshot_id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class TruncateToSnapshot:
    """The log is empty and begins at the end of this snapshot; older snapshots go."""

    snapshot_id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class CleanLog:
    """The log begins at the end of this snapshot; segments and snapshots before it go."""

    snapshot_id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class SendRequest:
    """Send a request to a node; its answer comes back with the correlation id."""

    destination: NodeId
    correlation_id: int
    request: RaftRequest


@dataclass(frozen=True, slots=True)
class SendResponse:
    """Answer a request."""

    source: Source
    response: RaftResponse


@dataclass(frozen=True, slots=True)
class HandleCommit:
    """The state machine gets committed batches, in order. Kafka: RaftClient.Listener.

    Kafka: RaftClient.Listener.handleCommit.
    """

    batches: tuple[LogBatch, ...]


@dataclass(frozen=True, slots=True)
class HandleLoadSnapshot:
    """The state machine begins anew from a snapshot. Kafka: RaftClient.Listener."""

    snapshot_id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class HandleLeaderChange:
    """Tell the state machine the leader; a leader hears of itself once it has read up to its epoch.

    Kafka: RaftClient.Listener.handleLeaderChange.
    """

    epoch: int
    leader_id: NodeId | None


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """A `PrepareAppend` was refused. Kafka: NotLeaderException and its kin."""

    reason: str


@dataclass(frozen=True, slots=True)
class ResignRefused:
    """A `ResignRequested` asked for what cannot be. Kafka: KafkaRaftClient.resign."""

    reason: str


@dataclass(frozen=True, slots=True)
class SnapshotRefused:
    """Refuse a `SnapshotCreated` whose end is not in the log or not committed.

    Kafka: KafkaMetadataLog.createNewSnapshot.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class ShutdownCompleted:
    """The process may end; `graceful` unless the time ran out."""

    graceful: bool


@dataclass(frozen=True, slots=True)
class Fatal:
    """The process must end: going on could lose or invent committed records."""

    reason: str


Effect = (
    WriteQuorumState
    | AppendLog
    | FlushLog
    | TruncateLog
    | WriteSnapshot
    | WriteSnapshotPart
    | FreezeSnapshot
    | TruncateToSnapshot
    | CleanLog
    | SendRequest
    | SendResponse
    | HandleCommit
    | HandleLoadSnapshot
    | HandleLeaderChange
    | AppendRefused
    | ResignRefused
    | SnapshotRefused
    | ShutdownCompleted
    | Fatal
)
Durable = (
    WriteQuorumState
    | AppendLog
    | FlushLog
    | TruncateLog
    | WriteSnapshot
    | WriteSnapshotPart
    | FreezeSnapshot
    | TruncateToSnapshot
    | CleanLog
)
