"""Schemas of the 15 record types of the metadata log as KIP-631 published them.

Each has version 0 alone. The text does not say that they are flexible, but it tags fields of
PartitionChangeRecord, so all of them are. `KIP_631_SCHEMAS` maps an api key to its schema.

Kafka: MetadataRecordType has what was built. KIP-631 "Record Formats".
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

_ENDPOINT: Final = (
    field("name", T.STRING),
    field("host", T.STRING),
    field("port", T.UINT16),
    field("securityProtocol", T.INT16),
)
_FEATURE: Final = (
    field("name", T.STRING),
    field("minVersion", T.INT16),
    field("maxVersion", T.INT16),
)
_BROKER_AND_EPOCH: Final = (field("brokerId", T.INT32), field("brokerEpoch", T.INT64))
_CREDENTIAL: Final = (
    field("mechanism", T.INT8),
    field("salt", T.BYTES),
    field("saltedPassword", T.BYTES),
    field("iterations", T.INT32),
)
_FAILURES: Final = (field("topicId", T.UUID), array("partitions", T.INT32))
_QUOTA_ENTITY: Final = (
    field("entityType", T.STRING),
    field("entityName", T.STRING, nullable=True),
)

KIP_631_SCHEMAS: Final[dict[int, Schema]] = {
    api_key: Schema(name, api_key, 0, fields)
    for api_key, (name, fields) in enumerate(
        (
            (
                "REGISTER_BROKER_RECORD",
                (
                    field("brokerId", T.INT32),
                    field("incarnationId", T.UUID),
                    field("brokerEpoch", T.INT64),
                    array("endPoints", _ENDPOINT, nullable=True),
                    array("features", _FEATURE, nullable=True),
                    field("rack", T.STRING, nullable=True),
                ),
            ),
            ("UNREGISTER_BROKER_RECORD", _BROKER_AND_EPOCH),
            ("TOPIC_RECORD", (field("topicName", T.STRING), field("topicId", T.UUID))),
            (
                "PARTITION_RECORD",
                (
                    field("partitionId", T.INT32, default=-1),
                    field("topicId", T.UUID),
                    array("replicas", T.INT32),
                    array("isr", T.INT32),
                    array("removingReplicas", T.INT32),
                    array("addingReplicas", T.INT32),
                    field("leader", T.INT32, default=-1),
                    field("leaderEpoch", T.INT32, default=-1),
                ),
            ),
            (
                "CONFIG_RECORD",
                (
                    field("resourceType", T.INT8),
                    field("resourceName", T.STRING),
                    field("name", T.STRING),
                    field("value", T.STRING),
                ),
            ),
            (
                "PARTITION_CHANGE_RECORD",
                (
                    field("partitionId", T.INT32, default=-1),
                    field("topicId", T.UUID),
                    array("isr", T.INT32, tag=0, nullable=True),
                    field("leader", T.INT32, tag=1, default=-2),
                    array("replicas", T.INT32, tag=2, nullable=True),
                    array("removingReplicas", T.INT32, tag=3, nullable=True),
                    array("addingReplicas", T.INT32, tag=4, nullable=True),
                ),
            ),
            (
                "ACCESS_CONTROL_RECORD",
                (
                    field("resourceType", T.INT8),
                    field("resourceName", T.STRING, nullable=True),
                    field("patternType", T.INT8),
                    field("principal", T.STRING),
                    field("host", T.STRING),
                    field("operation", T.INT8),
                    field("permissionType", T.INT8),
                ),
            ),
            ("FENCE_BROKER_RECORD", _BROKER_AND_EPOCH),
            ("UNFENCE_BROKER_RECORD", _BROKER_AND_EPOCH),
            ("REMOVE_TOPIC_RECORD", (field("topicId", T.UUID),)),
            (
                "DELEGATION_TOKEN_RECORD",
                (
                    field("owner", T.STRING),
                    array("renewers", T.STRING),
                    field("issueTimestamp", T.INT64),
                    field("maxTimestamp", T.INT64),
                    field("expirationTimestamp", T.INT64),
                    field("tokenId", T.STRING),
                ),
            ),
            (
                "USER_SCRAM_CREDENTIAL_RECORD",
                (field("userName", T.STRING), array("credentialInfos", _CREDENTIAL)),
            ),
            (
                "FEATURE_LEVEL_RECORD",
                (
                    field("name", T.STRING),
                    field("minFeatureLevel", T.INT16),
                    field("maxFeatureLevel", T.INT16),
                ),
            ),
            (
                "FAILED_REPLICAS_RECORD",
                (field("brokerId", T.INT32), array("topics", _FAILURES)),
            ),
            (
                "QUOTA_RECORD",
                (
                    array("entity", _QUOTA_ENTITY),
                    field("key", T.STRING),
                    field("value", T.FLOAT64),
                    field("remove", T.BOOL),
                ),
            ),
        )
    )
}
