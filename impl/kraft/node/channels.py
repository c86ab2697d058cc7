"""Connections to other controllers: requests out, and each response to its request.

There is one connection to a node, made when a request wants it. It begins with ApiVersions: all
other requests wait for that answer, and go in the newest version that both nodes know. After a
failure the next attempt waits, longer each time, and all attempts together keep a distance: a
quorum whose other nodes are down costs next to nothing.

Kafka: KafkaNetworkChannel, InterBrokerSendThread, NetworkClient, ClusterConnectionStates.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.chance import backoff_ms
from kraft.errors import (
    CorruptMessageError,
    ErrorCode,
    LimitExceededError,
    UnsupportedVersionError,
)
from kraft.node.failures import failure_text
from kraft.records.codec import UnsupportedFieldError
from kraft.rpc.api_versions import SupportedApisRequest, SupportedApisResponse
from kraft.rpc.raft_voters import ApiVersionsRequest
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import kraft_versions
from kraft.wire.frames import FrameBuffer
from kraft.wire.headers import RequestHeader
from kraft.wire.message_maps import SENT
from kraft.wire.negotiation import ServedVersions, negotiated
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
"""How many connections a node begins at most, to all others together."""
RECONNECT_BACKOFF_MS: Final = 50
RECONNECT_BACKOFF_MAX_MS: Final = 1000
"""The wait after the first failure, and the longest. Kafka: reconnect.backoff.ms."""

_LOG: Final = logging.getLogger("kraft.node.channels")
_SOFTWARE: Final = SupportedApisRequest("krafla-controller", "4.1")
_CHANCE_BITS: Final = 64
_HANDSHAKE: Final = -1
"""The correlation id of the ApiVersions that begins a connection: nothing waits for its answer."""
_FAILURES: Final = (OSError, CorruptMessageError, LimitExceededError, UnsupportedVersionError)
_NOT_CONNECTED: Final = (OSError, ValueError, OverflowError)
"""What an attempt to connect raises: the last two for a host or a port that cannot be."""


class Sent(NamedTuple):
    """A request on its way: what it was, and the correlation id that its sender knows.

    It is in its newest `version` until the one of its connection is known.
    """

    correlation_id: int
    request: Any
    message: MessageMap
    version: int
    fields: Fields
    deadline: float

    def in_version(self, version: int) -> Sent:
        """Return it in a version. Raises UnsupportedFieldError if that cannot say it."""
        if version == self.version:
            return self
        fields = self.message.request_fields(self.request, version)
        return self._replace(version=version, fields=fields)


class Attempts:
    """The connections that a node begins, one at a time. `count` is how many it has begun."""

    def __init__(self) -> None:
        self.count = 0
        self._next = 0.0

    async def begin(self) -> None:
        """Wait until the next connection may begin."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._next)
        self._next = at + 1 / ATTEMPTS_PER_SECOND
        self.count += 1
        await asyncio.sleep(at - now)


