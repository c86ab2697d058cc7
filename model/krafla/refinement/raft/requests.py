"""The message of the spec for a request or an answer of the implementation.

Spec: KRaftState!Message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.errors import ErrorCode
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kraft.rpc.quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from kraft.rpc.vote import VoteRequest, VoteResponse

if TYPE_CHECKING:
    from krafla.refinement.raft.names import Naming
    from krafla.refinement.raft.terms import Message
    from kraft.ids import NodeId
    from kraft.raft.state import RaftState
    from kraft.rpc.requests import RaftRequest, RaftResponse

__all__ = ["answer_of", "is_seen", "other_answer", "request_of"]

_SEEN: Final = frozenset(
    (
        ErrorCode.NONE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.SNAPSHOT_NOT_FOUND,
        ErrorCode.INVALID_VOTER_KEY,
    )
)
"""The errors that the spec distinguishes. Any other answer tells it only the epoch."""


_OF_EPOCH: Final = (
    VoteResponse,
    BeginQuorumEpochResponse,
    EndQuorumEpochResponse,
    FetchResponse,
    FetchSnapshotResponse,
)


def request_of(
    naming: Naming, name: str, state: RaftState, node: NodeId, request: RaftRequest
) -> Message | None:
    """Return the message that a replica sends to a node; None if the spec has no such kind."""
    message = naming.terms.message
    match request:
        case VoteRequest():
            return message(
                "VoteRequest",
                name,
                naming.receiver(state, node, request),
                True,
                ("epoch", request.epoch),
                ("pre_vote", request.pre_vote),
                ("last_epoch", request.last_epoch),
                ("last_offset", request.last_offset),
            )
        case BeginQuorumEpochRequest() | EndQuorumEpochRequest():
            receiver = naming.receiver(state, node, request)
            kind = request.__class__.__name__
            return message(kind, name, receiver, True, ("epoch", request.epoch))
        case FetchRequest():
            return message(
                "FetchRequest",
                name,
                naming.receiver(state, node, request),
                True,
                ("epoch", request.current_leader_epoch),
                ("offset", request.fetch_offset),
                ("last_epoch", request.last_fetched_epoch),
            )
        case FetchSnapshotRequest():
            return message(
                "FetchSnapshotRequest",
                name,
                naming.receiver(state, node, request),
                True,
                ("epoch", request.current_leader_epoch),
                ("snapshot_id", naming.offset(request.snapshot_id)),
            )
    return None


def is_seen(response: RaftResponse) -> bool:
    """Return whether the spec distinguishes the error of an answer."""
    return response.error_code in _SEEN


def answer_of(naming: Naming, request: Message, response: RaftResponse) -> Message | None:
    """Return the answer to a request; None if the spec has no such kind."""
    message = naming.terms.message
    match response:
        case VoteResponse() | BeginQuorumEpochResponse() | EndQuorumEpochResponse():
            known = (
                ("epoch", response.epoch),
                ("leader", naming.leader(response.epoch, response.leader_id)),
            )
            if response.error_code == ErrorCode.INVALID_VOTER_KEY:
                return other_answer(naming, request, response)
            if isinstance(response, VoteResponse):
                granted = ("granted", response.vote_granted)
                return message(
                    "VoteResponse", request.receiver, request.sender, None, *known, granted
                )
            if response.error_code == ErrorCode.NONE:
                return None
            kind = response.__class__.__name__
            return message(kind, request.receiver, request.sender, None, *known)
        case FetchResponse():
            return naming.fetch_response(request, response)
        case FetchSnapshotResponse():
            found = response.error_code == ErrorCode.NONE and response.snapshot_id is not None
            snapshot = None
            if found and response.snapshot_id is not None:
                snapshot = naming.snapshots.get(response.snapshot_id)
            return message(
                "FetchSnapshotResponse",
                request.receiver,
                request.sender,
                None,
                ("epoch", response.epoch),
                ("leader", naming.leader(response.epoch, response.leader_id)),
                ("error", response.error_code.name),
                ("snapshot", snapshot),
            )
    return None


def other_answer(naming: Naming, request: Message, response: RaftResponse) -> Message | None:
    """Return the answer that only tells the epoch and its leader; None if it tells neither.

    Spec: KRaftSteps!OtherResponse.
    """
    if not isinstance(response, _OF_EPOCH):
        return None
    return naming.terms.message(
        "OtherResponse",
        request.receiver,
        request.sender,
        None,
        ("epoch", response.epoch),
        ("leader", naming.leader(response.epoch, response.leader_id)),
    )
