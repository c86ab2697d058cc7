"""What the messages of the quorum share: the metadata partition, epochs, endpoints of the leader.

Until there are several quorums on a node, each message is about partition 0 of the metadata topic.

Kafka: RaftUtil, KafkaRaftClient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import ErrorCode
from kraft.ids import METADATA_TOPIC_ID, NodeId
from kraft.rpc.endpoints import Endpoint
from kraft.wire.message_map import FailedRequest, Refusal, Surroundings
from kraft.wire.value_maps import (
    NEWEST,
    Field,
    ShapeError,
    Struct,
    error_code,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.rpc.endpoints import Endpoints
    from kraft.wire.message_map import (
        AskedRequest,
        Check,
        Completion,
        FailureForm,
        ResponseDraft,
    )
    from kraft.wire.value_maps import ValuePart

METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_PARTITION: Final = 0
NO_EPOCH: Final = -1
"""The epoch of a response that tells none: below each that a replica may be in."""

_ENDPOINT: Final = Struct(Endpoint, (Field("name", "listener"), Field("host"), Field("port")))


@dataclass(frozen=True, slots=True)
class EndpointsMap:
    """A map of a node's listeners. Names are in capitals; of two with one name the last counts.

    Kafka: Endpoints.fromBeginQuorumEpochRequest, ListenerName.normalised.
    """

    def decoded(self, raw: Any, _version: int) -> Endpoints:
        """Return the listeners in the order of their names."""
        by_name = {one["name"].upper(): one for one in raw}
        return tuple([Endpoint(n, by_name[n]["host"], by_name[n]["port"]) for n in sorted(by_name)])

    def encoded(self, value: Endpoints, version: int) -> tuple[Fields, ...]:
        """Return the listeners as an array."""
        return tuple([_ENDPOINT.encoded(one, version) for one in value])


ENDPOINTS: Final = EndpointsMap()


@dataclass(frozen=True, slots=True)
class MetadataPartition:
    """The array of topics of a message about the metadata partition; `parts` are the partition's.

    The topic has its name until version `named_until`, then its id.

    Kafka: RaftUtil.hasValidTopicPartition.
    """

    topics: str
    name: str
    index: str
    parts: tuple[ValuePart, ...]
    named_until: int = NEWEST

    def partition(self, fields: Fields, version: int) -> Fields:
        """Return the one partition. Raises ShapeError if there is another one, or none."""
        topics = fields[self.topics]
        if len(topics) != 1 or len(topics[0]["partitions"]) != 1:
            raise ShapeError("not about one partition")
        topic, partition = topics[0], topics[0]["partitions"][0]
        # Kafka compares ids where it has them, and refuses Fetch in versions without any.
        known = METADATA_TOPIC_ID if self.named_until < NEWEST else METADATA_TOPIC
        if (
            topic.get(self._topic_key(version)) != known
            or partition[self.index] != METADATA_PARTITION
        ):
            raise ShapeError("not about the metadata partition")
        found: Fields = partition
        return found

    def take(self, fields: Fields, version: int, attributes: dict[str, Any]) -> None:
        """Add the attributes that the partition has. Raises ShapeError as `partition`."""
        partition = self.partition(fields, version)
        for part in self.parts:
            part.take(partition, version, attributes)

    def put(self, value: Any, version: int, fields: Fields) -> None:
        """Add the array of topics."""
        partition: Fields = {self.index: METADATA_PARTITION}
        for part in self.parts:
            part.put(value, version, partition)
        key = self._topic_key(version)
        topic = METADATA_TOPIC if key == self.name else METADATA_TOPIC_ID
        fields[self.topics] = ({key: topic, "partitions": (partition,)},)

    def _topic_key(self, version: int) -> str:
        return self.name if version <= self.named_until else "topicId"


@dataclass(frozen=True, slots=True)
class QuorumResponse:
    """A map of the response about the metadata partition: `struct`, with its errors.

    A wrong cluster id fails the request as a whole; all other errors are the partition's. What is
    received with a failure as a whole, or about another partition, says an error of NO_EPOCH.

    Kafka: KafkaRaftClient.handleVoteRequest, KafkaRaftClient.handleTopLevelError.
    """

    struct: Struct
    failure_form: FailureForm

    def decoded(self, raw: Fields, version: int) -> Any:
        """Return the response."""
        failed = error_code(raw.get("errorCode", 0))
        if failed is ErrorCode.NONE:
            try:
                value = self.struct.decoded(raw, version)
            except ShapeError:
                failed = ErrorCode.UNKNOWN_SERVER_ERROR
            else:
                if value.error_code is not ErrorCode.INCONSISTENT_CLUSTER_ID:
                    return value
                failed = value.error_code
        return self.struct.of(error_code=failed, epoch=NO_EPOCH, leader_id=None)

    def encoded(self, value: Any, version: int) -> Fields:
        """Return the fields of the response."""
        if value.error_code is ErrorCode.INCONSISTENT_CLUSTER_ID:
            return self.failure_form(FailedRequest(value.error_code, None, {}, version))
        return self.struct.encoded(value, version)


def about_metadata(partition: MetadataPartition, failure_form: FailureForm) -> Check:
    """Return the check of a request to the quorum: its cluster, then its one partition.

    Kafka: KafkaRaftClient.handleVoteRequest, which refuses with INVALID_REQUEST.
    """

    def check(asked: AskedRequest) -> Refusal | None:
        error = wrong_cluster(asked.fields, asked.around)
        if error is ErrorCode.NONE:
            try:
                partition.partition(asked.fields, asked.version)
            except ShapeError:
                error = ErrorCode.INVALID_REQUEST
        if error is ErrorCode.NONE:
            return None
        return Refusal(failure_form(asked.failed(error)))

    return check


def wrong_cluster(request: Fields, around: Surroundings) -> ErrorCode:
    """Return INCONSISTENT_CLUSTER_ID for a request to another cluster than this node's, or NONE.

    Kafka: KafkaRaftClient.hasValidClusterId.
    """
    asked = request.get("clusterId")
    if asked is None or around.cluster_id in (None, asked):
        return ErrorCode.NONE
    return ErrorCode.INCONSISTENT_CLUSTER_ID


def names_leader(since: int, **more: Any) -> Completion:
    """Return what adds the leader's address to a response, from version `since` on.

    Each endpoint also has the entries `more`. Kafka: RaftUtil.singletonVoteResponse.
    """

    def completion(draft: ResponseDraft) -> Fields:
        response, leader_id = draft.fields, draft.value.leader_id
        failed = response.get("errorCode", 0) != 0
        if draft.version >= since and not failed:
            response["nodeEndpoints"] = node_endpoints(draft.around, leader_id, **more)
        return response

    return completion


def node_endpoints(
    around: Surroundings, leader_id: NodeId | None, **more: Any
) -> tuple[Fields, ...]:
    """Return the leader's address as an array of at most one endpoint."""
    endpoint = around.address(leader_id)
    if endpoint is None:
        return ()
    return ({"nodeId": leader_id, "host": endpoint.host, "port": endpoint.port, **more},)


def endpoints_told(response: Fields, listener: str) -> dict[NodeId, Endpoints]:
    """Return where nodes listen, as a response of another controller tells.

    `listener` is the controllers' own default listener. Kafka: Endpoints.fromVoteResponse.
    """
    return {
        NodeId(one["nodeId"]): (Endpoint(listener, one["host"], one["port"]),)
        for one in response.get("nodeEndpoints", ())
    }
