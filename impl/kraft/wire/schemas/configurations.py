"""Schemas of the requests that describe and change configurations and quotas.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

DESCRIBE_CONFIGS_REQUEST: Final = Schema(
    "DescribeConfigsRequest",
    32,
    4,
    oldest=1,
    flexible_since=4,
    fields=(
        array(
            "resources",
            (
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
                array("configurationKeys", T.STRING, nullable=True, default=()),
            ),
        ),
        field("includeSynonyms", T.BOOL),
        field("includeDocumentation", T.BOOL, since=3),
    ),
)
DESCRIBE_CONFIGS_RESPONSE: Final = Schema(
    "DescribeConfigsResponse",
    32,
    4,
    oldest=1,
    flexible_since=4,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "results",
            (
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
                array(
                    "configs",
                    (
                        field("name", T.STRING),
                        field("value", T.STRING, nullable=True),
                        field("readOnly", T.BOOL),
                        field("configSource", T.INT8, default=-1, ignorable=True),
                        field("isSensitive", T.BOOL),
                        array(
                            "synonyms",
                            ignorable=True,
                            element=(
                                field("name", T.STRING),
                                field("value", T.STRING, nullable=True),
                                field("source", T.INT8),
                            ),
                        ),
                        field("configType", T.INT8, since=3, ignorable=True),
                        field("documentation", T.STRING, since=3, nullable=True, ignorable=True),
                    ),
                ),
            ),
        ),
    ),
)
ALTER_CONFIGS_REQUEST: Final = Schema(
    "AlterConfigsRequest",
    33,
    2,
    flexible_since=2,
    fields=(
        array(
            "resources",
            (
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
                array(
                    "configs", (field("name", T.STRING), field("value", T.STRING, nullable=True))
                ),
            ),
        ),
        field("validateOnly", T.BOOL),
    ),
)
ALTER_CONFIGS_RESPONSE: Final = Schema(
    "AlterConfigsResponse",
    33,
    2,
    flexible_since=2,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "responses",
            (
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
            ),
        ),
    ),
)
INCREMENTAL_ALTER_CONFIGS_REQUEST: Final = Schema(
    "IncrementalAlterConfigsRequest",
    44,
    1,
    flexible_since=1,
    fields=(
        array(
            "resources",
            (
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
                array(
                    "configs",
                    (
                        field("name", T.STRING),
                        field("configOperation", T.INT8),
                        field("value", T.STRING, nullable=True),
                    ),
                ),
            ),
        ),
        field("validateOnly", T.BOOL),
    ),
)
INCREMENTAL_ALTER_CONFIGS_RESPONSE: Final = Schema(
    "IncrementalAlterConfigsResponse",
    44,
    1,
    flexible_since=1,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "responses",
            (
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
            ),
        ),
    ),
)
ALTER_CLIENT_QUOTAS_REQUEST: Final = Schema(
    "AlterClientQuotasRequest",
    49,
    1,
    flexible_since=1,
    fields=(
        array(
            "entries",
            (
                array(
                    "entity",
                    (field("entityType", T.STRING), field("entityName", T.STRING, nullable=True)),
                ),
                array(
                    "ops",
                    (field("key", T.STRING), field("value", T.FLOAT64), field("remove", T.BOOL)),
                ),
            ),
        ),
        field("validateOnly", T.BOOL),
    ),
)
ALTER_CLIENT_QUOTAS_RESPONSE: Final = Schema(
    "AlterClientQuotasResponse",
    49,
    1,
    flexible_since=1,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "entries",
            (
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
                array(
                    "entity",
                    (field("entityType", T.STRING), field("entityName", T.STRING, nullable=True)),
                ),
            ),
        ),
    ),
)
