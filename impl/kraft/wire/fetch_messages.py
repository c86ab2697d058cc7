"""The messages by which a replica fetches the log of the quorum, and its snapshots.

Kafka: KafkaRaftClient, RaftUtil.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.errors import ErrorCode
from kraft.ids import OffsetAndEpoch
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kraft.wire.message_map import MessageMap, Refusal
from kraft.wire.quorum_shape import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    MetadataPartition,
    QuorumResponse,
    about_metadata,
    names_leader,
    node_endpoints,
    wrong_cluster,
)
from kraft.wire.value_maps import (
    DIRECTORY_OR_NONE,
    ERROR,
    NODE_OR_NONE,
    THROTTLE,
    Constant,
    Field,
    Nested,
    Scalar,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Fields
    from kraft.wire.message_map import AskedRequest, FailedRequest

_NO_HIGH_WATERMARK: Final = 2**63 - 1
_BY_ID: Final = 12
"""The last version of Fetch that names topics. KIP-516."""
_NAMES_LEADER: Final = 17
"""The first version of Fetch in which Kafka's controllers name the leader; its schema has 16."""
_BYTES: Final = Scalar(lambda raw: b"" if raw is None else raw, lambda value: value)


def _end_of(raw: Fields) -> OffsetAndEpoch:
    return OffsetAndEpoch(raw["endOffset"], raw["epoch"])


def _diverging_of(raw: Fields) -> OffsetAndEpoch | None:
    """Return where logs diverge, if they do. Kafka: KafkaRaftClient.isPartitionDiverged."""
    return None if raw["epoch"] < 0 else _end_of(raw)


def _snapshot_of(raw: Fields) -> OffsetAndEpoch | None:
    """Return the snapshot to fetch, if any; one half of it may be nonsense.

    Kafka: KafkaRaftClient.handleFetchResponse.
    """
    return None if raw["epoch"] < 0 and raw["endOffset"] < 0 else _end_of(raw)


def _piece_of(raw: Fields) -> OffsetAndEpoch | None:
    """Return the snapshot that a response has a piece of; with an error it may have none."""
    return _end_of(raw) if raw["epoch"] or raw["endOffset"] else None


def _raw_end(none: int) -> Callable[[OffsetAndEpoch | None], Fields]:
    """Return the function that gives the struct of an end; it has `none` twice for no end."""

    def raw(value: OffsetAndEpoch | None) -> Fields:
        end = OffsetAndEpoch(none, none) if value is None else value
        return {"endOffset": end.end_offset, "epoch": end.epoch}

    return raw


_DIVERGING: Final = Scalar(_diverging_of, _raw_end(-1))
_SNAPSHOT: Final = Scalar(_snapshot_of, _raw_end(-1))
_PIECE: Final = Scalar(_piece_of, _raw_end(0))
_ASKED: Final = Scalar(_end_of, _raw_end(0))


def _directory(name: str, since: int) -> Field:
    return Field(name, "", DIRECTORY_OR_NONE, since=since, absent=None)


_FETCH_PARTITION: Final = MetadataPartition(
    "topics",
    "topic",
    "partition",
    (
        Field("currentLeaderEpoch", since=9, absent=-1),
        Field("fetchOffset"),
        Field("lastFetchedEpoch", since=12, absent=-1),
        Constant("logStartOffset", -1, since=5),
        Constant("partitionMaxBytes", 0),
        _directory("replicaDirectoryId", 17),
        Field("highWatermark", since=18, absent=_NO_HIGH_WATERMARK),
    ),
    named_until=_BY_ID,
)
_FETCH_REQUEST: Final = Struct(
    FetchRequest,
    (
        Field("clusterId", since=12, absent=None),
        Field("replicaId", until=14),
        Nested(
            "replicaState",
            (Field("replicaId", since=15), Constant("replicaEpoch", -1)),
            since=15,
        ),
        Field("maxWaitMs", "maximum_wait"),
        Constant("minBytes", 0),
        Field("maxBytes", "maximum_bytes"),
        Constant("isolationLevel", 0),
        Constant("sessionId", 0, since=7),
        Constant("sessionEpoch", -1, since=7),
        _FETCH_PARTITION,
        Constant("forgottenTopicsData", (), since=7),
        Constant("rackId", "", since=11),
    ),
)
_FETCHED: Final = Struct(
    FetchResponse,
    (
        THROTTLE,
        Constant("errorCode", 0, since=7),
        Constant("sessionId", 0, since=7),
        MetadataPartition(
            "responses",
            "topic",
            "partitionIndex",
            (
                ERROR,
                Field("highWatermark"),
                Constant("lastStableOffset", -1),
                Field("logStartOffset", since=5),
                Field("divergingEpoch", "diverging", _DIVERGING, since=12),
                Nested(
                    "currentLeader",
                    (
                        Field("leaderId", map=NODE_OR_NONE, since=12, absent=None),
                        Field("leaderEpoch", "epoch", since=12, absent=-1),
                    ),
                    since=12,
                ),
                Field("snapshotId", map=_SNAPSHOT, since=12),
                Constant("abortedTransactions", ()),
                Constant("preferredReadReplica", -1, since=11),
                Field("records", map=_BYTES),
            ),
            named_until=_BY_ID,
        ),
        Constant("nodeEndpoints", (), since=16),
    ),
)


