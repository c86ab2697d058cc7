"""A node in this process, or as a process of its own, with a directory of its own."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.kraft.node.client import Client

from krafla.record.layout import free_ports
from kraft.log.identity import format_directory
from kraft.log.real_files import RealFiles
from kraft.node.configuration import NodeConfiguration, read_configuration
from kraft.node.server import Node
from kraft.raft.roles import Leader

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator
    from pathlib import Path

    from kraft.node.metrics.exposition import MetricsAddress

CLUSTER = "5L6g3nShT-eMCtK--X86sw"
DIRECTORY = "S6EaKwVBTqalnbX5b-yzVQ"
INCARNATION = "QQkkZIBDR9aA3iBSZhVL2w"
BROKER = 7
PATIENCE_SECONDS = 60
"""After so long a wait has failed: no test hangs."""


def properties(folder: Path, **more: str) -> Path:
    """Write the server.properties of a sole controller, whose directory is formatted."""
    (port,) = free_ports(1)
    data = folder / "data"
    path = folder / "server.properties"
    values = {
        "process.roles": "controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{port}",
        "listeners": f"CONTROLLER://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(data),
        "controller.quorum.election.timeout.ms": "100",
        **{key.replace("_", "."): value for key, value in more.items()},
    }
    path.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    if not data.exists():
        data.mkdir()
        format_directory(RealFiles(data), CLUSTER, 1, DIRECTORY)
    return path


def port_of(configuration: NodeConfiguration) -> int:
    """Return where a node listens."""
    return configuration.listeners[0].bound.port


@asynccontextmanager
async def serving(
    path: Path, tls: ssl.SSLContext | None = None, metrics: MetricsAddress | None = None
) -> AsyncIterator[tuple[Node, Client]]:
    """Run a node until the context ends, then stop it in good order."""
    configuration = read_configuration(path)
    node = Node(configuration, metrics)
    running = asyncio.create_task(node.run())
    client = None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while client is None:
                try:
                    client = await Client.connect(port_of(configuration), tls)
                except ConnectionRefusedError:
                    await asyncio.sleep(0.01)
                    assert not running.done()
        yield node, client
    finally:
        if client is not None:
            client.close()
        if isinstance(node.process.state.role, Leader):
            node.stop()
            async with asyncio.timeout(20):
                assert await running
        else:
            # It would wait for another leader before it stops.
            running.cancel()
            await asyncio.wait([running])


async def until_active(client: Client) -> None:
    """Return once the node is the active controller."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await client.call(60, 2, endpointType=2))["controllerId"] < 0:
            await asyncio.sleep(0.01)


async def broker(
    client: Client, broker_id: int = BROKER, directory: str = DIRECTORY
) -> dict[str, Any]:
    """Register a broker and keep it alive until it is unfenced; return its last heartbeat."""
    listener = {"name": "PLAINTEXT", "host": "127.0.0.1", "port": 9092, "securityProtocol": 0}
    features = ({"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 27},)
    registered = await client.call(
        62, 4, brokerId=broker_id, clusterId=CLUSTER, incarnationId=INCARNATION,
        listeners=(listener,), features=features, logDirs=(directory,),
    )  # fmt: skip
    assert registered["errorCode"] == 0, registered
    epoch = registered["brokerEpoch"]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            beat = await client.call(
                63, 1, brokerId=broker_id, brokerEpoch=epoch, currentMetadataOffset=epoch
            )
            if not beat["isFenced"]:
                return {**beat, "brokerEpoch": epoch}
            await asyncio.sleep(0.01)


def topic(name: str, partitions: int = 2) -> dict[str, Any]:
    """Return the entry of a topic in CreateTopics."""
    return {
        "name": name,
        "numPartitions": partitions,
        "replicationFactor": 1,
        "assignments": (),
        "configs": (),
    }


async def create_topic(client: Client, name: str) -> int:
    """Create a topic, and return the error code."""
    created = await client.call(19, 7, topics=(topic(name),), timeoutMs=10_000)
    (one,) = created["topics"]
    code: int = one["errorCode"]
    return code
