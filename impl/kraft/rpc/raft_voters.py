"""RPCs 80 to 82 and 18: changing the voters of the quorum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode
    from kraft.ids import DirectoryId, NodeId
    from kraft.rpc.endpoints import Endpoints


@dataclass(frozen=True, slots=True)
class AddRaftVoterRequest:
    """RPC 80: make a replica a voter. `timeout` is in milliseconds.

    Spec: KRaftVoters!AddVoter.
    Kafka: AddRaftVoterRequest.
    """

    cluster_id: str | None
    timeout: int
    voter_id: NodeId
    voter_directory_id: DirectoryId | None
    listeners: Endpoints


@dataclass(frozen=True, slots=True)
class AddRaftVoterResponse:
    """RPC 80, the answer. Kafka: AddRaftVoterResponse."""

    error_code: ErrorCode
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveRaftVoterRequest:
    """RPC 81: make a voter an observer.

    Spec: KRaftVoters!RemoveVoter.
    Kafka: RemoveRaftVoterRequest.
    """

    cluster_id: str | None
    voter_id: NodeId
    voter_directory_id: DirectoryId | None


@dataclass(frozen=True, slots=True)
class RemoveRaftVoterResponse:
    """RPC 81, the answer. Kafka: RemoveRaftVoterResponse."""

    error_code: ErrorCode
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateRaftVoterRequest:
    """RPC 82: a voter says where it listens now, and which kraft.versions it supports.

    Spec: KRaftVoters!UpdateVoter.
    Kafka: UpdateRaftVoterRequest.
    """

    cluster_id: str | None
    current_leader_epoch: int
    voter_id: NodeId
    voter_directory_id: DirectoryId | None
    listeners: Endpoints
    minimum_version: int
    maximum_version: int


@dataclass(frozen=True, slots=True)
class UpdateRaftVoterResponse:
    """RPC 82, the answer, with the epoch and leader that the receiver knows."""

    error_code: ErrorCode
    epoch: int
    leader_id: NodeId | None
    leader_endpoints: Endpoints = ()


@dataclass(frozen=True, slots=True)
class ApiVersionsRequest:
    """RPC 18, as a leader asks a replica that is to be added. Kafka: ApiVersionsRequest."""


@dataclass(frozen=True, slots=True)
class ApiVersionsResponse:
    """RPC 18, the answer: the kraft.versions the replica supports.

    Spec: KRaftVoters!ApiVersionsResponse.
    Kafka: ApiVersionsResponse.
    """

    error_code: ErrorCode
    minimum_version: int = 0
    maximum_version: int = 1
