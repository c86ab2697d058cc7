"""What happens to a quorum controller. Each event brings the controller's clock, in milliseconds.

Events are taken one at a time and run to their end, in the order in which they come: whoever hosts
the controller keeps their queue. What Kafka prepends to its queue, the completion of an activation,
is done with the change of leader here.

`log_end` is where the next batch of Raft's log would begin, as Raft says when a batch is prepared;
None if that is where the last one of this controller ended. They differ after control records.
Kafka: RaftClient.prepareAppend, KafkaEventQueue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kraft.ids import NodeId, Offset, OffsetAndEpoch
    from kraft.records.cluster import BeginTransactionRecord, EndTransactionRecord
    from kraft.records.typed_record import TypedRecord


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """A batch that is committed; one of Raft's own control records has no `records`.

    `count` is how many offsets it has, `size_bytes` its size in the log.
    """

    base_offset: Offset
    epoch: int
    records: tuple[TypedRecord, ...]
    count: int
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """Raft says who leads; this node only once it has handed over what was committed before.

    Kafka: RaftClient.Listener.handleLeaderChange.
    """

    now_ms: int
    epoch: int
    leader_id: NodeId | None
    log_end: Offset | None = None


@dataclass(frozen=True, slots=True)
class BatchesCommitted:
    """Raft hands over committed batches, in order. Kafka: RaftClient.Listener.handleCommit."""

    now_ms: int
    batches: tuple[CommittedBatch, ...]


@dataclass(frozen=True, slots=True)
class SnapshotLoaded:
    """Raft hands over a snapshot: what was in memory before is no more.

    Kafka: RaftClient.Listener.handleLoadSnapshot.
    """

    now_ms: int
    snapshot_id: OffsetAndEpoch
    records: tuple[TypedRecord, ...]


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A client asks; `token` comes back with the answer. `chance` is any number, for new ids."""

    now_ms: int
    token: Hashable
    request: Any
    chance: int = 0
    log_end: Offset | None = None


@dataclass(frozen=True, slots=True)
class Poll:
    """Something may be due: the first thing that is gets done, and only that.

    Kafka: PeriodicTaskControlManager.PeriodicTaskOperation.
    """

    now_ms: int
    log_end: Offset | None = None


@dataclass(frozen=True, slots=True)
class SnapshotRequested:
    """A snapshot is wanted, if there is news since the last. Kafka: SnapshotGenerator.run."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class TransactionMarked:
    """An operation of many batches begins, or ends; nobody sees it before. KIP-868."""

    now_ms: int
    record: BeginTransactionRecord | EndTransactionRecord
    log_end: Offset | None = None


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """Raft took no batch of an epoch, in which it does not lead. Kafka: NotLeaderException."""

    now_ms: int
    epoch: int


@dataclass(frozen=True, slots=True)
class RenounceRequested:
    """Something outside went wrong: the controller is to step back, if it is active."""

    now_ms: int


Event = (
    LeaderChanged
    | BatchesCommitted
    | SnapshotLoaded
    | RequestReceived
    | Poll
    | SnapshotRequested
    | TransactionMarked
    | AppendRefused
    | RenounceRequested
)
