"""The messages about the voters of the quorum: who they are, and how they change.

Kafka: KafkaRaftClient, RaftUtil. KIP-853.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import ErrorCode
from kraft.ids import ReplicaKey
from kraft.rpc.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaDescription,
)
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.raft_voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from kraft.wire.message_map import MessageMap, Refusal
from kraft.wire.quorum_shape import ENDPOINTS, MetadataPartition, QuorumResponse
from kraft.wire.value_maps import (
    DIRECTORY_OR_NONE,
    ERROR,
    NODE_OR_NONE,
    THROTTLE,
    Array,
    Constant,
    Field,
    Nested,
    ShapeError,
    Struct,
    Within,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import AskedRequest, FailedRequest, ResponseDraft

_CLUSTER: Final = Field("clusterId")
_VOTER: Final = (Field("voterId"), Field("voterDirectoryId", map=DIRECTORY_OR_NONE))
_LISTENERS: Final = Field("listeners", map=ENDPOINTS)


def _result_failed(failed: FailedRequest) -> Fields:
    """Return the failure of an AddRaftVoter or RemoveRaftVoter, with the error's own sentence.

    Kafka: AddRaftVoterRequest.getErrorResponse.
    """
    return {"throttleTimeMs": 0, "errorCode": int(failed.error), "errorMessage": None}


def _result(of: Any) -> Struct:
    return Struct(of, (THROTTLE, ERROR, Field("errorMessage")))


ADD_RAFT_VOTER: Final = MessageMap(
    80,
    Struct(AddRaftVoterRequest, (_CLUSTER, Field("timeoutMs", "timeout"), *_VOTER, _LISTENERS)),
    _result(AddRaftVoterResponse),
    _result_failed,
)
"""Kafka: AddRaftVoterRequest, AddRaftVoterResponse. Its timeout is the quorum's matter."""

REMOVE_RAFT_VOTER: Final = MessageMap(
    81,
    Struct(RemoveRaftVoterRequest, (_CLUSTER, *_VOTER)),
    _result(RemoveRaftVoterResponse),
    _result_failed,
)
"""Kafka: RemoveRaftVoterRequest, RemoveRaftVoterResponse."""

_LEADER: Final = (
    Field("leaderId", map=NODE_OR_NONE),
    Field("leaderEpoch", "epoch"),
)


class _UpdatedMap:
    """A map of the response to UpdateRaftVoter; the leader's address is that of one listener."""

    __slots__ = ()
    _struct: Final = Struct(
        UpdateRaftVoterResponse, (THROTTLE, ERROR, Nested("currentLeader", _LEADER))
    )

    def decoded(self, raw: Fields, version: int) -> UpdateRaftVoterResponse:
        """Return the response; the wire does not name the listener of the leader's address."""
        response: UpdateRaftVoterResponse = self._struct.decoded(raw, version)
        leader = raw["currentLeader"]
        if not leader["host"]:
            return response
        return replace(response, leader_endpoints=(Endpoint("", leader["host"], leader["port"]),))

    def encoded(self, value: UpdateRaftVoterResponse, version: int) -> Fields:
        """Return the fields of the response, without an address."""
        fields = self._struct.encoded(value, version)
        fields["currentLeader"] |= {"host": "", "port": 0}
        return fields


def _with_address(draft: ResponseDraft) -> Fields:
    """Add the leader's address. Kafka: RaftUtil.updateVoterResponse."""
    for endpoint in draft.value.leader_endpoints:
        if endpoint.listener == draft.around.listener:
            draft.fields["currentLeader"] |= {"host": endpoint.host, "port": endpoint.port}
    return draft.fields


def _update_failed(failed: FailedRequest) -> Fields:
    """Return the failure of an UpdateRaftVoter. Kafka: UpdateRaftVoterRequest.getErrorResponse."""
    nobody = {"leaderId": -1, "leaderEpoch": -1, "host": "", "port": 0}
    return {"throttleTimeMs": 0, "errorCode": int(failed.error), "currentLeader": nobody}


_VERSIONS: Final = (
    Field("minSupportedVersion", "minimum_version"),
    Field("maxSupportedVersion", "maximum_version"),
)
UPDATE_RAFT_VOTER: Final = MessageMap(
    82,
    Struct(
        UpdateRaftVoterRequest,
        (
            _CLUSTER,
            Field("currentLeaderEpoch"),
            *_VOTER,
            _LISTENERS,
            Nested("kRaftVersionFeature", _VERSIONS),
        ),
    ),
    _UpdatedMap(),
    _update_failed,
    completion=_with_address,
)
"""Kafka: UpdateRaftVoterRequest, UpdateRaftVoterResponse."""

