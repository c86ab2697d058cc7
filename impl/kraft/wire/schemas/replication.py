"""Schemas of the requests by which a replica of the log follows its leader.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field, struct_field

FETCH_REQUEST: Final = Schema(
    "FetchRequest",
    1,
    18,
    oldest=4,
    flexible_since=12,
    fields=(
        field("clusterId", T.STRING, since=12, tag=0, nullable=True, default=None, ignorable=True),
        field("replicaId", T.INT32, until=14, default=-1),
        struct_field(
            "replicaState",
            since=15,
            tag=1,
            members=(
                field("replicaId", T.INT32, default=-1),
                field("replicaEpoch", T.INT64, default=-1),
            ),
        ),
        field("maxWaitMs", T.INT32),
        field("minBytes", T.INT32),
        field("maxBytes", T.INT32, default=2**31 - 1, ignorable=True),
        field("isolationLevel", T.INT8, ignorable=True),
        field("sessionId", T.INT32, since=7, ignorable=True),
        field("sessionEpoch", T.INT32, since=7, default=-1, ignorable=True),
        array(
            "topics",
            (
                field("topic", T.STRING, until=12, ignorable=True),
                field("topicId", T.UUID, since=13, ignorable=True),
                array(
                    "partitions",
                    (
                        field("partition", T.INT32),
                        field("currentLeaderEpoch", T.INT32, since=9, default=-1, ignorable=True),
                        field("fetchOffset", T.INT64),
                        field("lastFetchedEpoch", T.INT32, since=12, default=-1),
                        field("logStartOffset", T.INT64, since=5, default=-1, ignorable=True),
                        field("partitionMaxBytes", T.INT32),
                        field("replicaDirectoryId", T.UUID, since=17, tag=0, ignorable=True),
                        field(
                            "highWatermark",
                            T.INT64,
                            since=18,
                            tag=1,
                            default=2**63 - 1,
                            ignorable=True,
                        ),
                    ),
                ),
            ),
        ),
        array(
            "forgottenTopicsData",
            since=7,
            element=(
                field("topic", T.STRING, until=12, ignorable=True),
                field("topicId", T.UUID, since=13, ignorable=True),
                array("partitions", T.INT32),
            ),
        ),
        field("rackId", T.STRING, since=11, ignorable=True),
    ),
)
FETCH_RESPONSE: Final = Schema(
    "FetchResponse",
    1,
    18,
    oldest=4,
    flexible_since=12,
    fields=(
        field("throttleTimeMs", T.INT32, ignorable=True),
        field("errorCode", T.INT16, since=7, ignorable=True),
        field("sessionId", T.INT32, since=7),
        array(
            "responses",
            (
                field("topic", T.STRING, until=12, ignorable=True),
                field("topicId", T.UUID, since=13, ignorable=True),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("errorCode", T.INT16),
                        field("highWatermark", T.INT64),
                        field("lastStableOffset", T.INT64, default=-1, ignorable=True),
                        field("logStartOffset", T.INT64, since=5, default=-1, ignorable=True),
                        struct_field(
                            "divergingEpoch",
                            since=12,
                            tag=0,
                            members=(
                                field("epoch", T.INT32, default=-1),
                                field("endOffset", T.INT64, default=-1),
                            ),
                        ),
                        struct_field(
                            "currentLeader",
                            since=12,
                            tag=1,
                            members=(
                                field("leaderId", T.INT32, default=-1),
                                field("leaderEpoch", T.INT32, default=-1),
                            ),
                        ),
                        struct_field(
                            "snapshotId",
                            since=12,
                            tag=2,
                            members=(
                                field("endOffset", T.INT64, default=-1),
                                field("epoch", T.INT32, default=-1),
                            ),
                        ),
                        array(
                            "abortedTransactions",
                            nullable=True,
                            default=(),
                            ignorable=True,
                            element=(field("producerId", T.INT64), field("firstOffset", T.INT64)),
                        ),
                        field("preferredReadReplica", T.INT32, since=11, default=-1),
                        field("records", T.BYTES, nullable=True, default=None),
                    ),
                ),
            ),
        ),
        array(
            "nodeEndpoints",
            since=16,
            tag=0,
            element=(
                field("nodeId", T.INT32),
                field("host", T.STRING),
                field("port", T.INT32),
                field("rack", T.STRING, nullable=True, default=None),
            ),
        ),
    ),
)
FETCH_SNAPSHOT_REQUEST: Final = Schema(
    "FetchSnapshotRequest",
    59,
    1,
    fields=(
        field("clusterId", T.STRING, tag=0, nullable=True, default=None),
        field("replicaId", T.INT32, default=-1),
        field("maxBytes", T.INT32, default=2**31 - 1),
        array(
            "topics",
            (
                field("name", T.STRING),
                array(
                    "partitions",
                    (
                        field("partition", T.INT32),
                        field("currentLeaderEpoch", T.INT32),
                        struct_field(
                            "snapshotId", (field("endOffset", T.INT64), field("epoch", T.INT32))
                        ),
                        field("position", T.INT64),
                        field("replicaDirectoryId", T.UUID, since=1, tag=0, ignorable=True),
                    ),
                ),
            ),
        ),
    ),
)
FETCH_SNAPSHOT_RESPONSE: Final = Schema(
    "FetchSnapshotResponse",
    59,
    1,
    fields=(
        field("throttleTimeMs", T.INT32, ignorable=True),
        field("errorCode", T.INT16),
        array(
            "topics",
            (
                field("name", T.STRING),
                array(
                    "partitions",
                    (
                        field("index", T.INT32),
                        field("errorCode", T.INT16),
                        struct_field(
                            "snapshotId", (field("endOffset", T.INT64), field("epoch", T.INT32))
                        ),
                        struct_field(
                            "currentLeader",
                            tag=0,
                            members=(field("leaderId", T.INT32), field("leaderEpoch", T.INT32)),
                        ),
                        field("size", T.INT64),
                        field("position", T.INT64),
                        field("unalignedRecords", T.BYTES, default=None),
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