class Channels:
    """The connections of a node to others, for requests of one time-out.

    `find` says where a node listens, `deliver` takes each response, or the failure in its place:
    the node, the correlation id of the request, the response. `learn` is told of addresses.
    `timeout` is in seconds. With `tls` all connections speak it. `attempts` are those of the node.
    `requests`, `responses` and `connections` count those that were sent, received and made.
    """

    def __init__(
        self,
        client_id: str,
        listener: str,
        timeout: float,
        find: Callable[[NodeId], Endpoint | None],
        deliver: Callable[[NodeId, int, Any], None],
        learn: Callable[[Mapping[NodeId, Endpoints]], None],
        attempts: Attempts,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.client_id = client_id
        self.listener = listener
        self.timeout = timeout
        self.find = find
        self.deliver = deliver
        self.learn = learn
        self.attempts = attempts
        self.tls = tls
        self.requests = self.responses = self.connections = 0
        self._channels: dict[NodeId, _Channel] = {}

    def send(self, destination: NodeId, correlation_id: int, request: Any) -> None:
        """Send a request; its response or failure is delivered later, never at once."""
        asked = _SOFTWARE if isinstance(request, ApiVersionsRequest) else request
        channel = self._channels.get(destination)
        if channel is None:
            channel = self._channels[destination] = _Channel(self, destination)
        deadline = asyncio.get_running_loop().time() + self.timeout
        channel.send(_sent(correlation_id, asked, deadline))

    def close(self) -> None:
        """Close all connections, and give every request up without a word."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()

    def open_connections(self) -> int:
        """Return how many connections there are."""
        return sum(channel.is_connected for channel in tuple(self._channels.values()))


def _sent(correlation_id: int, request: Any, deadline: float) -> Sent:
    message = SENT[type(request)]
    newest = message.versions[-1]
    fields = message.request_fields(request, newest)
    return Sent(correlation_id, request, message, newest, fields, deadline)


class _Channel(asyncio.Protocol):
    """The connection to one node, or the attempts to have one."""

    def __init__(self, channels: Channels, node: NodeId) -> None:
        self._channels = channels
        self._node = node
        self._transport: asyncio.Transport | None = None
        self._buffer = FrameBuffer()
        self._versions: ServedVersions | None = None
        self._unsupported: set[int] = set()
        self._unsent: deque[Sent] = deque()
        self._waiting: dict[int, Sent] = {}
        self._next_id = 0
        self._failures = 0
        self._ready_at = 0.0
        self._is_refused = False
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_connected(self) -> bool:
        return self._transport is not None

    def send(self, sent: Sent) -> None:
        if self._versions is not None:
            self._negotiated(sent, self._versions)
            return
        self._unsent.append(sent)
        if self._task is None and self._transport is None:
            self._task = asyncio.get_running_loop().create_task(self._connect())

    def close(self) -> None:
        self._unsent.clear()
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
        if self._timer is not None:
            self._timer.cancel()
        transport = self._detach()
        if transport is not None:
            transport.close()

    def _detach(self) -> asyncio.Transport | None:
        """Forget the connection, and return it."""
        transport, self._transport, self._versions = self._transport, None, None
        return transport

    # Connecting

    async def _connect(self) -> None:
        """Make one attempt, after the back-off; without success all that waits has failed."""
        try:
            # The back-off begins with a failure: after a long silence it is over.
            await asyncio.sleep(self._ready_at - asyncio.get_running_loop().time())
            endpoint = self._endpoint()
            await self._channels.attempts.begin()
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(self._channels.timeout):
                host, port = endpoint.host, endpoint.port
                await loop.create_connection(lambda: self, host, port, ssl=self._channels.tls)
        except _NOT_CONNECTED as error:
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
        self._channels.connections += 1
        self._buffer = FrameBuffer()
        self._write(_sent(_HANDSHAKE, _SOFTWARE, self._first_deadline()))

    def _first_deadline(self) -> float:
        """Return when the first of the requests that wait for the handshake is too old."""
        latest = asyncio.get_running_loop().time() + self._channels.timeout
        return min((sent.deadline for sent in self._unsent), default=latest)

    def _shake_hands(self, sent: Sent, response: SupportedApisResponse) -> None:
        """Take what the node serves, or ask again as it says; then send what has waited."""
        found = negotiated(sent.version, response)
        if not isinstance(found, ServedVersions):
            self._write(sent.in_version(found))
            return
        self._versions = found
        self._unsupported.clear()
        if self._failures:
            _LOG.info("[%s] Node %s is reached again", self._channels.client_id, self._node)
        self._failures = 0
        unsent, self._unsent = self._unsent, deque()
        now = asyncio.get_running_loop().time()
        for one in unsent:
            if one.deadline > now:
                self._negotiated(one, found)
            else:
                self._deliver_failure(one)

    def connection_lost(self, error: Exception | None) -> None:
        if self._detach() is None:
            return
        self._fail(error or ConnectionResetError("it closed the connection"), was_connected=True)

    def _fail(self, error: Exception, *, was_connected: bool = False) -> None:
        """Let every request fail; the next one tries again."""
        if not self._failures:
            _LOG.warning(
                "[%s] Connection to node %s %s: %s",
                self._channels.client_id,
                self._node,
                "was lost" if was_connected else "could not be established",
                failure_text(error),
            )
        self._failures += 1
        self._ready_at = asyncio.get_running_loop().time() + self._backoff_ms() / 1000
        lost = [*self._waiting.values(), *self._unsent]
        self._waiting.clear()
        self._unsent.clear()
        for sent in lost:
            self._deliver_failure(sent)

    # Requests and responses

    def _negotiated(self, sent: Sent, versions: ServedVersions) -> None:
        """Send a request in a version that the node knows; if there is none, it has failed."""
        try:
            version = versions.newest(CONTROLLER_APIS[sent.message.api_key])
            self._write(sent.in_version(version))
        except (UnsupportedFieldError, UnsupportedVersionError) as error:
            if sent.message.api_key not in self._unsupported:
                _LOG.error("Node %s is too old for a request: %s", self._node, error)
            self._unsupported.add(sent.message.api_key)
            failed = functools.partial(self._deliver_failure, sent, ErrorCode.UNSUPPORTED_VERSION)
            asyncio.get_running_loop().call_soon(failed)

    def _write(self, sent: Sent) -> None:
        assert self._transport is not None, "there is a connection"
        wire_id = self._next_id
        self._next_id = (wire_id + 1) & 0x7FFFFFFF
        header = RequestHeader(
            sent.message.api_key, sent.version, wire_id, self._channels.client_id
        )
        self._waiting[wire_id] = sent
        self._channels.requests += 1
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
        self._channels.responses += 1
        api = CONTROLLER_APIS[sent.message.api_key]
        try:
            fields = read_response(api, sent.version, frame).fields
        except CorruptMessageError:
            self._deliver_failure(sent)
            raise
        response = sent.message.response_of(fields, sent.version)
        if sent.correlation_id == _HANDSHAKE:
            self._shake_hands(sent, response)
            return
        self._channels.learn(endpoints_told(fields, self._channels.listener))
        # Kafka's own replicas end after this error; Raft here asks again a little later.
        is_refused = response.error_code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        if is_refused and not self._is_refused:
            _LOG.warning("Node %s does not allow this one to act as a controller", self._node)
        self._is_refused = is_refused
        self._deliver(sent, response)

    def _end(self, error: Exception) -> None:
        transport = self._detach()
        if transport is not None:
            transport.abort()
            self._fail(error, was_connected=True)

    def _deliver(self, sent: Sent, response: Any) -> None:
        if isinstance(response, SupportedApisResponse):
            response = kraft_versions(response)
        self._channels.deliver(self._node, sent.correlation_id, response)

    def _deliver_failure(
        self, sent: Sent, error: ErrorCode = ErrorCode.BROKER_NOT_AVAILABLE
    ) -> None:
        if sent.correlation_id == _HANDSHAKE:
            return
        failed = sent.message.failure_fields(error, None, sent.fields, sent.version)
        self._deliver(sent, sent.message.response_of(failed, sent.version))
