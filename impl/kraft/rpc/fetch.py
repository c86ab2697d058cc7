"""RPC 1 as a replica of the metadata log sends it: it asks for the records after its own end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode
    from kraft.ids import DirectoryId, NodeId, OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """RPC 1 version 18, one partition. A voter has flushed everything before its `fetch_offset`.

    `replica_id` is -1 for a replica without an id. `current_leader_epoch` is the sender's epoch,
    `last_fetched_epoch` that of its last record, 0 for an empty log. Waits are in milliseconds.
    `high_watermark` is the one that the sender knows, -1 for none, so that a leader with a higher
    one answers at once (KIP-1166); by default the request has none.

    Spec: KRaftState!FetchRequest.
    Kafka: FetchRequest.
    """

    cluster_id: str | None
    replica_id: NodeId
    replica_directory_id: DirectoryId | None
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    maximum_wait: int = 0
    maximum_bytes: int = 8 * 1024 * 1024
    high_watermark: int = 2**63 - 1


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """RPC 1, the answer. `records` are whole batches, as they are in the leader's log.

    At most one of `records`, `diverging` (where the sender's last epoch ends in the leader's log)
    and `snapshot_id` (load this first) is there. `high_watermark` is -1 if not known.

    Spec: KRaftState!FetchResponse.
    Kafka: FetchResponse.
    """

    error_code: ErrorCode
    epoch: int
    leader_id: NodeId | None
    high_watermark: int = -1
    log_start_offset: int = -1
    records: bytes = b""
    diverging: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None
