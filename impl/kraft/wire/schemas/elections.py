"""Schemas of the requests by which voters of the quorum elect a leader.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

VOTE_REQUEST: Final = Schema(
    "VoteRequest",
    52,
    2,
    fields=(
        field("clusterId", T.STRING, nullable=True, default=None),
        field("voterId", T.INT32, since=1, default=-1, ignorable=True),
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("replicaEpoch", T.INT32),
                        field("replicaId", T.INT32),
                        field("replicaDirectoryId", T.UUID, since=1, ignorable=True),
                        field("voterDirectoryId", T.UUID, since=1, ignorable=True),
                        field("lastOffsetEpoch", T.INT32),
                        field("lastOffset", T.INT64),
                        field("preVote", T.BOOL, since=2),
                    ),
                ),
            ),
        ),
    ),
)
VOTE_RESPONSE: Final = Schema(
    "VoteResponse",
    52,
    2,
    fields=(
        field("errorCode", T.INT16),
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("errorCode", T.INT16),
                        field("leaderId", T.INT32),
                        field("leaderEpoch", T.INT32),
                        field("voteGranted", T.BOOL),
                    ),
                ),
            ),
        ),
        array(
            "nodeEndpoints",
            since=1,
            tag=0,
            element=(field("nodeId", T.INT32), field("host", T.STRING), field("port", T.UINT16)),
        ),
    ),
)
BEGIN_QUORUM_EPOCH_REQUEST: Final = Schema(
    "BeginQuorumEpochRequest",
    53,
    1,
    flexible_since=1,
    fields=(
        field("clusterId", T.STRING, nullable=True, default=None),
        field("voterId", T.INT32, since=1, default=-1, ignorable=True),
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("voterDirectoryId", T.UUID, since=1, ignorable=True),
                        field("leaderId", T.INT32),
                        field("leaderEpoch", T.INT32),
                    ),
                ),
            ),
        ),
        array(
            "leaderEndpoints",
            since=1,
            ignorable=True,
            element=(field("name", T.STRING), field("host", T.STRING), field("port", T.UINT16)),
        ),
    ),
)
BEGIN_QUORUM_EPOCH_RESPONSE: Final = Schema(
    "BeginQuorumEpochResponse",
    53,
    1,
    flexible_since=1,
    fields=(
        field("errorCode", T.INT16),
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("errorCode", T.INT16),
                        field("leaderId", T.INT32),
                        field("leaderEpoch", T.INT32),
                    ),
                ),
            ),
        ),
        array(
            "nodeEndpoints",
            since=1,
            tag=0,
            element=(field("nodeId", T.INT32), field("host", T.STRING), field("port", T.UINT16)),
        ),
    ),
)
END_QUORUM_EPOCH_REQUEST: Final = Schema(
    "EndQuorumEpochRequest",
    54,
    1,
    flexible_since=1,
    fields=(
        field("clusterId", T.STRING, nullable=True, default=None),
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("leaderId", T.INT32),
                        field("leaderEpoch", T.INT32),
                        array("preferredSuccessors", T.INT32, until=0, ignorable=True),
                        array(
                            "preferredCandidates",
                            since=1,
                            ignorable=True,
                            element=(
                                field("candidateId", T.INT32),
                                field("candidateDirectoryId", T.UUID),
                            ),
                        ),
                    ),
                ),
            ),
        ),
        array(
            "leaderEndpoints",
            since=1,
            ignorable=True,
            element=(field("name", T.STRING), field("host", T.STRING), field("port", T.UINT16)),
        ),
    ),
)
END_QUORUM_EPOCH_RESPONSE: Final = Schema(
    "EndQuorumEpochResponse",
    54,
    1,
    flexible_since=1,
    fields=(
        field("errorCode", T.INT16),
        array(
            "topics",
            (
                field("topicName", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("errorCode", T.INT16),
                        field("leaderId", T.INT32),
                        field("leaderEpoch", T.INT32),
                    ),
                ),
            ),
        ),
        array(
            "nodeEndpoints",
            since=1,
            tag=0,
            element=(field("nodeId", T.INT32), field("host", T.STRING), field("port", T.UINT16)),
        ),
    ),
)
