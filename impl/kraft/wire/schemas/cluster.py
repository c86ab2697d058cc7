"""Schemas of the requests about a node as a whole: its versions, features and cluster.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

API_VERSIONS_REQUEST: Final = Schema(
    "ApiVersionsRequest",
    18,
    4,
    flexible_since=3,
    fields=(
        field("clientSoftwareName", T.STRING, since=3, ignorable=True),
        field("clientSoftwareVersion", T.STRING, since=3, ignorable=True),
    ),
)
API_VERSIONS_RESPONSE: Final = Schema(
    "ApiVersionsResponse",
    18,
    4,
    flexible_since=3,
    fields=(
        field("errorCode", T.INT16),
        array(
            "apiKeys",
            (field("apiKey", T.INT16), field("minVersion", T.INT16), field("maxVersion", T.INT16)),
        ),
        field("throttleTimeMs", T.INT32, since=1, ignorable=True),
        array(
            "supportedFeatures",
            since=3,
            tag=0,
            ignorable=True,
            element=(
                field("name", T.STRING),
                field("minVersion", T.INT16),
                field("maxVersion", T.INT16),
            ),
        ),
        field("finalizedFeaturesEpoch", T.INT64, since=3, tag=1, default=-1, ignorable=True),
        array(
            "finalizedFeatures",
            since=3,
            tag=2,
            ignorable=True,
            element=(
                field("name", T.STRING),
                field("maxVersionLevel", T.INT16),
                field("minVersionLevel", T.INT16),
            ),
        ),
        field("zkMigrationReady", T.BOOL, since=3, tag=3, ignorable=True),
    ),
)
UPDATE_FEATURES_REQUEST: Final = Schema(
    "UpdateFeaturesRequest",
    57,
    2,
    fields=(
        field("timeoutMs", T.INT32, default=60000),
        array(
            "featureUpdates",
            (
                field("feature", T.STRING),
                field("maxVersionLevel", T.INT16),
                field("allowDowngrade", T.BOOL, until=0),
                field("upgradeType", T.INT8, since=1, default=1),
            ),
        ),
        field("validateOnly", T.BOOL, since=1),
    ),
)
UPDATE_FEATURES_RESPONSE: Final = Schema(
    "UpdateFeaturesResponse",
    57,
    2,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
        array(
            "results",
            until=1,
            ignorable=True,
            element=(
                field("feature", T.STRING),
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
            ),
        ),
    ),
)
DESCRIBE_CLUSTER_REQUEST: Final = Schema(
    "DescribeClusterRequest",
    60,
    2,
    fields=(
        field("includeClusterAuthorizedOperations", T.BOOL),
        field("endpointType", T.INT8, since=1, default=1),
        field("includeFencedBrokers", T.BOOL, since=2),
    ),
)
DESCRIBE_CLUSTER_RESPONSE: Final = Schema(
    "DescribeClusterResponse",
    60,
    2,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True, default=None),
        field("endpointType", T.INT8, since=1, default=1),
        field("clusterId", T.STRING),
        field("controllerId", T.INT32, default=-1),
        array(
            "brokers",
            (
                field("brokerId", T.INT32),
                field("host", T.STRING),
                field("port", T.INT32),
                field("rack", T.STRING, nullable=True, default=None),
                field("isFenced", T.BOOL, since=2),
            ),
        ),
        field("clusterAuthorizedOperations", T.INT32, default=-(2**31)),
    ),
)
ENVELOPE_REQUEST: Final = Schema(
    "EnvelopeRequest",
    58,
    0,
    fields=(
        field("requestData", T.BYTES),
        field("requestPrincipal", T.BYTES, nullable=True),
        field("clientHostAddress", T.BYTES),
    ),
)
ENVELOPE_RESPONSE: Final = Schema(
    "EnvelopeResponse",
    58,
    0,
    fields=(
        field("responseData", T.BYTES, nullable=True, default=None),
        field("errorCode", T.INT16),
    ),
)
