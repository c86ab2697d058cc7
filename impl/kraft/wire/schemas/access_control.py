"""Schemas of the requests that describe and change access control lists.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

DESCRIBE_ACLS_REQUEST: Final = Schema(
    "DescribeAclsRequest",
    29,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        field("resourceTypeFilter", T.INT8),
        field("resourceNameFilter", T.STRING, nullable=True),
        field("patternTypeFilter", T.INT8, default=3),
        field("principalFilter", T.STRING, nullable=True),
        field("hostFilter", T.STRING, nullable=True),
        field("operation", T.INT8),
        field("permissionType", T.INT8),
    ),
)
DESCRIBE_ACLS_RESPONSE: Final = Schema(
    "DescribeAclsResponse",
    29,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
        array(
            "resources",
            (
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
                field("patternType", T.INT8, default=3),
                array(
                    "acls",
                    (
                        field("principal", T.STRING),
                        field("host", T.STRING),
                        field("operation", T.INT8),
                        field("permissionType", T.INT8),
                    ),
                ),
            ),
        ),
    ),
)
CREATE_ACLS_REQUEST: Final = Schema(
    "CreateAclsRequest",
    30,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        array(
            "creations",
            (
                field("resourceType", T.INT8),
                field("resourceName", T.STRING),
                field("resourcePatternType", T.INT8, default=3),
                field("principal", T.STRING),
                field("host", T.STRING),
                field("operation", T.INT8),
                field("permissionType", T.INT8),
            ),
        ),
    ),
)
CREATE_ACLS_RESPONSE: Final = Schema(
    "CreateAclsResponse",
    30,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "results", (field("errorCode", T.INT16), field("errorMessage", T.STRING, nullable=True))
        ),
    ),
)
DELETE_ACLS_REQUEST: Final = Schema(
    "DeleteAclsRequest",
    31,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        array(
            "filters",
            (
                field("resourceTypeFilter", T.INT8),
                field("resourceNameFilter", T.STRING, nullable=True),
                field("patternTypeFilter", T.INT8, default=3),
                field("principalFilter", T.STRING, nullable=True),
                field("hostFilter", T.STRING, nullable=True),
                field("operation", T.INT8),
                field("permissionType", T.INT8),
            ),
        ),
    ),
)
DELETE_ACLS_RESPONSE: Final = Schema(
    "DeleteAclsResponse",
    31,
    3,
    oldest=1,
    flexible_since=2,
    fields=(
        field("throttleTimeMs", T.INT32),
        array(
            "filterResults",
            (
                field("errorCode", T.INT16),
                field("errorMessage", T.STRING, nullable=True),
                array(
                    "matchingAcls",
                    (
                        field("errorCode", T.INT16),
                        field("errorMessage", T.STRING, nullable=True),
                        field("resourceType", T.INT8),
                        field("resourceName", T.STRING),
                        field("patternType", T.INT8, default=3),
                        field("principal", T.STRING),
                        field("host", T.STRING),
                        field("operation", T.INT8),
                        field("permissionType", T.INT8),
                    ),
                ),
            ),
        ),
    ),
)
