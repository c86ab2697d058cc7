"""One API of the protocol as a controller serves and asks it: its fields, and the values they mean.

Kafka: AbstractRequest, AbstractResponse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kraft.errors import ErrorCode
from kraft.wire.apis import CONTROLLER_APIS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.ids import NodeId, TopicId
    from kraft.records.schema import Fields
    from kraft.rpc.endpoints import Endpoint, Endpoints
    from kraft.wire.value_maps import ValueMap


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a node knows that a message needs: its cluster, its leader, addresses, topics.

    `listener` is the one by which the request came in: answers name the leader's address there.
    `voters` says where the voters listen, as the log has it, and `endpoints` where any node does.
    `topic_ids` are all topics by name, when the request comes.

    Kafka: RaftRequest.Inbound.listenerName, QuorumState.leaderEndpoints.
    """

    cluster_id: str | None = None
    listener: str = ""
    leader_id: NodeId | None = None
    endpoints: Mapping[NodeId, Endpoints] = field(default_factory=dict)
    voters: Mapping[NodeId, Endpoints] = field(default_factory=dict)
    topic_ids: Mapping[str, TopicId] = field(default_factory=dict)

    def address(self, node_id: NodeId | None) -> Endpoint | None:
        """Return where a node listens by the listener of the request, None if not known."""
        if node_id is None:
            return None
        for endpoint in self.endpoints.get(node_id, ()):
            if endpoint.listener == self.listener:
                return endpoint
        return None


DEFAULT_TIMEOUT_MS: Final = 60_000
"""How long requests of this node may take, as by default in Kafka's schemas."""
NOWHERE: Final = Surroundings()
"""The surroundings of a node that knows nothing."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The whole response to a request that no value can hold: `fields` of its version."""

    fields: Fields


@dataclass(frozen=True, slots=True)
class Malformed:
    """A request that Kafka does not answer: it closes the connection.

    Kafka: RequestContext.parseRequest, SocketServer.processCompletedReceives.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A request that failed as a whole; `sentence` is for people, None for the error's own one."""

    error: ErrorCode
    sentence: str | None
    request: Fields
    version: int


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """A request as it was received, and the surroundings of the node then."""

    fields: Fields
    version: int
    around: Surroundings

    def failed(self, error: ErrorCode, sentence: str | None = None) -> FailedRequest:
        """Return the request as one that failed."""
        return FailedRequest(error, sentence, self.fields, self.version)


@dataclass(frozen=True, slots=True)
class ResponseDraft:
    """A response whose `fields` hold the content of its value, beside what it answers."""

    fields: Fields
    value: Any
    request: Fields
    version: int
    around: Surroundings


FailureForm = Callable[[FailedRequest], "Fields"]
"""Gives the fields of the response to a failed request."""
Check = Callable[[AskedRequest], "Refusal | Malformed | None"]
"""Says why a request cannot become a value, None if it can."""
Completion = Callable[[ResponseDraft], "Fields"]
"""Adds to the fields of a response what is not in its value."""


@dataclass(frozen=True, slots=True)
class MessageMap:
    """An API of a 4.1 controller: its key and its maps.

    `check` refuses requests that no value can hold, `resolution` reads one with its surroundings,
    `completion` adds to a response what is not in its value.

    An absent sentence for people is null: a client then shows the one that belongs to the error.
    Kafka sends that one itself in some places, and an empty text in others.

    Kafka: ApiKeys, ControllerApis. KIP-896 for the oldest versions.
    """

    api_key: int
    request: ValueMap
    response: ValueMap
    failure_form: FailureForm
    check: Check | None = None
    resolution: Callable[[AskedRequest], Any] | None = None
    completion: Completion | None = None
    has_deadline: bool = False

    @property
    def versions(self) -> range:
        """The versions that a 4.1 controller serves."""
        schema = CONTROLLER_APIS[self.api_key].request
        return range(schema.oldest, schema.newest + 1)

    def request_of(
        self, fields: Fields, version: int, around: Surroundings = NOWHERE
    ) -> Any | Refusal | Malformed:
        """Return the request as a value of `kraft.rpc`, or how it is refused without one.

        Kafka: AbstractRequest.parseRequest.
        """
        received = AskedRequest(fields, version, around)
        refused = None if self.check is None else self.check(received)
        if refused is not None:
            return refused
        if self.resolution is not None:
            return self.resolution(received)
        return self.request.decoded(fields, version)

    def request_fields(self, value: Any, version: int) -> Fields:
        """Return the fields of a request that this node sends.

        Raises UnsupportedFieldError for a value that this version cannot say, unless it may be
        lost. Kafka: AbstractRequest.Builder.build.
        """
        fields: Fields = self.request.encoded(value, version)
        return fields

    def response_fields(
        self, value: Any, request: Fields, version: int, around: Surroundings = NOWHERE
    ) -> Fields:
        """Return the fields of the response to a request, in that request's version.

        `request` are its fields; `around` has the `topic_ids` that it was read with, and else what
        the node knows now.
        """
        fields: Fields = self.response.encoded(value, version)
        if self.completion is None:
            return fields
        return self.completion(ResponseDraft(fields, value, request, version, around))

    def response_of(self, fields: Fields, version: int) -> Any:
        """Return a response that this node received, as a value.

        One with another shape than its request allows is UNKNOWN_SERVER_ERROR of no epoch.
        """
        return self.response.decoded(fields, version)

    def failure_fields(
        self, error: ErrorCode, sentence: str | None, request: Fields, version: int
    ) -> Fields:
        """Return the response that says that the whole request failed.

        Of an unknown error no client learns more than that.
        Kafka: AbstractRequest.getErrorResponse, ApiError.fromThrowable.
        """
        known = None if error is ErrorCode.UNKNOWN_SERVER_ERROR else sentence or None
        return self.failure_form(FailedRequest(error, known, request, version))

    def timeout_ms(self, request: Fields) -> int | None:
        """Return after how long a request that waits is given up; None if it is not.

        Kafka: ControllerApis, requestTimeoutMsToDeadlineNs.
        """
        timeout: int | None = request["timeoutMs"] if self.has_deadline else None
        return timeout
