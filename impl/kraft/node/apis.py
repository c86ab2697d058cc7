"""Requests of others: from bytes to the process, and from its answers to bytes.

Kafka: ControllerApis.handle, EnvelopeUtils.handleEnvelopeRequest, RequestChannel.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.controller.effects import Failure
from kraft.controller.state import visible
from kraft.errors import (
    CorruptMessageError,
    ErrorCode,
    LimitExceededError,
    UnsupportedVersionError,
)
from kraft.hosting.outside import RAFT_MESSAGES
from kraft.node.callers import Caller, refused_token_request, with_principal
from kraft.node.described_configs import with_effective_configs
from kraft.node.local_reads import LOCAL_READS, NodeView
from kraft.node.loggers import alter_loggers
from kraft.node.loop import NO_NODE, Arrived
from kraft.node.request_checks import refusal_of
from kraft.rpc.configurations import AlterConfigsResponse, IncrementalAlterConfigsRequest
from kraft.rpc.envelope import EnvelopeRequest, EnvelopeResponse
from kraft.rpc.topics import CreateTopicsRequest
from kraft.wire.api_versions import answer_to_unsupported
from kraft.wire.cluster_messages import says_not_controller
from kraft.wire.message_map import Malformed, Refusal, Surroundings
from kraft.wire.message_maps import MESSAGE_MAPS
from kraft.wire.principals import read_principal
from kraft.wire.requests import ReceivedRequest, read_request, response_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.ids import TopicId
    from kraft.node.addresses import Addresses
    from kraft.node.inbound import Inbound
    from kraft.node.loop import NodeLoop
    from kraft.node.outside import NodeOutside
    from kraft.records.schema import Fields
    from kraft.rpc.topics import CreateTopicsResponse
    from kraft.wire.apis import Api
    from kraft.wire.message_map import MessageMap

_MILLISECONDS: Final = 1000


class _Asked(NamedTuple):
    """A request on its way through a node, and what takes the fields of its response.

    `around` gives the surroundings of the node when it is asked. `amended` adds what the node
    knows to a response of the controller.
    """

    received: ReceivedRequest
    message: MessageMap
    topic_ids: Mapping[str, TopicId]
    around: Callable[[], Surroundings]
    caller: Caller
    connection: Inbound
    answer: Callable[[Fields], None]
    amended: Callable[[Any], Any] | None = None

    def respond(self, value: Any) -> None:
        """Answer with a value of `kraft.rpc`, or a Failure of the whole request."""
        fields, version = self.received.fields, self.received.header.api_version
        try:
            if isinstance(value, Failure):
                told = self.message.failure_fields(value.error_code, value.reason, fields, version)
            else:
                if self.amended is not None:
                    value = self.amended(value)
                around = replace(self.around(), topic_ids=self.topic_ids)
                told = self.message.response_fields(value, fields, version, around)
            self.answer(told)
        except Exception:  # noqa: BLE001 - a fault in one answer must not end the controller
            self.connection.fail()


class Apis:
    """Serves the requests of connections: by itself, by Raft, or by the controller.

    `answered` is told of each answer: the API, the version, the fields, and the nanoseconds since
    the request came. `timed_out` counts the requests that took too long.
    """

    __slots__ = ("_addresses", "_loop", "_outside", "_view", "answered", "timed_out")

    def __init__(
        self, view: NodeView, loop: NodeLoop, outside: NodeOutside, addresses: Addresses
    ) -> None:
        self._view = view
        self._loop = loop
        self._outside = outside
        self._addresses = addresses
        self.answered: Callable[[Api, int, Fields, int], None] = lambda *_: None
        self.timed_out = 0

    def serve(self, frame: bytes, connection: Inbound) -> None:
        """Answer the request in a frame on its connection, now or later.

        Raises CorruptMessageError, LimitExceededError or UnsupportedVersionError if the connection
        has to end.
        Kafka: SocketServer.processCompletedReceives.
        """
        try:
            received = read_request(frame)
        except UnsupportedVersionError:
            answer = answer_to_unsupported(frame)
            if answer is None:
                raise
            connection.answer(answer)
            return
        header, started = received.header, self._outside.now()

        def answer_fields(fields: Fields) -> None:
            version, correlation_id = header.api_version, header.correlation_id
            framed = response_bytes(received.api, version, correlation_id, fields)
            self.answered(received.api, version, fields, self._outside.now() - started)
            connection.answer(framed)

        caller = Caller(connection.listener, connection.address)
        self._serve(received, caller, connection, answer_fields)

    def _serve(
        self,
        received: ReceivedRequest,
        caller: Caller,
        connection: Inbound,
        answer: Callable[[Fields], None],
    ) -> None:
        message = MESSAGE_MAPS[received.header.api_key]
        surroundings = partial(self._surroundings, caller.listener)
        around = surroundings()
        value = message.request_of(received.fields, received.header.api_version, around)
        if isinstance(value, Malformed):
            raise CorruptMessageError(value.reason, position=0)
        if isinstance(value, Refusal):
            answer(value.fields)
            return
        asked = _Asked(
            received, message, around.topic_ids, surroundings, caller, connection, answer
        )
        local = LOCAL_READS.get(type(value))
        refused = refusal_of(value, self._view.image.features)
        if refused is None:
            refused = refused_token_request(value, caller)
        if refused is not None:
            asked.respond(refused)
        elif local is not None:
            asked.respond(local(replace(self._view, listener=caller.listener), value))
        elif isinstance(value, EnvelopeRequest):
            self._unwrap(value, asked)
        elif isinstance(value, IncrementalAlterConfigsRequest):
            self._alter_configs(value, asked)
        elif isinstance(value, CreateTopicsRequest):
            self._create_topics(value, asked)
        else:
            self._deliver(value, asked)

    def _alter_configs(self, request: IncrementalAlterConfigsRequest, asked: _Asked) -> None:
        """Change this node's loggers, and hand the rest of a request to the controller."""
        told, rest = alter_loggers(self._view.settings.node_id, request)
        if told and not rest.resources:
            asked.respond(AlterConfigsResponse(told))
        else:
            self._deliver(
                rest,
                asked._replace(
                    amended=lambda response: AlterConfigsResponse((*response.responses, *told))
                ),
            )

    def _create_topics(self, request: CreateTopicsRequest, asked: _Asked) -> None:
        """Let the controller create topics, and tell how they are configured."""

        def amended(response: CreateTopicsResponse) -> CreateTopicsResponse:
            view = self._view
            return with_effective_configs(view.image, view.settings, request, response)

        self._deliver(request, asked._replace(amended=amended))

    def _surroundings(self, listener: str) -> Surroundings:
        return Surroundings(
            self._view.cluster_id,
            listener,
            self._view.host.knows_leader,
            self._addresses.known(self._loop.process.state),
            self._addresses.logged,
            visible(self._view.host.state).image.topic_ids,
        )

    def _deliver(self, value: Any, asked: _Asked) -> None:
        """Hand a request to the process; one that is not begun by its deadline is given up.

        What was begun is answered once it is committed, or is not. Kafka: KafkaEventQueue.
        """
        timer: asyncio.TimerHandle | None = None

        def answered(response: Any) -> None:
            if timer is not None:
                timer.cancel()
            asked.respond(response)

        token = self._outside.expect(answered)
        is_raft = value.__class__ in RAFT_MESSAGES
        payload = value if is_raft else with_principal(value, asked.caller)
        message = Arrived(True, token, NO_NODE, token, payload, self._outside.now())
        timeout_ms = asked.message.timeout_ms(asked.received.fields)
        if timeout_ms is not None:
            delay = max(timeout_ms, 0) / _MILLISECONDS
            timer = asyncio.get_running_loop().call_later(delay, self._time_out, message, asked)
        self._loop.deliver(message)

    def _time_out(self, message: Arrived, asked: _Asked) -> None:
        """Answer a request that has waited too long; it is not carried out any more."""
        if self._loop.withdraw(message):
            self._outside.forget(message.message_id)
            self.timed_out += 1
            asked.respond(Failure(ErrorCode.REQUEST_TIMED_OUT, "the controller was too slow"))

    def _unwrap(self, envelope: EnvelopeRequest, asked: _Asked) -> None:
        """Serve the request in an envelope, and wrap its response.

        NOT_CONTROLLER is the envelope's own error: the broker that forwards looks for the leader.

        Kafka: EnvelopeUtils.handleEnvelopeRequest.
        """
        try:
            forwarded = read_principal(envelope.request_principal or b"")
        except CorruptMessageError:
            asked.respond(EnvelopeResponse(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE))
            return
        try:
            received = read_request(envelope.request_data)
            header, started = received.header, self._outside.now()
            if not received.api.is_forwardable:
                asked.respond(EnvelopeResponse(ErrorCode.INVALID_REQUEST))
                return

            def wrap(fields: Fields) -> None:
                taken = self._outside.now() - started
                self.answered(received.api, header.api_version, fields, taken)
                if says_not_controller(header.api_key, fields):
                    asked.respond(EnvelopeResponse(ErrorCode.NOT_CONTROLLER))
                    return
                version, correlation_id = header.api_version, header.correlation_id
                framed = response_bytes(received.api, version, correlation_id, fields)
                asked.respond(EnvelopeResponse(ErrorCode.NONE, framed[_SIZE_BYTES:]))

            address = envelope.client_host_address.hex()
            caller = Caller(asked.caller.listener, address, forwarded)
            self._serve(received, caller, asked.connection, wrap)
        except (UnsupportedVersionError, CorruptMessageError, LimitExceededError):
            # Bytes that are no request are so told apart from a fault of the envelope.
            asked.respond(EnvelopeResponse(ErrorCode.UNSUPPORTED_VERSION))


_SIZE_BYTES: Final = 4
"""The size before a frame, which the response in an envelope does not have."""
