"""Schemas of the requests that change who leads a partition and who replicates it.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

ALTER_PARTITION_REQUEST: Final = Schema(
    "AlterPartitionRequest",
    56,
    3,
    oldest=2,
    fields=(
        field("brokerId", T.INT32),
        field("brokerEpoch", T.INT64, default=-1),
        array(
            "topics",
            (
                field("topicId", T.UUID, ignorable=True),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("leaderEpoch", T.INT32),
                        array("newIsr", T.INT32, until=2),
                        array(
                            "newIsrWithEpochs",
                            since=3,
                            element=(
                                field("brokerId", T.INT32),
                                field("brokerEpoch", T.INT64, default=-1),
                            ),
                        ),
                        field("leaderRecoveryState", T.INT8),
                        field("partitionEpoch", T.INT32),
                    ),
                ),
            ),
        ),
    ),
)
ALTER_PARTITION_RESPONSE: Final = Schema(
    "AlterPartitionResponse",
    56,
    3,
    oldest=2,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        array(
            "topics",
            (
                field("topicId", T.UUID, ignorable=True),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("errorCode", T.INT16),
                        field("leaderId", T.INT32),
                        field("leaderEpoch", T.INT32),
                        array("isr", T.INT32),
                        field("leaderRecoveryState", T.INT8, ignorable=True),
                        field("partitionEpoch", T.INT32),
                    ),
                ),
            ),
        ),
    ),
)
ELECT_LEADERS_REQUEST: Final = Schema(
    "ElectLeadersRequest",
    43,
    2,
    flexible_since=2,
    fields=(
        field("electionType", T.INT8, since=1),
        array(
            "topicPartitions",
            nullable=True,
            default=(),
            element=(field("topic", T.STRING), array("partitions", T.INT32)),
        ),
        field("timeoutMs", T.INT32, default=60000),
    ),
)
ELECT_LEADERS_RESPONSE: Final = Schema(
    "ElectLeadersResponse",
    43,
    2,
    flexible_since=2,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16, since=1),
        array(
            "replicaElectionResults",
            (
                field("topic", T.STRING),
                array(
                    "partitionResult",
                    (
                        field("partitionId", T.INT32),
                        field("errorCode", T.INT16),
                        field("errorMessage", T.STRING, nullable=True),
                    ),
                ),
            ),
        ),
    ),
)
ALTER_PARTITION_REASSIGNMENTS_REQUEST: Final = Schema(
    "AlterPartitionReassignmentsRequest",
    45,
    1,
    fields=(
        field("timeoutMs", T.INT32, default=60000),
        field("allowReplicationFactorChange", T.BOOL, since=1, default=True),
        array(
            "topics",
            (
                field("name", T.STRING),
                array(
                    "partitions",
                    (field("partitionIndex", T.INT32), array("replicas", T.INT32, nullable=True)),
                ),
            ),
        ),
    ),
)
ALTER_PARTITION_REASSIGNMENTS_RESPONSE: Final = Schema(
    "AlterPartitionReassignmentsResponse",
    45,
    1,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("allowReplicationFactorChange", T.BOOL, since=1, default=True, ignorable=True),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
        array(
            "responses",
            (
                field("name", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        field("errorCode", T.INT16),
                        field("errorMessage", T.STRING, nullable=True),
                    ),
                ),
            ),
        ),
    ),
)
LIST_PARTITION_REASSIGNMENTS_REQUEST: Final = Schema(
    "ListPartitionReassignmentsRequest",
    46,
    0,
    fields=(
        field("timeoutMs", T.INT32, default=60000),
        array(
            "topics",
            nullable=True,
            element=(field("name", T.STRING), array("partitionIndexes", T.INT32)),
        ),
    ),
)
LIST_PARTITION_REASSIGNMENTS_RESPONSE: Final = Schema(
    "ListPartitionReassignmentsResponse",
    46,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
        array(
            "topics",
            (
                field("name", T.STRING),
                array(
                    "partitions",
                    (
                        field("partitionIndex", T.INT32),
                        array("replicas", T.INT32),
                        array("addingReplicas", T.INT32),
                        array("removingReplicas", T.INT32),
                    ),
                ),
            ),
        ),
    ),
)
