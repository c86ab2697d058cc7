"""RPC 52: a voter stands for election, or asks whether it could win one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode
    from kraft.ids import DirectoryId, NodeId


@dataclass(frozen=True, slots=True)
class VoteRequest:
    """RPC 52 version 2. `last_epoch` and `last_offset` are the end of the candidate's log.

    `voter_id` and `voter_directory_id` name the replica that the sender means to ask. A pre-vote
    (`pre_vote`) asks only whether the vote would be granted.

    Spec: KRaftState!VoteRequest.
    Kafka: VoteRequest.
    """

    cluster_id: str | None
    voter_id: NodeId
    voter_directory_id: DirectoryId | None
    epoch: int
    candidate_id: NodeId
    candidate_directory_id: DirectoryId | None
    last_epoch: int
    last_offset: int
    pre_vote: bool


@dataclass(frozen=True, slots=True)
class VoteResponse:
    """RPC 52, the answer, with the voter's epoch and leader after it (None: it knows none).

    Spec: KRaftState!VoteResponse.
    Kafka: VoteResponse.
    """

    error_code: ErrorCode
    epoch: int
    leader_id: NodeId | None
    vote_granted: bool = False
