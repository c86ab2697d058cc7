"""Schemas of the requests that brokers and controllers send to the active controller.

Kafka: ApiMessageType, from `common/message/*.json` in kafka-clients-4.1.0.jar.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field

BROKER_REGISTRATION_REQUEST: Final = Schema(
    "BrokerRegistrationRequest",
    62,
    4,
    fields=(
        field("brokerId", T.INT32),
        field("clusterId", T.STRING),
        field("incarnationId", T.UUID),
        array(
            "listeners",
            (
                field("name", T.STRING),
                field("host", T.STRING),
                field("port", T.UINT16),
                field("securityProtocol", T.INT16),
            ),
        ),
        array(
            "features",
            (
                field("name", T.STRING),
                field("minSupportedVersion", T.INT16),
                field("maxSupportedVersion", T.INT16),
            ),
        ),
        field("rack", T.STRING, nullable=True),
        field("isMigratingZkBroker", T.BOOL, since=1),
        array("logDirs", T.UUID, since=2, ignorable=True),
        field("previousBrokerEpoch", T.INT64, since=3, default=-1, ignorable=True),
    ),
)
BROKER_REGISTRATION_RESPONSE: Final = Schema(
    "BrokerRegistrationResponse",
    62,
    4,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("brokerEpoch", T.INT64, default=-1),
    ),
)
BROKER_HEARTBEAT_REQUEST: Final = Schema(
    "BrokerHeartbeatRequest",
    63,
    1,
    fields=(
        field("brokerId", T.INT32),
        field("brokerEpoch", T.INT64, default=-1),
        field("currentMetadataOffset", T.INT64),
        field("wantFence", T.BOOL),
        field("wantShutDown", T.BOOL),
        array("offlineLogDirs", T.UUID, since=1, tag=0),
    ),
)
BROKER_HEARTBEAT_RESPONSE: Final = Schema(
    "BrokerHeartbeatResponse",
    63,
    1,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("isCaughtUp", T.BOOL),
        field("isFenced", T.BOOL, default=True),
        field("shouldShutDown", T.BOOL),
    ),
)
UNREGISTER_BROKER_REQUEST: Final = Schema(
    "UnregisterBrokerRequest", 64, 0, fields=(field("brokerId", T.INT32),)
)
UNREGISTER_BROKER_RESPONSE: Final = Schema(
    "UnregisterBrokerResponse",
    64,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
    ),
)
CONTROLLER_REGISTRATION_REQUEST: Final = Schema(
    "ControllerRegistrationRequest",
    70,
    0,
    fields=(
        field("controllerId", T.INT32),
        field("incarnationId", T.UUID),
        field("zkMigrationReady", T.BOOL),
        array(
            "listeners",
            (
                field("name", T.STRING),
                field("host", T.STRING),
                field("port", T.UINT16),
                field("securityProtocol", T.INT16),
            ),
        ),
        array(
            "features",
            (
                field("name", T.STRING),
                field("minSupportedVersion", T.INT16),
                field("maxSupportedVersion", T.INT16),
            ),
        ),
    ),
)
CONTROLLER_REGISTRATION_RESPONSE: Final = Schema(
    "ControllerRegistrationResponse",
    70,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("errorMessage", T.STRING, nullable=True),
    ),
)
ALLOCATE_PRODUCER_IDS_REQUEST: Final = Schema(
    "AllocateProducerIdsRequest",
    67,
    0,
    fields=(field("brokerId", T.INT32), field("brokerEpoch", T.INT64, default=-1)),
)
ALLOCATE_PRODUCER_IDS_RESPONSE: Final = Schema(
    "AllocateProducerIdsResponse",
    67,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        field("producerIdStart", T.INT64),
        field("producerIdLen", T.INT32),
    ),
)
ASSIGN_REPLICAS_TO_DIRS_REQUEST: Final = Schema(
    "AssignReplicasToDirsRequest",
    73,
    0,
    fields=(
        field("brokerId", T.INT32),
        field("brokerEpoch", T.INT64, default=-1),
        array(
            "directories",
            (
                field("id", T.UUID),
                array(
                    "topics",
                    (
                        field("topicId", T.UUID),
                        array("partitions", (field("partitionIndex", T.INT32),)),
                    ),
                ),
            ),
        ),
    ),
)
ASSIGN_REPLICAS_TO_DIRS_RESPONSE: Final = Schema(
    "AssignReplicasToDirsResponse",
    73,
    0,
    fields=(
        field("throttleTimeMs", T.INT32),
        field("errorCode", T.INT16),
        array(
            "directories",
            (
                field("id", T.UUID),
                array(
                    "topics",
                    (
                        field("topicId", T.UUID),
                        array(
                            "partitions",
                            (field("partitionIndex", T.INT32), field("errorCode", T.INT16)),
                        ),
                    ),
                ),
            ),
        ),
    ),
)
