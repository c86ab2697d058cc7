"""A client of controllers, ours or Kafka's, that plays brokers: fields out, fields in.

One event loop has all connections. Whatever takes longer than a minute raises KraflaError.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from controllers import CLUSTER_ID, PATIENCE_SECONDS

from krafla.verdict import KraflaError
from kraft.errors import ErrorCode
from kraft.ids import uuid_text
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.headers import RequestHeader
from kraft.wire.requests import read_response, request_bytes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from kraft.records.schema import Fields

_HEARTBEAT_SECONDS = 2.0
_PAUSE_SECONDS = 0.005
# What a broker of Kafka 4.1 supports.
_FEATURES = {
    "metadata.version": (7, 27),
    "kraft.version": (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "share.version": (0, 0),
    "streams.version": (0, 0),
}
_BROKER_RESOURCE, _SET = 4, 0


class Client:
    """A connection to a controller; one request is in flight at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._correlation_id = 0
        self._turn = asyncio.Lock()

    @classmethod
    async def connect(cls, port: int) -> Client:
        """Return a client that is connected. Raises OSError."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def call(self, key: int, version: int, **fields: Any) -> Fields:
        """Return the response to a request. Raises OSError or EOFError if the connection ends."""
        async with self._turn:
            self._correlation_id += 1
            header = RequestHeader(key, version, self._correlation_id, "bench")
            self._writer.write(request_bytes(header, fields))
            async with asyncio.timeout(PATIENCE_SECONDS):
                size = int.from_bytes(await self._reader.readexactly(4), "big")
                frame = await self._reader.readexactly(size)
        return read_response(CONTROLLER_APIS[key], version, frame).fields

    def close(self) -> None:
        """End the connection."""
        self._writer.close()


class Broker:
    """A broker without logs that has registered over a connection of its own."""

    def __init__(self, client: Client, broker_id: int, epoch: int) -> None:
        self._client = client
        self._id = broker_id
        self._epoch = epoch

    @classmethod
    async def register(cls, port: int, broker_id: int) -> Broker:
        """Return a broker that is unfenced. Raises KraflaError if the controller refuses it."""
        client = await Client.connect(port)
        features = tuple(
            {"name": name, "minSupportedVersion": least, "maxSupportedVersion": most}
            for name, (least, most) in _FEATURES.items()
        )
        listener = {
            "name": "PLAINTEXT", "host": "127.0.0.1", "port": 9092, "securityProtocol": 0
        }  # fmt: skip
        directory = uuid_text((broker_id + 1_000).to_bytes(16, "big"))
        answer = await client.call(
            62, 4, brokerId=broker_id, clusterId=CLUSTER_ID, incarnationId=directory,
            listeners=(listener,), features=features, logDirs=(directory,),
        )  # fmt: skip
        check("BrokerRegistration", answer["errorCode"])
        broker = cls(client, broker_id, answer["brokerEpoch"])
        while (await broker.heartbeat())["isFenced"]:
            await asyncio.sleep(_PAUSE_SECONDS)
        return broker

    async def heartbeat(self, *, want_fence: bool = False) -> Fields:
        """Return the response to a heartbeat. Raises KraflaError if it is an error.

        A controller that is too slow says so after a second, and is asked again.
        """
        while True:
            answer = await self._client.call(
                63, 1, brokerId=self._id, brokerEpoch=self._epoch,
                currentMetadataOffset=self._epoch, wantFence=want_fence,
            )  # fmt: skip
            if answer["errorCode"] != ErrorCode.REQUEST_TIMED_OUT:
                check("BrokerHeartbeat", answer["errorCode"])
                return answer

    def close(self) -> None:
        """End the connection."""
        self._client.close()


@contextlib.asynccontextmanager
async def kept_alive(brokers: list[Broker]) -> AsyncIterator[None]:
    """Let brokers heartbeat as Kafka's do, until the context ends."""

    async def beat(broker: Broker) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT_SECONDS)
            await broker.heartbeat()

    async with contextlib.AsyncExitStack() as stack:
        for broker in brokers:
            task = asyncio.create_task(beat(broker))
            stack.push_async_callback(_ended, task)
        yield


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def create_topics(client: Client, names: list[str], partitions: int, replicas: int) -> None:
    """Create topics in one request. Raises KraflaError if one is refused."""
    topics = tuple(
        {"name": name, "numPartitions": partitions, "replicationFactor": replicas,
         "assignments": (), "configs": ()}
        for name in names
    )  # fmt: skip
    answer = await client.call(19, 7, topics=topics, timeoutMs=60_000)
    for topic in answer["topics"]:
        check("CreateTopics", topic["errorCode"])


async def first_answer(port: int) -> Client:
    """Return a client of a controller that has answered, as soon as it does."""
    async with _patience("a controller answers"):
        while True:
            with contextlib.suppress(OSError, EOFError):
                client = await Client.connect(port)
                await client.call(18, 4, clientSoftwareName="bench", clientSoftwareVersion="1")
                return client
            await asyncio.sleep(_PAUSE_SECONDS)


async def until_commit(ports: list[int]) -> int:
    """Return which of these ports has a leader that commits a write, as soon as one does."""
    async with _patience("a write is committed"):
        waiting = [asyncio.create_task(_commit(port)) for port in ports]
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.wait(waiting)


async def _commit(port: int) -> int:
    config = {"name": "message.max.bytes", "configOperation": _SET}
    resource = {"resourceType": _BROKER_RESOURCE, "resourceName": ""}
    client = await first_answer(port)
    try:
        while True:
            # Each value is another one: a write that changes nothing commits nothing.
            value = str(time.monotonic_ns() % 1_000_000 + 1)
            changed = {**resource, "configs": ({**config, "value": value},)}
            answer = await client.call(44, 1, resources=(changed,), validateOnly=False)
            if all(one["errorCode"] == 0 for one in answer["responses"]):
                return port
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        client.close()


@contextlib.asynccontextmanager
async def _patience(what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield
    except TimeoutError:
        raise KraflaError(
            f"in {PATIENCE_SECONDS:.0f} seconds it was not seen that {what}"
        ) from None


async def seconds_of(work: Awaitable[Any]) -> float:
    """Return how long something takes."""
    began = time.monotonic()
    await work
    return time.monotonic() - began


def check(what: str, error_code: int) -> None:
    """Raise KraflaError for an answer that is an error."""
    if error_code != 0:
        raise KraflaError(f"{what} was answered with error code {error_code}")