_REPLICA_KEY: Final = Struct(
    ReplicaKey,
    (
        Field("replicaId", "node_id"),
        Field("replicaDirectoryId", "directory_id", DIRECTORY_OR_NONE, since=2),
    ),
)
_REPLICAS: Final = Array(
    Struct(
        ReplicaDescription,
        (
            Within("key", _REPLICA_KEY),
            Field("logEndOffset"),
            Field("lastFetchTimestamp", "last_fetch_time", since=1, absent=-1),
            Field("lastCaughtUpTimestamp", "last_caught_up_time", since=1, absent=-1),
        ),
    )
)
_ASKED: Final = MetadataPartition("topics", "topicName", "partitionIndex", ())
_DESCRIBED: Final = MetadataPartition(
    "topics",
    "topicName",
    "partitionIndex",
    (
        ERROR,
        Constant("errorMessage", None, since=2),
        *_LEADER,
        Field("highWatermark"),
        Field("currentVoters", "voters", _REPLICAS),
        Field("observers", map=_REPLICAS),
    ),
)
_QUORUM: Final = Struct(
    DescribeQuorumResponse,
    (
        Constant("errorCode", 0),
        Constant("errorMessage", None, since=2),
        _DESCRIBED,
        Constant("nodes", (), since=2),
    ),
)


def _describe_failed(failed: FailedRequest) -> Fields:
    """Return the failure of a DescribeQuorum, with the error's own sentence.

    Kafka: DescribeQuorumRequest.getTopLevelErrorResponse.
    """
    response: Fields = {"errorCode": int(failed.error), "topics": ()}
    return response | ({"errorMessage": None, "nodes": ()} if failed.version >= 2 else {})


def _error_of_partition(index: int, error: ErrorCode, version: int) -> Fields:
    partition: Fields = {"partitionIndex": index, "errorCode": int(error), "leaderId": 0}
    partition |= {"leaderEpoch": 0, "highWatermark": 0, "currentVoters": (), "observers": ()}
    return partition | ({"errorMessage": None} if version >= 2 else {})


def _check_described(asked: AskedRequest) -> Refusal | None:
    """Refuse to describe another quorum. Kafka: KafkaRaftClient.handleDescribeQuorumRequest."""
    try:
        _ASKED.partition(asked.fields, asked.version)
    except ShapeError:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        response = _describe_failed(asked.failed(ErrorCode.NONE))
        response["topics"] = tuple(
            {
                "topicName": topic["topicName"],
                "partitions": tuple(
                    _error_of_partition(one["partitionIndex"], error, asked.version)
                    for one in topic["partitions"]
                ),
            }
            for topic in asked.fields["topics"]
        )
        return Refusal(response)
    return None


def _with_nodes(draft: ResponseDraft) -> Fields:
    """Add where the voters listen, or leave only the error.

    Kafka: RaftUtil.singletonDescribeQuorumResponse, DescribeQuorumResponse.singletonErrorResponse.
    """
    if draft.value.error_code is not ErrorCode.NONE:
        (topic,) = draft.fields["topics"]
        index = topic["partitions"][0]["partitionIndex"]
        topic["partitions"] = (_error_of_partition(index, draft.value.error_code, draft.version),)
    elif draft.version >= 2:
        draft.fields["nodes"] = tuple(
            {
                "nodeId": voter.key.node_id,
                "listeners": ENDPOINTS.encoded(
                    draft.around.voters.get(voter.key.node_id, ()), draft.version
                ),
            }
            for voter in draft.value.voters
        )
    return draft.fields


class _DescriptionMap:
    """A map of the response to DescribeQuorum: with an error it says nothing else."""

    __slots__ = ()
    _response: Final = QuorumResponse(_QUORUM, _describe_failed)

    def decoded(self, raw: Fields, version: int) -> DescribeQuorumResponse:
        """Return the response."""
        response: DescribeQuorumResponse = self._response.decoded(raw, version)
        failed = response.error_code is not ErrorCode.NONE
        return DescribeQuorumResponse(response.error_code) if failed else response

    def encoded(self, value: DescribeQuorumResponse, version: int) -> Fields:
        """Return the fields of the response; each error is the partition's."""
        return _QUORUM.encoded(value, version)


DESCRIBE_QUORUM: Final = MessageMap(
    55,
    Struct(DescribeQuorumRequest, (_ASKED,)),
    _DescriptionMap(),
    _describe_failed,
    _check_described,
    completion=_with_nodes,
)
"""Kafka: DescribeQuorumRequest, DescribeQuorumResponse. KIP-595, KIP-836, KIP-853."""
