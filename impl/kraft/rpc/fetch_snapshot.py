"""RPC 59: a piece of a snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode
    from kraft.ids import DirectoryId, NodeId, OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class FetchSnapshotRequest:
    """RPC 59 version 1: the bytes of a snapshot from `position` on, at most `maximum_bytes`.

    Spec: KRaftState!FetchSnapshotRequest.
    Kafka: FetchSnapshotRequest.
    """

    cluster_id: str | None
    replica_id: NodeId
    replica_directory_id: DirectoryId | None
    current_leader_epoch: int
    snapshot_id: OffsetAndEpoch
    position: int
    maximum_bytes: int = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchSnapshotResponse:
    """RPC 59, the answer: `data` stands at `position` of a file of `size` bytes.

    Spec: KRaftState!FetchSnapshotResponse.
    Kafka: FetchSnapshotResponse.
    """

    error_code: ErrorCode
    epoch: int
    leader_id: NodeId | None
    snapshot_id: OffsetAndEpoch | None = None
    size: int = 0
    position: int = 0
    data: bytes = b""
