"""The messages by which the quorum elects a leader, and by which one begins and ends its epoch.

Kafka: KafkaRaftClient, RaftUtil.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.ids import NodeId, ReplicaKey
from kraft.rpc.quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from kraft.rpc.vote import VoteRequest, VoteResponse
from kraft.wire.message_map import MessageMap
from kraft.wire.quorum_shape import (
    ENDPOINTS,
    MetadataPartition,
    QuorumResponse,
    about_metadata,
    names_leader,
)
from kraft.wire.value_maps import (
    DIRECTORY_OR_NONE,
    ERROR,
    NODE_OR_NONE,
    Array,
    Constant,
    Field,
    Scalar,
    Struct,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import FailedRequest


def _election_failed(failed: FailedRequest) -> Fields:
    """Return the failure of a Vote, BeginQuorumEpoch or EndQuorumEpoch.

    Kafka: VoteRequest.getErrorResponse.
    """
    response: Fields = {"errorCode": int(failed.error), "topics": ()}
    return response | ({"nodeEndpoints": ()} if failed.version >= 1 else {})


def _election_response(of: Any, *more: Field) -> QuorumResponse:
    parts = (
        ERROR,
        Field("leaderId", map=NODE_OR_NONE),
        Field("leaderEpoch", "epoch"),
        *more,
    )
    struct = Struct(
        of,
        (
            Constant("errorCode", 0),
            MetadataPartition("topics", "topicName", "partitionIndex", parts),
            Constant("nodeEndpoints", (), since=1),
        ),
    )
    return QuorumResponse(struct, _election_failed)


def _election(
    api_key: int,
    of: Any,
    top: tuple[Field, ...],
    partition: tuple[Field, ...],
    response: QuorumResponse,
) -> MessageMap:
    about = MetadataPartition("topics", "topicName", "partitionIndex", partition)
    return MessageMap(
        api_key,
        Struct(of, (Field("clusterId"), *top, about)),
        response,
        _election_failed,
        about_metadata(about, _election_failed),
        completion=names_leader(1),
    )


_VOTER: Final = Field("voterId", since=1, absent=NodeId(-1))
_VOTER_DIRECTORY: Final = Field("voterDirectoryId", "", DIRECTORY_OR_NONE, since=1, absent=None)
_LEADER_ENDPOINTS: Final = Field("leaderEndpoints", map=ENDPOINTS, since=1, absent=())

VOTE: Final = _election(
    52,
    VoteRequest,
    (_VOTER,),
    (
        Field("replicaEpoch", "epoch"),
        Field("replicaId", "candidate_id"),
        Field("replicaDirectoryId", "candidate_directory_id", DIRECTORY_OR_NONE, 1, absent=None),
        _VOTER_DIRECTORY,
        Field("lastOffsetEpoch", "last_epoch"),
        Field("lastOffset"),
        Field("preVote", since=2, absent=False, ignorable=False),
    ),
    _election_response(VoteResponse, Field("voteGranted")),
)
"""Kafka: VoteRequest, VoteResponse. KIP-595, KIP-853, KIP-996."""

BEGIN_QUORUM_EPOCH: Final = _election(
    53,
    BeginQuorumEpochRequest,
    (_VOTER, _LEADER_ENDPOINTS),
    (_VOTER_DIRECTORY, Field("leaderId"), Field("leaderEpoch", "epoch")),
    _election_response(BeginQuorumEpochResponse),
)
"""Kafka: BeginQuorumEpochRequest, BeginQuorumEpochResponse. KIP-595, KIP-853."""

_SUCCESSORS: Final = Array(Scalar(ReplicaKey, lambda value: value.node_id))
_CANDIDATES: Final = Array(
    Struct(
        ReplicaKey,
        (
            Field("candidateId", "node_id"),
            Field("candidateDirectoryId", "directory_id", DIRECTORY_OR_NONE),
        ),
    )
)
END_QUORUM_EPOCH: Final = _election(
    54,
    EndQuorumEpochRequest,
    (_LEADER_ENDPOINTS,),
    (
        Field("leaderId"),
        Field("leaderEpoch", "epoch"),
        Field("preferredSuccessors", "preferred_candidates", _SUCCESSORS, until=0),
        Field("preferredCandidates", map=_CANDIDATES, since=1),
    ),
    _election_response(EndQuorumEpochResponse),
)
"""Kafka: EndQuorumEpochRequest, EndQuorumEpochResponse. KIP-595, KIP-853."""
