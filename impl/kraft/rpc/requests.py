"""The requests and responses of the Raft layer, as closed unions."""

from __future__ import annotations

from kraft.rpc.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kraft.rpc.quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from kraft.rpc.raft_voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from kraft.rpc.vote import VoteRequest, VoteResponse

RaftRequest = (
    VoteRequest
    | BeginQuorumEpochRequest
    | EndQuorumEpochRequest
    | FetchRequest
    | FetchSnapshotRequest
    | DescribeQuorumRequest
    | AddRaftVoterRequest
    | RemoveRaftVoterRequest
    | UpdateRaftVoterRequest
    | ApiVersionsRequest
)
RaftResponse = (
    VoteResponse
    | BeginQuorumEpochResponse
    | EndQuorumEpochResponse
    | FetchResponse
    | FetchSnapshotResponse
    | DescribeQuorumResponse
    | AddRaftVoterResponse
    | RemoveRaftVoterResponse
    | UpdateRaftVoterResponse
    | ApiVersionsResponse
)
