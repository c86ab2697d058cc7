"""Schemas of the requests that describe the quorum and change its voters.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field, struct_field

DESCRIBE_QUORUM_REQUEST: Final = Schema(
    "DescribeQuorumRequest",
    55,
    2,
    fields=(
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array("partitions", (field("partitionIndex", T.INT32),)),
            ),
        ),
    ),
)
_REPLICA_STATE: Final = (
    field("replicaId", T.INT32),
    field("replicaDirectoryId", T.UUID, since=2),
    field("logEndOffset", T.INT64),
    field("lastFetchTimestamp", T.INT64, since=1, default=-1, ignorable=True),
    field("lastCaughtUpTimestamp", T.INT64, since=1, default=-1, ignorable=True),
)
DESCRIBE_QUORUM_RESPONSE: Final = Schema(
    "DescribeQuorumResponse",
    55,
    2,
    fields=(
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, since=2, nullable=True, ignorable=True),
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("errorCode", T.INT16),
                        field("errorMessage", T.STRING, since=2, nullable=True, ignorable=True),
                        field("leaderId", T.INT32),
                        field("leaderEpoch", T.INT32),
                        field("highWatermark", T.INT64),
                        array("currentVoters", _REPLICA_STATE),
                        array("observers", _REPLICA_STATE),
                    ),
                ),
            ),
        ),
        array(
            "nodes",
            since=2,
            element=(
                field("nodeId", T.INT32),
                array(
                    "listeners",
                    (field("name", T.STRING), field("host", T.STRING), field("port", T.UINT16)),
                ),
            ),
        ),
    ),
)
ADD_RAFT_VOTER_REQUEST: Final = Schema(
    "AddRaftVoterRequest",
    80,
    0,
    fields=(
        field("clusterId", T.STRING, nullable=True),
        field("timeoutMs", T.INT32),
        field("voterId", T.INT32),
        field("voterDirectoryId", T.UUID),
        array(
            "listeners", (field("name", T.STRING), field("host", T.STRING), field("port", T.UINT16))
        ),
    ),
)
ADD_RAFT_VOTER_RESPONSE: Final = Schema(
    "AddRaftVoterResponse",
    80,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True, ignorable=True),
    ),
)
REMOVE_RAFT_VOTER_REQUEST: Final = Schema(
    "RemoveRaftVoterRequest",
    81,
    0,
    fields=(
        field("clusterId", T.STRING, nullable=True),
        field("voterId", T.INT32),
        field("voterDirectoryId", T.UUID),
    ),
)
REMOVE_RAFT_VOTER_RESPONSE: Final = Schema(
    "RemoveRaftVoterResponse",
    81,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True, ignorable=True),
    ),
)
UPDATE_RAFT_VOTER_REQUEST: Final = Schema(
    "UpdateRaftVoterRequest",
    82,
    0,
    fields=(
        field("clusterId", T.STRING, nullable=True),
        field("currentLeaderEpoch", T.INT32),
        field("voterId", T.INT32),
        field("voterDirectoryId", T.UUID),
        array(
            "listeners", (field("name", T.STRING), field("host", T.STRING), field("port", T.UINT16))
        ),
        struct_field(
            "kRaftVersionFeature",
            (field("minSupportedVersion", T.INT16), field("maxSupportedVersion", T.INT16)),
        ),
    ),
)
UPDATE_RAFT_VOTER_RESPONSE: Final = Schema(
    "UpdateRaftVoterResponse",
    82,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        struct_field(
            "currentLeader",
            tag=0,
            members=(
                field("leaderId", T.INT32, default=-1),
                field("leaderEpoch", T.INT32, default=-1),
                field("host", T.STRING),
                field("port", T.INT32),
            ),
        ),
    ),
)
