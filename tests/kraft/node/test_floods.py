"""A thousand connections that take all they can get, and those that speak something else."""

import asyncio
import contextlib
import ssl
from contextlib import asynccontextmanager

import pytest
from tests.kraft.node.certificates import Authority
from tests.kraft.node.client import Client, request_frame
from tests.kraft.node.node_process import PATIENCE_SECONDS, Server
from tests.kraft.node.one_node import (
    BROKER,
    CLUSTER,
    broker,
    port_of,
    properties,
    serving,
    until_active,
)

MEMORY_BYTES = 256 * 1024 * 1024
LIMIT = 2 * 1024 * 1024
HALF = LIMIT.to_bytes(4, "big") + bytes(LIMIT // 2)
CONFIG = {"name": "a", "configOperation": 0, "value": "b"}
LARGE = request_frame(
    44, 1, 1, {"resources": ({"resourceType": 2, "resourceName": "", "configs": ()},) * 60_000}
)
UNREAD = request_frame(18, 4, 1, {"clientSoftwareName": "a", "clientSoftwareVersion": "1"}) * 20_000
FETCH = request_frame(
    1, 17, 1,
    {
        "clusterId": CLUSTER, "maxWaitMs": 2**31 - 1, "minBytes": 2**31 - 1,
        "replicaState": {"replicaId": -1, "replicaEpoch": -1},
        "topics": (
            {
                "topicId": "AAAAAAAAAAAAAAAAAAAAAQ",
                "partitions": (
                    {
                        "partition": 0, "currentLeaderEpoch": 1, "fetchOffset": 1,
                        "lastFetchedEpoch": 1, "partitionMaxBytes": 1000,
                    },
                ),
            },
        ),
    },
)  # fmt: skip


@asynccontextmanager
async def flooded(port, data, count):
    """Open connections that send something and read nothing; yield a client that came last."""

    async def stranger():
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        strangers.append(writer)
        writer.write(data)
        # The node may end what holds too much, and need not read on before it is read from.
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(5):
                await writer.drain()

    strangers = []
    await asyncio.gather(*(stranger() for _ in range(count)))
    client = await Client.connect(port)
    for _ in range(10):
        assert (await client.call(60, 2, endpointType=2))["controllerId"] == 1
    yield client
    client.close()
    for one in strangers:
        one.transport.abort()


async def beat(client, epoch):
    """Send a heartbeat of a broker that is not fenced."""
    said = await client.call(
        63, 1, brokerId=BROKER, brokerEpoch=epoch, currentMetadataOffset=epoch
    )  # fmt: skip
    assert (said["errorCode"], said["isFenced"]) == (0, False)


async def live_beside(server, data, count, least):
    """Be a broker while there are strangers, until the node has at least so many of them."""

    async def live():
        while not ended.is_set():
            await beat(living, epoch)
            await asyncio.sleep(0.05)

    ended = asyncio.Event()
    living = await Client.connect(server.port)
    epoch = (await broker(living))["brokerEpoch"]
    before = server.socket_count()
    async with asyncio.TaskGroup() as group, asyncio.timeout(PATIENCE_SECONDS):
        group.create_task(live())
        async with flooded(server.port, data, count) as client:
            await beat(client, epoch)
            # A connection that is made for its client may still wait to be accepted.
            while server.socket_count() - before - 1 < least:
                await beat(client, epoch)
        ended.set()
    living.close()


LEFT = 31
"""How many the limit of held bytes leaves, if each holds half of the largest request."""
NIGHTLY = pytest.mark.nightly


@pytest.mark.parametrize(
    ("data", "count", "least"),
    [
        pytest.param(HALF, 40, LEFT, id="half a request, 40"),
        pytest.param(FETCH, 100, 100, id="a Fetch that waits, 100"),
        pytest.param(b"", 1000, 1000, marks=NIGHTLY, id="silence"),
        pytest.param(HALF, 1000, LEFT, marks=NIGHTLY, id="half a request"),
        pytest.param(LARGE, 1000, LEFT, marks=NIGHTLY, id="the largest request"),
        pytest.param(UNREAD, 1000, LEFT, marks=NIGHTLY, id="requests of unread answers"),
        pytest.param(FETCH, 1000, 1000, marks=NIGHTLY, id="a Fetch that waits"),
    ],
)
def test_a_thousand_connections_take_little_memory_and_keep_nobody_out(
    tmp_path, data, count, least
):
    with Server(properties(tmp_path)) as server:
        server.until_active()
        asyncio.run(live_beside(server, data, count, least))
        assert server.peak_bytes() < MEMORY_BYTES
        server.process.terminate()
        assert server.wait() == 0
    assert server.said.count("Becoming the active controller") == 1


def test_more_connections_than_descriptors_end_the_oldest_and_not_the_node(tmp_path):
    async def be_flooded(port):
        async with flooded(port, b"", 300):
            pass

    with Server(properties(tmp_path), "-n 100") as server:
        server.until_active()
        asyncio.run(be_flooded(server.port))
        server.set_config("log.retention.ms", "1")
        assert server.configs() == {"log.retention.ms": "1"}
        server.process.terminate()
        assert server.wait() == 0
    assert "it was used least recently" in server.said
    assert "cannot be accepted" not in server.said


SPOKEN = {
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "a frame of 369295618 bytes"),
    "HTTP": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "a frame of 1195725856 bytes"),
    "too much": (HALF[:1] + b"\xff" + HALF[2:4], "the limit is 2097152"),
    "a request of brokers": (b"\0\0\0\x0a\0\0\0\x09" + bytes(6), "no API with key 0"),
}


@pytest.mark.parametrize(("sent", "said"), SPOKEN.values(), ids=SPOKEN)
def test_another_language_ends_the_connection_with_one_line(tmp_path, caplog, sent, said):
    async def main():
        async with serving(properties(tmp_path)) as (node, client):
            await until_active(client)
            stranger = await Client.connect(port_of(node.configuration))
            await stranger.send(sent)
            ended = await stranger.is_ended()
            stranger.close()
            return ended

    assert asyncio.run(main())
    (record,) = [one for one in caplog.records if "Closing the connection" in one.message]
    assert said in record.message


def test_plaintext_and_silence_on_a_listener_of_ssl_end_with_one_line(
    tmp_path, caplog, monkeypatch
):
    monkeypatch.setattr("kraft.node.acceptor.HANDSHAKE_SECONDS", 0.2)
    authority = Authority(tmp_path)
    path = properties(
        tmp_path,
        **{
            "listener.security.protocol.map": "CONTROLLER:SSL",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(authority.keystore("node")),
        },
    )
    trusting = ssl.create_default_context(cafile=str(authority.truststore))

    async def main():
        async with serving(path, trusting) as (node, client):
            await until_active(client)
            silent, plain = [await Client.connect(port_of(node.configuration)) for _ in range(2)]
            await plain.send(UNREAD[:1000])
            await asyncio.gather(silent.is_ended(), plain.is_ended(), return_exceptions=True)
            for one in (silent, plain):
                one.close()
            return (await client.call(60, 2, endpointType=2))["errorCode"], len(node._connections)

    assert asyncio.run(main()) == (0, 1)
    said = [one.message for one in caplog.records if "Closing the connection" in one.message]
    assert len(said) == 2
    assert all("no TLS was agreed on" in one for one in said)
