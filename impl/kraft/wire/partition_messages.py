"""The messages by which an operator moves partitions and their leaders.

Kafka: ControllerApis.handleElectLeaders, .handleAlterPartitionReassignments.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from kraft.rpc.elect_leaders import (
    PREFERRED_ELECTION,
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
)
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingReassignment,
    ReassignablePartition,
    ReassignedPartition,
)
from kraft.wire.message_map import DEFAULT_TIMEOUT_MS, MessageMap
from kraft.wire.value_maps import (
    CODE,
    ERROR,
    SENTENCE,
    THROTTLE,
    Array,
    Constant,
    Entry,
    Field,
    Grouped,
    Struct,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import FailedRequest, ResponseDraft

_TIMEOUT: Final = Constant("timeoutMs", DEFAULT_TIMEOUT_MS)


class _ElectableMap:
    """A map of partitions by topic to pairs of a name and an index; null is all partitions."""

    __slots__ = ()

    def decoded(self, raw: Any, _version: int) -> Any:
        """Return the pairs in the order of the message."""
        if raw is None:
            return None
        return tuple((one["topic"], index) for one in raw for index in one["partitions"])

    def encoded(self, value: Any, _version: int) -> Any:
        """Return the topics; pairs side by side with the same name are one topic."""
        if value is None:
            return None
        return tuple(
            {"topic": topic, "partitions": tuple(index for _, index in pairs)}
            for topic, pairs in groupby(value, itemgetter(0))
        )


_ELECTED: Final = Struct(
    ElectLeadersResponse,
    (
        THROTTLE,
        Field("errorCode", map=CODE, since=1),
        Grouped(
            "replicaElectionResults",
            "replica_election_results",
            (Field("topic"),),
            "partitionResult",
            Struct(PartitionResult, (Field("partitionId"), ERROR, SENTENCE)),
        ),
    ),
)


def _elect_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each partition, and of the whole. Of all partitions none is named.

    Kafka: ElectLeadersRequest.getErrorResponse.
    """
    each = {"errorCode": int(failed.error), "errorMessage": failed.sentence}
    results = tuple(
        {
            "topic": topic["topic"],
            "partitionResult": tuple(
                {"partitionId": index, **each} for index in topic["partitions"]
            ),
        }
        for topic in failed.request["topicPartitions"] or ()
    )
    response: Fields = {"throttleTimeMs": 0, "replicaElectionResults": results}
    return response | ({"errorCode": int(failed.error)} if failed.version >= 1 else {})


ELECT_LEADERS: Final = MessageMap(
    43,
    Struct(
        ElectLeadersRequest,
        (
            Field("electionType", since=1, absent=PREFERRED_ELECTION, ignorable=False),
            Field("topicPartitions", map=_ElectableMap()),
            _TIMEOUT,
        ),
    ),
    _ELECTED,
    _elect_failed,
    has_deadline=True,
)
"""Kafka: ElectLeadersRequest, ElectLeadersResponse. KIP-460."""

_REASSIGNED: Final = Struct(
    AlterPartitionReassignmentsResponse,
    (
        THROTTLE,
        Constant("allowReplicationFactorChange", content=True, since=1),
        Constant("errorCode", 0),
        Constant("errorMessage", None),
        Grouped(
            "responses",
            "responses",
            (Field("name"),),
            "partitions",
            Struct(ReassignedPartition, (Field("partitionIndex"), ERROR, SENTENCE)),
        ),
    ),
)


def _with_permission(draft: ResponseDraft) -> Fields:
    """Repeat whether the number of replicas was allowed to change.

    Kafka: QuorumController.alterPartitionReassignments. KIP-860.
    """
    if draft.version >= 1:
        allowed = "allowReplicationFactorChange"
        draft.fields[allowed] = draft.request[allowed]
    return draft.fields


def _reassign_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each partition, and of the whole.

    Kafka: AlterPartitionReassignmentsRequest.getErrorResponse.
    """
    each = {"errorCode": int(failed.error), "errorMessage": failed.sentence}
    responses = tuple(
        {
            "name": topic["name"],
            "partitions": tuple(
                {"partitionIndex": one["partitionIndex"], **each} for one in topic["partitions"]
            ),
        }
        for topic in failed.request["topics"]
    )
    allowed = {"allowReplicationFactorChange": True} if failed.version >= 1 else {}
    return {"throttleTimeMs": 0, **allowed, **each, "responses": responses}


ALTER_PARTITION_REASSIGNMENTS: Final = MessageMap(
    45,
    Struct(
        AlterPartitionReassignmentsRequest,
        (
            _TIMEOUT,
            Field("allowReplicationFactorChange", since=1, absent=True, ignorable=False),
            Grouped(
                "topics",
                "partitions",
                (Field("name"),),
                "partitions",
                Struct(ReassignablePartition, (Field("partitionIndex"), Field("replicas"))),
            ),
        ),
    ),
    _REASSIGNED,
    _reassign_failed,
    completion=_with_permission,
    has_deadline=True,
)
"""Kafka: AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse. KIP-455."""

_LISTED: Final = Struct(
    ListPartitionReassignmentsResponse,
    (
        THROTTLE,
        Constant("errorCode", 0),
        Constant("errorMessage", None),
        Grouped(
            "topics",
            "topics",
            (Field("name"),),
            "partitions",
            Struct(
                OngoingReassignment,
                (
                    Field("partitionIndex"),
                    Field("replicas"),
                    Field("addingReplicas"),
                    Field("removingReplicas"),
                ),
            ),
        ),
    ),
)


def _list_failed(failed: FailedRequest) -> Fields:
    """Return the failure of the whole, with the partitions that were asked for.

    Kafka: ListPartitionReassignmentsRequest.getErrorResponse.
    """
    nothing = {"replicas": (), "addingReplicas": (), "removingReplicas": ()}
    topics = tuple(
        {
            "name": topic["name"],
            "partitions": tuple(
                {"partitionIndex": index, **nothing} for index in topic["partitionIndexes"]
            ),
        }
        for topic in failed.request["topics"] or ()
    )
    each = {"errorCode": int(failed.error), "errorMessage": failed.sentence}
    return {"throttleTimeMs": 0, **each, "topics": topics}


LIST_PARTITION_REASSIGNMENTS: Final = MessageMap(
    46,
    Struct(
        ListPartitionReassignmentsRequest,
        (_TIMEOUT, Field("topics", map=Array(Entry(("name", "partitionIndexes"))))),
    ),
    _LISTED,
    _list_failed,
)
"""Kafka: ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse. KIP-455."""
