"""The events of a quorum controller. Each one carries the controller's clock, in milliseconds.

The host of the controller keeps the queue of events. It delivers them one at a time, in order.
Kafka prepends the completion of an activation to its queue; here the change of leader includes it.

`log_end` is the offset at which Raft would place the next batch, as Raft says when it prepares a
batch. It is None if that is where this controller's last batch ended. The two differ after control
records.

Kafka: RaftClient.prepareAppend, KafkaEventQueue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kraft.rpc.envelope import ANONYMOUS

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kraft.ids import NodeId, Offset, OffsetAndEpoch
    from kraft.records.cluster import BeginTransactionRecord, EndTransactionRecord
    from kraft.records.typed_record import TypedRecord


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """A committed batch. `records` is empty for one of Raft's own control batches.

    `count` is its number of offsets, `size_bytes` its size in the log.
    """

    base_offset: Offset
    epoch: int
    records: tuple[TypedRecord, ...]
    count: int
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """Raft reports the leader of an epoch.

    Raft names this node only after it has handed over all batches that were committed before.

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
    """Raft hands over a snapshot, which replaces all state in memory.

    Kafka: RaftClient.Listener.handleLoadSnapshot.
    """

    now_ms: int
    snapshot_id: OffsetAndEpoch
    records: tuple[TypedRecord, ...]


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A client sends a request; the answer carries the same `token`.

    `chance` is any number; new ids are derived from it. `kraft_version` is Raft's, as the newest
    control record in this node's log has it. `principal` is the client's.

    Kafka: RaftClient.kraftVersion.
    """

    now_ms: int
    token: Hashable
    request: Any
    chance: int = 0
    log_end: Offset | None = None
    kraft_version: int = field(kw_only=True)
    principal: str = field(default=ANONYMOUS, kw_only=True)


@dataclass(frozen=True, slots=True)
class Poll:
    """The deadline of the controller may have passed.

    It runs the first task that is due, and no other.

    Kafka: PeriodicTaskControlManager.PeriodicTaskOperation.
    """

    now_ms: int
    log_end: Offset | None = None


@dataclass(frozen=True, slots=True)
class SnapshotRequested:
    """Write a snapshot if there is news since the last one. Kafka: SnapshotGenerator.run."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class TransactionMarked:
    """A transaction of several batches begins or ends; readers see it after its end. KIP-868."""

    now_ms: int
    record: BeginTransactionRecord | EndTransactionRecord
    log_end: Offset | None = None


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """Raft refused a batch because it does not lead in `epoch`. Kafka: NotLeaderException."""

    now_ms: int
    epoch: int


@dataclass(frozen=True, slots=True)
class RenounceRequested:
    """The host had a failure: the controller must step back if it is active."""

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
