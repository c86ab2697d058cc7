"""Schemas of the 26 record types of Kafka 4.1's metadata log, in every version.

`METADATA_SCHEMAS` maps an api key to its schema. Keys 6, 13 and 16 were never released.

Kafka: MetadataRecordType, from `common/metadata/*.json` of kafka-metadata 4.1.
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
    field("minSupportedVersion", T.INT16),
    field("maxSupportedVersion", T.INT16),
)
_QUOTA_ENTITY: Final = (
    field("entityType", T.STRING),
    field("entityName", T.STRING, nullable=True),
)

REGISTER_BROKER: Final = Schema(
    "REGISTER_BROKER_RECORD",
    0,
    3,
    (
        field("brokerId", T.INT32),
        field("isMigratingZkBroker", T.BOOL, since=2),
        field("incarnationId", T.UUID),
        field("brokerEpoch", T.INT64),
        array("endPoints", _ENDPOINT),
        array("features", _FEATURE),
        field("rack", T.STRING, nullable=True),
        field("fenced", T.BOOL, default=True),
        field("inControlledShutdown", T.BOOL, since=1),
        array("logDirs", T.UUID, since=3, tag=0),
    ),
)
UNREGISTER_BROKER: Final = Schema(
    "UNREGISTER_BROKER_RECORD",
    1,
    0,
    (field("brokerId", T.INT32), field("brokerEpoch", T.INT64)),
)
TOPIC: Final = Schema("TOPIC_RECORD", 2, 0, (field("name", T.STRING), field("topicId", T.UUID)))
PARTITION: Final = Schema(
    "PARTITION_RECORD",
    3,
    2,
    (
        field("partitionId", T.INT32, default=-1),
        field("topicId", T.UUID),
        array("replicas", T.INT32),
        array("isr", T.INT32),
        array("removingReplicas", T.INT32),
        array("addingReplicas", T.INT32),
        field("leader", T.INT32, default=-1),
        field("leaderRecoveryState", T.INT8, tag=0),
        field("leaderEpoch", T.INT32, default=-1),
        field("partitionEpoch", T.INT32, default=-1),
        array("directories", T.UUID, since=1),
        array("eligibleLeaderReplicas", T.INT32, since=2, tag=1, nullable=True),
        array("lastKnownElr", T.INT32, since=2, tag=2, nullable=True),
    ),
)
CONFIG: Final = Schema(
    "CONFIG_RECORD",
    4,
    0,
    (
        field("resourceType", T.INT8),
        field("resourceName", T.STRING),
        field("name", T.STRING),
        field("value", T.STRING, nullable=True),
    ),
)
PARTITION_CHANGE: Final = Schema(
    "PARTITION_CHANGE_RECORD",
    5,
    2,
    (
        field("partitionId", T.INT32, default=-1),
        field("topicId", T.UUID),
        array("isr", T.INT32, tag=0, nullable=True),
        field("leader", T.INT32, tag=1, default=-2),
        array("replicas", T.INT32, tag=2, nullable=True),
        array("removingReplicas", T.INT32, tag=3, nullable=True),
        array("addingReplicas", T.INT32, tag=4, nullable=True),
        field("leaderRecoveryState", T.INT8, tag=5, default=-1),
        array("directories", T.UUID, since=1, tag=8, nullable=True),
        array("eligibleLeaderReplicas", T.INT32, since=2, tag=6, nullable=True),
        array("lastKnownElr", T.INT32, since=2, tag=7, nullable=True),
    ),
)
FENCE_BROKER: Final = Schema(
    "FENCE_BROKER_RECORD", 7, 0, (field("id", T.INT32), field("epoch", T.INT64))
)
UNFENCE_BROKER: Final = Schema(
    "UNFENCE_BROKER_RECORD", 8, 0, (field("id", T.INT32), field("epoch", T.INT64))
)
REMOVE_TOPIC: Final = Schema("REMOVE_TOPIC_RECORD", 9, 0, (field("topicId", T.UUID),))
DELEGATION_TOKEN: Final = Schema(
    "DELEGATION_TOKEN_RECORD",
    10,
    0,
    (
        field("owner", T.STRING),
        field("requester", T.STRING),
        array("renewers", T.STRING),
        field("issueTimestamp", T.INT64),
        field("maxTimestamp", T.INT64),
        field("expirationTimestamp", T.INT64),
        field("tokenId", T.STRING),
    ),
)
USER_SCRAM_CREDENTIAL: Final = Schema(
    "USER_SCRAM_CREDENTIAL_RECORD",
    11,
    0,
    (
        field("name", T.STRING),
        field("mechanism", T.INT8),
        field("salt", T.BYTES),
        field("storedKey", T.BYTES),
        field("serverKey", T.BYTES),
        field("iterations", T.INT32),
    ),
)
FEATURE_LEVEL: Final = Schema(
    "FEATURE_LEVEL_RECORD", 12, 0, (field("name", T.STRING), field("featureLevel", T.INT16))
)
CLIENT_QUOTA: Final = Schema(
    "CLIENT_QUOTA_RECORD",
    14,
    0,
    (
        array("entity", _QUOTA_ENTITY),
        field("key", T.STRING),
        field("value", T.FLOAT64),
        field("remove", T.BOOL),
    ),
)
PRODUCER_IDS: Final = Schema(
    "PRODUCER_IDS_RECORD",
    15,
    0,
    (
        field("brokerId", T.INT32),
        field("brokerEpoch", T.INT64, default=-1),
        field("nextProducerId", T.INT64),
    ),
)
BROKER_REGISTRATION_CHANGE: Final = Schema(
    "BROKER_REGISTRATION_CHANGE_RECORD",
    17,
    2,
    (
        field("brokerId", T.INT32),
        field("brokerEpoch", T.INT64),
        field("fenced", T.INT8, tag=0),
        field("inControlledShutdown", T.INT8, since=1, tag=1),
        array("logDirs", T.UUID, since=2, tag=2),
    ),
)
ACCESS_CONTROL_ENTRY: Final = Schema(
    "ACCESS_CONTROL_ENTRY_RECORD",
    18,
    0,
    (
        field("id", T.UUID),
        field("resourceType", T.INT8),
        field("resourceName", T.STRING),
        field("patternType", T.INT8),
        field("principal", T.STRING),
        field("host", T.STRING),
        field("operation", T.INT8),
        field("permissionType", T.INT8),
    ),
)
REMOVE_ACCESS_CONTROL_ENTRY: Final = Schema(
    "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", 19, 0, (field("id", T.UUID),)
)
NO_OP: Final = Schema("NO_OP_RECORD", 20, 0, ())
ZK_MIGRATION_STATE: Final = Schema(
    "ZK_MIGRATION_STATE_RECORD", 21, 0, (field("zkMigrationState", T.INT8),)
)
REMOVE_USER_SCRAM_CREDENTIAL: Final = Schema(
    "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
    22,
    0,
    (field("name", T.STRING), field("mechanism", T.INT8)),
)
BEGIN_TRANSACTION: Final = Schema(
    "BEGIN_TRANSACTION_RECORD",
    23,
    0,
    (field("name", T.STRING, tag=0, nullable=True, default=None),),
)
END_TRANSACTION: Final = Schema("END_TRANSACTION_RECORD", 24, 0, ())
ABORT_TRANSACTION: Final = Schema(
    "ABORT_TRANSACTION_RECORD",
    25,
    0,
    (field("reason", T.STRING, tag=0, nullable=True, default=None),),
)
REMOVE_DELEGATION_TOKEN: Final = Schema(
    "REMOVE_DELEGATION_TOKEN_RECORD", 26, 0, (field("tokenId", T.STRING),)
)
REGISTER_CONTROLLER: Final = Schema(
    "REGISTER_CONTROLLER_RECORD",
    27,
    0,
    (
        field("controllerId", T.INT32),
        field("incarnationId", T.UUID),
        field("zkMigrationReady", T.BOOL),
        array("endPoints", _ENDPOINT),
        array("features", _FEATURE),
    ),
)
CLEAR_ELR: Final = Schema("CLEAR_ELR_RECORD", 28, 0, (field("topicName", T.STRING),))

METADATA_SCHEMAS: Final[dict[int, Schema]] = {
    schema.api_key: schema
    for schema in (
        REGISTER_BROKER,
        UNREGISTER_BROKER,
        TOPIC,
        PARTITION,
        CONFIG,
        PARTITION_CHANGE,
        FENCE_BROKER,
        UNFENCE_BROKER,
        REMOVE_TOPIC,
        DELEGATION_TOKEN,
        USER_SCRAM_CREDENTIAL,
        FEATURE_LEVEL,
        CLIENT_QUOTA,
        PRODUCER_IDS,
        BROKER_REGISTRATION_CHANGE,
        ACCESS_CONTROL_ENTRY,
        REMOVE_ACCESS_CONTROL_ENTRY,
        NO_OP,
        ZK_MIGRATION_STATE,
        REMOVE_USER_SCRAM_CREDENTIAL,
        BEGIN_TRANSACTION,
        END_TRANSACTION,
        ABORT_TRANSACTION,
        REMOVE_DELEGATION_TOKEN,
        REGISTER_CONTROLLER,
        CLEAR_ELR,
    )
}
