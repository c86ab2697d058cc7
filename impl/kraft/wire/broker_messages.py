"""The messages that brokers and controllers send to the active controller about themselves.

Kafka: ControllerApis, NodeToControllerRequestThread. KIP-631.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import ErrorCode
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from kraft.rpc.alter_partition import (
    AlteredPartition,
    AlterPartitionData,
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
)
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from kraft.rpc.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kraft.rpc.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from kraft.rpc.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kraft.rpc.node_description import Listener, SupportedFeature
from kraft.rpc.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kraft.wire.message_map import MessageMap
from kraft.wire.value_maps import (
    ERROR,
    SENTENCE,
    THROTTLE,
    Array,
    Field,
    Grouped,
    Scalar,
    Struct,
    error_code,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.records.schema import Fields
    from kraft.wire.message_map import FailedRequest, FailureForm, ResponseDraft
    from kraft.wire.value_maps import ValuePart

_BROKER: Final = (Field("brokerId"), Field("brokerEpoch"))
_LISTENERS: Final = Field(
    "listeners",
    map=Array(
        Struct(Listener, (Field("name"), Field("host"), Field("port"), Field("securityProtocol")))
    ),
)
_FEATURES: Final = Field(
    "features",
    map=Array(
        Struct(
            SupportedFeature,
            (
                Field("name"),
                Field("minSupportedVersion", "minimum"),
                Field("maxSupportedVersion", "maximum"),
            ),
        )
    ),
)


def _only_error(response: Struct) -> FailureForm:
    """Return the failure of a response that has one error, and its defaults for the rest.

    Kafka: BrokerRegistrationRequest.getErrorResponse.
    """

    def failure_form(failed: FailedRequest) -> Fields:
        return response.encoded(response.of(error_code=failed.error), failed.version)

    return failure_form


def _message(api_key: int, request: Struct, of: Any, *more: ValuePart) -> MessageMap:
    response = Struct(of, (THROTTLE, ERROR, *more))
    return MessageMap(api_key, request, response, _only_error(response))


BROKER_REGISTRATION: Final = _message(
    62,
    Struct(
        BrokerRegistrationRequest,
        (
            Field("brokerId"),
            Field("clusterId"),
            Field("incarnationId"),
            _LISTENERS,
            _FEATURES,
            Field("rack"),
            Field("isMigratingZkBroker", since=1, absent=False, ignorable=False),
            Field("logDirs", since=2),
            Field("previousBrokerEpoch", since=3),
        ),
    ),
    BrokerRegistrationResponse,
    Field("brokerEpoch"),
)
"""Kafka: BrokerRegistrationRequest, BrokerRegistrationResponse. KIP-631, KIP-858, KIP-966."""

BROKER_HEARTBEAT: Final = _message(
    63,
    Struct(
        BrokerHeartbeatRequest,
        (
            *_BROKER,
            Field("currentMetadataOffset"),
            Field("wantFence"),
            Field("wantShutDown"),
            Field("offlineLogDirs", since=1, absent=(), ignorable=False),
        ),
    ),
    BrokerHeartbeatResponse,
    Field("isCaughtUp"),
    Field("isFenced"),
    Field("shouldShutDown"),
)
"""Kafka: BrokerHeartbeatRequest, BrokerHeartbeatResponse. KIP-631, KIP-858."""


def _unregister_failed(failed: FailedRequest) -> Fields:
    """Return the failure with its sentence. Kafka: UnregisterBrokerRequest.getErrorResponse."""
    return {
        "throttleTimeMs": 0,
        "errorCode": int(failed.error),
        "errorMessage": failed.sentence,
    }


UNREGISTER_BROKER: Final = MessageMap(
    64,
    Struct(UnregisterBrokerRequest, (Field("brokerId"),)),
    Struct(UnregisterBrokerResponse, (THROTTLE, ERROR, SENTENCE)),
    _unregister_failed,
)
"""Kafka: UnregisterBrokerRequest, UnregisterBrokerResponse. KIP-631."""

CONTROLLER_REGISTRATION: Final = _message(
    70,
    Struct(
        ControllerRegistrationRequest,
        (
            Field("controllerId"),
            Field("incarnationId"),
            Field("zkMigrationReady"),
            _LISTENERS,
            _FEATURES,
        ),
    ),
    ControllerRegistrationResponse,
    Field("errorMessage"),
)
"""Kafka: ControllerRegistrationRequest, ControllerRegistrationResponse. KIP-919."""

ALLOCATE_PRODUCER_IDS: Final = _message(
    67,
    Struct(AllocateProducerIdsRequest, _BROKER),
    AllocateProducerIdsResponse,
    Field("producerIdStart"),
    Field("producerIdLen"),
)
"""Kafka: AllocateProducerIdsRequest, AllocateProducerIdsResponse. KIP-730."""

_ISR_IDS: Final = Array(Scalar(BrokerState, lambda value: value.broker_id))
_ISR: Final = Array(Struct(BrokerState, _BROKER))
ALTER_PARTITION: Final = _message(
    56,
    Struct(
        AlterPartitionRequest,
        (
            *_BROKER,
            Grouped(
                "topics",
                "partitions",
                (Field("topicId"),),
                "partitions",
                Struct(
                    AlterPartitionData,
                    (
                        Field("partitionIndex"),
                        Field("leaderEpoch"),
                        Field("newIsr", "new_isr_with_epochs", _ISR_IDS, until=2),
                        Field("newIsrWithEpochs", map=_ISR, since=3),
                        Field("leaderRecoveryState"),
                        Field("partitionEpoch"),
                    ),
                ),
            ),
        ),
    ),
    AlterPartitionResponse,
    Grouped(
        "topics",
        "partitions",
        (Field("topicId"),),
        "partitions",
        Struct(
            AlteredPartition,
            (
                Field("partitionIndex"),
                ERROR,
                Field("leaderId"),
                Field("leaderEpoch"),
                Field("isr"),
                Field("leaderRecoveryState"),
                Field("partitionEpoch"),
            ),
        ),
    ),
)
"""Kafka: AlterPartitionRequest, AlterPartitionResponse. KIP-497, KIP-841, KIP-903."""


class _AssignmentsMap:
    """A map of an AssignReplicasToDirs request: directories with topics with partitions."""

    __slots__ = ()

    def decoded(self, raw: Fields, _version: int) -> AssignReplicasToDirsRequest:
        """Return the request, its assignments in the order of the message."""
        assignments = tuple(
            (directory["id"], topic["topicId"], partition["partitionIndex"])
            for directory in raw["directories"]
            for topic in directory["topics"]
            for partition in topic["partitions"]
        )
        return AssignReplicasToDirsRequest(raw["brokerId"], raw["brokerEpoch"], assignments)

    def encoded(self, value: AssignReplicasToDirsRequest, _version: int) -> Fields:
        """Return the fields; what stands side by side in one directory or topic is together."""
        directories = tuple(
            {"id": directory, "topics": _topics_of(assignments)}
            for directory, assignments in groupby(value.assignments, itemgetter(0))
        )
        return {
            "brokerId": value.broker_id,
            "brokerEpoch": value.broker_epoch,
            "directories": directories,
        }


def _topics_of(assignments: Iterable[tuple[str, str, int]]) -> tuple[Fields, ...]:
    return tuple(
        {"topicId": topic, "partitions": tuple({"partitionIndex": one[2]} for one in same_topic)}
        for topic, same_topic in groupby(assignments, itemgetter(1))
    )


class _AssignedMap:
    """A map of an AssignReplicasToDirs response: an error for each partition, without its place."""

    __slots__ = ()

    def decoded(self, raw: Fields, _version: int) -> AssignReplicasToDirsResponse:
        """Return the response, its errors in the order of the message."""
        errors = tuple(
            error_code(partition["errorCode"])
            for directory in raw["directories"]
            for topic in directory["topics"]
            for partition in topic["partitions"]
        )
        return AssignReplicasToDirsResponse(error_code(raw["errorCode"]), errors)

    def encoded(self, value: AssignReplicasToDirsResponse, _version: int) -> Fields:
        """Return the fields, without the partitions."""
        return {"throttleTimeMs": 0, "errorCode": int(value.error_code), "directories": ()}


def _assigned_as_asked(draft: ResponseDraft) -> Fields:
    """Add the errors of the partitions, nested as in the request.

    Kafka: ReplicationControlManager.handleAssignReplicasToDirs.
    """
    if draft.value.error_code is not ErrorCode.NONE:
        return draft.fields
    errors = iter(draft.value.partitions)
    draft.fields["directories"] = tuple(
        {
            "id": directory["id"],
            "topics": tuple(
                {
                    "topicId": topic["topicId"],
                    "partitions": tuple(
                        {
                            "partitionIndex": partition["partitionIndex"],
                            "errorCode": int(next(errors)),
                        }
                        for partition in topic["partitions"]
                    ),
                }
                for topic in directory["topics"]
            ),
        }
        for directory in draft.request["directories"]
    )
    return draft.fields


def _assign_failed(failed: FailedRequest) -> Fields:
    """Return the failure. Kafka: AssignReplicasToDirsRequest.getErrorResponse."""
    return {"throttleTimeMs": 0, "errorCode": int(failed.error), "directories": ()}


ASSIGN_REPLICAS_TO_DIRS: Final = MessageMap(
    73,
    _AssignmentsMap(),
    _AssignedMap(),
    _assign_failed,
    completion=_assigned_as_asked,
)
"""Kafka: AssignReplicasToDirsRequest, AssignReplicasToDirsResponse. KIP-858."""
