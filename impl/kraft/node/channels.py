"""Connections to other controllers: requests out, and each response to its request.

There is one connection to a node, made when a request wants it. After a failure the next attempt
waits, longer each time, and all attempts together keep a distance: a quorum whose other nodes are
down costs next to nothing.

Kafka: KafkaNetworkChannel, InterBrokerSendThread, NetworkClient, ClusterConnectionStates.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.chance import backoff_ms
from kraft.errors import CorruptMessageError, ErrorCode, LimitExceededError, printable
from kraft.rpc.api_versions import SupportedApisRequest, SupportedApisResponse
from kraft.rpc.raft_voters import ApiVersionsRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import kraft_versions
from kraft.wire.frames import FrameBuffer
from kraft.wire.headers import RequestHeader
from kraft.wire.message_maps import SENT
from kraft.wire.quorum_shape import endpoints_told
from kraft.wire.requests import read_response, request_bytes

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from kraft.ids import NodeId
    from kraft.records.schema import Fields
    from kraft.rpc.endpoints import Endpoint, Endpoints
    from kraft.wire.message_map import MessageMap

ATTEMPTS_PER_SECOND: Final = 20
"""How many connections the channels of a node begin at most, all together."""
RECONNECT_BACKOFF_MS: Final = 50
RECONNECT_BACKOFF_MAX_MS: Final = 1000
"""The wait after the first failure, and the longest. Kafka: reconnect.backoff.ms."""

_LOG: Final = logging.getLogger("kraft.node.channels")
_SOFTWARE: Final = SupportedApisRequest("krafla-controller", "4.1")
_CHANCE_BITS: Final = 64
_FAILURES: Final = (OSError, CorruptMessageError, LimitExceededError)


class Sent(NamedTuple):
    """A request on its way: what it was, and the correlation id that its sender knows."""

    correlation_id: int
    request: Any
    message: MessageMap
    fields: Fields
    deadline: float

    @property
    def version(self) -> int:
        """Return the version it is sent in."""
        return self.message.versions[-1]


class Channels:
    """The connections of a node to others.

    `find` says where a node listens, `deliver` takes each response, or the failure in its place:
    the node, the correlation id of the request, the response. `learn` is told of addresses.
    `timeout` is in seconds. With `tls` all connections speak it.
    """

    def __init__(
        self,
        client_id: str,
        listener: str,
        timeout: float,
        find: Callable[[NodeId], Endpoint | None],
        deliver: Callable[[NodeId, int, Any], None],
        learn: Callable[[Mapping[NodeId, Endpoints]], None],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.client_id = client_id
        self.listener = listener
        self.timeout = timeout
        self.find = find
        self.deliver = deliver
        self.learn = learn
        self.tls = tls
        self.attempts = 0
        self._next_attempt = 0.0
        self._channels: dict[NodeId, _Channel] = {}

    def send(self, destination: NodeId, correlation_id: int, request: Any) -> None:
        """Send a request; its response or failure is delivered later, never at once."""
        asked = _SOFTWARE if isinstance(request, ApiVersionsRequest) else request
        message = SENT[type(asked)]
        fields = message.request_fields(asked, message.versions[-1])
        channel = self._channels.get(destination)
        if channel is None:
            channel = self._channels[destination] = _Channel(self, destination)
        deadline = asyncio.get_running_loop().time() + self.timeout
        channel.send(Sent(correlation_id, request, message, fields, deadline))

    def close(self) -> None:
        """Close all connections, and give every request up without a word."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()

    async def may_connect(self) -> None:
        """Wait until the next connection may begin."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._next_attempt)
        self._next_attempt = at + 1 / ATTEMPTS_PER_SECOND
        self.attempts += 1
        await asyncio.sleep(at - now)


class _Channel(asyncio.Protocol):
    """The connection to one node, or the attempts to have one."""

    def __init__(self, channels: Channels, node: NodeId) -> None:
        self._channels = channels
        self._node = node
        self._transport: asyncio.Transport | None = None
        self._buffer = FrameBuffer()
        self._unsent: deque[Sent] = deque()
        self._waiting: dict[int, Sent] = {}
        self._next_id = 0
        self._failures = 0
        self._is_refused = False
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def send(self, sent: Sent) -> None:
        if self._transport is not None:
            self._write(sent)
            return
        self._unsent.append(sent)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._connect())

    def close(self) -> None:
        self._unsent.clear()
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
        if self._timer is not None:
            self._timer.cancel()
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    # Connecting

    async def _connect(self) -> None:
        """Make one attempt, after the back-off; without success all that waits has failed."""
        try:
            if self._failures:
                await asyncio.sleep(self._backoff_ms() / 1000)
            endpoint = self._endpoint()
            await self._channels.may_connect()
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(self._channels.timeout):
                host, port = endpoint.host, endpoint.port
                await loop.create_connection(lambda: self, host, port, ssl=self._channels.tls)
        except OSError as error:
            self._task = None
            self._fail(error)

    def _backoff_ms(self) -> int:
        chance = secrets.randbits(_CHANCE_BITS)
        longest = RECONNECT_BACKOFF_MAX_MS
        return backoff_ms(RECONNECT_BACKOFF_MS, longest, self._failures - 1, chance)

    def _endpoint(self) -> Endpoint:
        endpoint = self._channels.find(self._node)
        if endpoint is None:
            raise OSError(f"the address of node {self._node} is not known")
        return endpoint

    def connection_made(self, transport: Any) -> None:
        self._task = None
        self._transport = transport
        self._buffer = FrameBuffer()
        if self._failures:
            _LOG.info("Node %s is reached again", self._node)
        self._failures = 0
        unsent, self._unsent = self._unsent, deque()
        now = asyncio.get_running_loop().time()
        for sent in unsent:
            if sent.deadline > now:
                self._write(sent)
            else:
                self._deliver_failure(sent)

    def connection_lost(self, error: Exception | None) -> None:
        if self._transport is None:
            return
        self._transport = None
        self._fail(error or ConnectionResetError("it closed the connection"))

    def _fail(self, error: Exception) -> None:
        """Let every request fail; the next one tries again."""
        if not self._failures:
            reason = printable(str(error) or type(error).__name__)
            _LOG.warning("Connection to node %s could not be kept: %s", self._node, reason)
        self._failures += 1
        lost = [*self._waiting.values(), *self._unsent]
        self._waiting.clear()
        self._unsent.clear()
        for sent in lost:
            self._deliver_failure(sent)

    # Requests and responses

    def _write(self, sent: Sent) -> None:
        assert self._transport is not None, "there is a connection"
        wire_id = self._next_id
        self._next_id = (wire_id + 1) & 0x7FFFFFFF
        header = RequestHeader(
            sent.message.api_key, sent.version, wire_id, self._channels.client_id
        )
        self._waiting[wire_id] = sent
        self._transport.write(request_bytes(header, sent.fields))
        if self._timer is None:
            self._watch(sent.deadline)

    def _watch(self, deadline: float) -> None:
        self._timer = asyncio.get_running_loop().call_at(deadline, self._time_out)

    def _time_out(self) -> None:
        """Close the connection if its oldest request is too old. Kafka: NetworkClient."""
        self._timer = None
        if not self._waiting:
            return
        oldest = next(iter(self._waiting.values())).deadline
        if oldest > asyncio.get_running_loop().time():
            self._watch(oldest)
        elif self._transport is not None:
            self._end(TimeoutError("a request was not answered in time"))

    def data_received(self, data: bytes) -> None:
        self._buffer.receive_data(data)
        try:
            for frame in self._buffer.frames():
                self._received(frame)
        except _FAILURES as error:
            self._end(error)

    def _received(self, frame: bytes) -> None:
        wire_id = int.from_bytes(frame[:4], "big")
        sent = self._waiting.pop(wire_id, None)
        if sent is None:
            raise CorruptMessageError(f"a response to no request: {wire_id}", position=0)
        api = CONTROLLER_APIS[sent.message.api_key]
        try:
            fields = read_response(api, sent.version, frame).fields
        except CorruptMessageError:
            self._deliver_failure(sent)
            raise
        self._channels.learn(endpoints_told(fields, self._channels.listener))
        response = sent.message.response_of(fields, sent.version)
        if response.error_code is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            self._is_refused = False
            self._deliver(sent, response)
            return
        # Raft has no such error and would ask again at once; Kafka's own replicas end.
        if not self._is_refused:
            _LOG.warning("Node %s does not allow this one to act as a controller", self._node)
        self._is_refused = True
        self._deliver_failure(sent)

    def _end(self, error: Exception) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
            self._fail(error)

    def _deliver(self, sent: Sent, response: Any) -> None:
        if isinstance(response, SupportedApisResponse):
            response = kraft_versions(response)
        self._channels.deliver(self._node, sent.correlation_id, response)

    def _deliver_failure(self, sent: Sent) -> None:
        failed = sent.message.failure_fields(
            ErrorCode.BROKER_NOT_AVAILABLE, None, sent.fields, sent.version
        )
        self._deliver(sent, sent.message.response_of(failed, sent.version))
