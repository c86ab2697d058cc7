"""Schemas of the requests that create and delete topics and their partitions.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

CREATE_TOPICS_REQUEST: Final = Schema(
    "CreateTopicsRequest",
    19,
    7,
    oldest=2,
    flexible_since=5,
    fields=(
        array(
            "topics",
            (
                field("name", T.STRING),
                field("numPartitions", T.INT32),
                field("replicationFactor", T.INT16),
                array(
                    "assignments", (field("partitionIndex", T.INT32), array("brokerIds", T.INT32))
                ),
                array(
                    "configs", (field("name", T.STRING), field("value", T.STRING, nullable=True))
                ),
            ),
        ),
        field("timeoutMs", T.INT32, default=60000),
        field("validateOnly", T.BOOL),
    ),
)
CREATE_TOPICS_RESPONSE: Final = Schema(
    "CreateTopicsResponse",
    19,
    7,
    oldest=2,
    flexible_since=5,
    fields=(
        field("throttleTimeMs", T.INT32, ignorable=True),
        array(
            "topics",
            (
                field("name", T.STRING),
                field("topicId", T.UUID, since=7, ignorable=True),
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True, ignorable=True),
                field("topicConfigErrorCode", T.INT16, since=5, tag=0, ignorable=True),
                field("numPartitions", T.INT32, since=5, default=-1, ignorable=True),
                field("replicationFactor", T.INT16, since=5, default=-1, ignorable=True),
                array(
                    "configs",
                    since=5,
                    nullable=True,
                    default=(),
                    ignorable=True,
                    element=(
                        field("name", T.STRING),
                        field("value", T.STRING, nullable=True),
                        field("readOnly", T.BOOL),
                        field("configSource", T.INT8, default=-1, ignorable=True),
                        field("isSensitive", T.BOOL),
                    ),
                ),
            ),
        ),
    ),
)
DELETE_TOPICS_REQUEST: Final = Schema(
    "DeleteTopicsRequest",
    20,
    6,
    oldest=1,
    flexible_since=4,
    fields=(
        array(
            "topics",
            since=6,
            element=(
                field("name", T.STRING, nullable=True, default=None),
                field("topicId", T.UUID),
            ),
        ),
        array("topicNames", T.STRING, until=5, ignorable=True),
        field("timeoutMs", T.INT32),
    ),
)
DELETE_TOPICS_RESPONSE: Final = Schema(
    "DeleteTopicsResponse",
    20,
    6,
    oldest=1,
    flexible_since=4,
    fields=(
        field("throttleTimeMs", T.INT32, ignorable=True),
        array(
            "responses",
            (
                field("name", T.STRING, nullable_since=6),
                field("topicId", T.UUID, since=6, ignorable=True),
                field("errorCode", T.INT16),
                field(
                    "errorMessage", T.STRING, since=5, nullable=True, default=None, ignorable=True
                ),
            ),
        ),
    ),
)
CREATE_PARTITIONS_REQUEST: Final = Schema(
    "CreatePartitionsRequest",
    37,
    3,
    flexible_since=2,
    fields=(
        array(
            "topics",
            (
                field("name", T.STRING),
                field("count", T.INT32),
                array(
                    "assignments", nullable=True, default=(), element=(array("brokerIds", T.INT32),)
                ),
            ),
        ),
        field("timeoutMs", T.INT32),
        field("validateOnly", T.BOOL),
    ),
)
CREATE_PARTITIONS_RESPONSE: Final = Schema(
    "CreatePartitionsResponse",
    37,
    3,
    flexible_since=2,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "results",
            (
                field("name", T.STRING),
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True, default=None),
            ),
        ),
    ),
)
