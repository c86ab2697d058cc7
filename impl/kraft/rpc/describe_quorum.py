"""RPC 55: the replicas of the quorum, and the ends of their logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode
    from kraft.ids import NodeId, ReplicaKey


@dataclass(frozen=True, slots=True)
class DescribeQuorumRequest:
    """RPC 55, for one partition. Kafka: DescribeQuorumRequest."""

    topic: str = "__cluster_metadata"
    partition: int = 0


@dataclass(frozen=True, slots=True)
class ReplicaDescription:
    """A replica as its leader knows it; times are in milliseconds, -1 if never."""

    key: ReplicaKey
    log_end_offset: int
    last_fetch_time: int
    last_caught_up_time: int


@dataclass(frozen=True, slots=True)
class DescribeQuorumResponse:
    """RPC 55, the answer; `high_watermark` is -1 if not known. Kafka: DescribeQuorumResponse."""

    error_code: ErrorCode
    epoch: int = -1
    leader_id: NodeId | None = None
    high_watermark: int = -1
    voters: tuple[ReplicaDescription, ...] = ()
    observers: tuple[ReplicaDescription, ...] = ()
