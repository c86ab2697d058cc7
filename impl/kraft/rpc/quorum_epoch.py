"""RPCs 53 and 54: a leader announces that its epoch begins, or that it resigned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode
    from kraft.ids import DirectoryId, NodeId, ReplicaKey
    from kraft.rpc.endpoints import Endpoints


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochRequest:
    """RPC 53 version 1, from the leader of `epoch` to one of its voters.

    Spec: KRaftState!QuorumEpochRequest.
    Kafka: BeginQuorumEpochRequest.
    """

    cluster_id: str | None
    voter_id: NodeId
    voter_directory_id: DirectoryId | None
    epoch: int
    leader_id: NodeId
    leader_endpoints: Endpoints


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochResponse:
    """RPC 53, the answer, with the epoch and leader that the voter knows after it.

    Spec: KRaftState!QuorumEpochResponse.
    Kafka: BeginQuorumEpochResponse.
    """

    error_code: ErrorCode
    epoch: int
    leader_id: NodeId | None


@dataclass(frozen=True, slots=True)
class EndQuorumEpochRequest:
    """RPC 54 version 1, from the resigned leader of `epoch`; best successors first.

    Spec: KRaftState!QuorumEpochRequest.
    Kafka: EndQuorumEpochRequest.
    """

    cluster_id: str | None
    epoch: int
    leader_id: NodeId
    preferred_candidates: tuple[ReplicaKey, ...]
    leader_endpoints: Endpoints


@dataclass(frozen=True, slots=True)
class EndQuorumEpochResponse:
    """RPC 54, the answer, with the epoch and leader that the voter knows after it.

    Spec: KRaftState!QuorumEpochResponse.
    Kafka: EndQuorumEpochResponse.
    """

    error_code: ErrorCode
    epoch: int
    leader_id: NodeId | None