def _fetch_failed(failed: FailedRequest) -> Fields:
    """Return the failure of a Fetch: before version 13 each partition has the error as well.

    Kafka: FetchRequest.getErrorResponse.
    """
    response = _fetch_refused(failed)
    if failed.version >= 7:
        response["sessionId"] = failed.request["sessionId"]
    if failed.version <= _BY_ID:
        response["responses"] = tuple(
            {
                "topic": topic["topic"],
                "partitions": tuple(
                    _failed_partition(one["partition"], failed.error, failed.version)
                    for one in topic["partitions"]
                ),
            }
            for topic in failed.request["topics"]
        )
    return response


def _fetch_refused(failed: FailedRequest) -> Fields:
    """Return a Fetch's refusal by the quorum. Kafka: KafkaRaftClient.handleFetchRequest."""
    response: Fields = {"throttleTimeMs": 0, "responses": ()}
    if failed.version >= 7:
        response |= {"errorCode": int(failed.error), "sessionId": 0}
    return response | ({"nodeEndpoints": ()} if failed.version >= 16 else {})


def _failed_partition(index: int, error: ErrorCode, version: int) -> Fields:
    """Return one partition of a failed Fetch. Kafka: FetchResponse.partitionResponse."""
    partition = {"partitionIndex": index, "errorCode": int(error), "highWatermark": -1}
    fetched: Fields = partition | {"lastStableOffset": -1, "abortedTransactions": ()}
    if version >= 5:
        fetched["logStartOffset"] = -1
    if version >= 11:
        fetched["preferredReadReplica"] = -1
    if version >= 12:
        none = {"endOffset": -1, "epoch": -1}
        fetched |= {"divergingEpoch": none, "snapshotId": none}
        fetched["currentLeader"] = {"leaderId": -1, "leaderEpoch": -1}
    return fetched | {"records": b""}


FETCH: Final = MessageMap(
    1,
    _FETCH_REQUEST,
    QuorumResponse(_FETCHED, _fetch_refused),
    _fetch_failed,
    about_metadata(_FETCH_PARTITION, _fetch_refused),
    completion=names_leader(_NAMES_LEADER, rack=None),
)
"""Kafka: FetchRequest, FetchResponse. KIP-595, KIP-853.

A replica that names topics, as before version 13, is refused: Kafka compares the topic's id.
"""


_SNAPSHOT_PARTITION: Final = MetadataPartition(
    "topics",
    "name",
    "partition",
    (
        Field("currentLeaderEpoch"),
        Field("snapshotId", map=_ASKED),
        Field("position"),
        _directory("replicaDirectoryId", 1),
    ),
)
_FETCH_SNAPSHOT_REQUEST: Final = Struct(
    FetchSnapshotRequest,
    (
        Field("clusterId"),
        Field("replicaId"),
        Field("maxBytes", "maximum_bytes"),
        _SNAPSHOT_PARTITION,
    ),
)
_SNAPSHOT_FETCHED: Final = Struct(
    FetchSnapshotResponse,
    (
        THROTTLE,
        Constant("errorCode", 0),
        MetadataPartition(
            "topics",
            "name",
            "index",
            (
                ERROR,
                Field("snapshotId", map=_PIECE),
                Nested(
                    "currentLeader",
                    (Field("leaderId", map=NODE_OR_NONE), Field("leaderEpoch", "epoch")),
                ),
                Field("size"),
                Field("position"),
                Field("unalignedRecords", "data", _BYTES),
            ),
        ),
        Constant("nodeEndpoints", (), since=1),
    ),
)


def _snapshot_failed(failed: FailedRequest) -> Fields:
    """Return the failure of a FetchSnapshot. Kafka: FetchSnapshotRequest.getErrorResponse."""
    response: Fields = {"throttleTimeMs": 0, "errorCode": int(failed.error), "topics": ()}
    return response | ({"nodeEndpoints": ()} if failed.version >= 1 else {})


def _check_snapshot(asked: AskedRequest) -> Refusal | None:
    """Refuse a FetchSnapshot that is not about the metadata partition.

    Kafka serves the metadata partition among others, and its process ends if there are no topics.
    Such requests are invalid here. Kafka: KafkaRaftClient.handleFetchSnapshotRequest.
    """
    error, topics = wrong_cluster(asked.fields, asked.around), asked.fields["topics"]
    if error is ErrorCode.NONE and [len(one["partitions"]) for one in topics] != [1]:
        error = ErrorCode.INVALID_REQUEST
    if error is not ErrorCode.NONE:
        return Refusal(_snapshot_failed(asked.failed(error)))
    name, index = topics[0]["name"], topics[0]["partitions"][0]["partition"]
    if (name, index) == (METADATA_TOPIC, METADATA_PARTITION):
        return None
    unknown = {
        "index": index,
        "errorCode": int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        "snapshotId": {"endOffset": 0, "epoch": 0},
        "currentLeader": {"leaderId": 0, "leaderEpoch": 0},
        "size": 0,
        "position": 0,
        "unalignedRecords": b"",
    }
    response = _snapshot_failed(asked.failed(ErrorCode.NONE))
    response["topics"] = ({"name": name, "partitions": (unknown,)},)
    if asked.version >= 1:
        response["nodeEndpoints"] = node_endpoints(asked.around, asked.around.leader_id)
    return Refusal(response)


FETCH_SNAPSHOT: Final = MessageMap(
    59,
    _FETCH_SNAPSHOT_REQUEST,
    QuorumResponse(_SNAPSHOT_FETCHED, _snapshot_failed),
    _snapshot_failed,
    _check_snapshot,
    completion=names_leader(1),
)
"""Kafka: FetchSnapshotRequest, FetchSnapshotResponse. KIP-630, KIP-853."""
