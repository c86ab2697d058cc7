"""Hostile frames by several connections at once, beside a broker that only wants to live."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

from tests.kraft.node.client import PATIENCE_SECONDS, Client
from tests.kraft.node.hostile_frames import HostileFrames, World
from tests.kraft.node.one_node import (
    BROKER,
    CLUSTER,
    INCARNATION,
    broker,
    create_topic,
    topic,
    until_active,
)

ANSWERED = "answered"
CLOSED = "closed"
WAITS = "waits"
BESIDE = 77_777
"""The broker that lives beside the strangers, whose id they do not know."""
_FETCH = (1).to_bytes(2, "big")
_FETCH_SECONDS = 1.0
"""How long a Fetch may stay without an answer: its sender says how long the node may wait."""


async def bombard(port: int, count: int, seed: int, connections: int = 16) -> Counter[str]:
    """Send frames to a node; return how many were answered, closed its connection, or neither.

    Half of them are broken. Raises AssertionError if another broker is not served meanwhile, or if
    the leader changes.
    """
    client = await Client.connect(port)
    await until_active(client)
    epoch = (await broker(client))["brokerEpoch"]
    beside = (await broker(client, BESIDE, INCARNATION))["brokerEpoch"]
    assert await create_topic(client, "calm") == 0
    topic_id = (await client.call(19, 7, topics=(topic("known"),), timeoutMs=10_000))["topics"][0]
    world = World(CLUSTER, BROKER, epoch, "calm", topic_id["topicId"])
    client.close()
    ended = asyncio.Event()
    living = asyncio.create_task(_live(port, beside, ended))
    outcomes: Counter[str] = Counter()
    chances = [random.Random(f"{seed}/{number}") for number in range(connections)]
    async with asyncio.TaskGroup() as group:
        for chance in chances:
            frames = HostileFrames(chance, world)
            group.create_task(_strange(port, count // connections, frames, outcomes))
    ended.set()
    outcomes["heartbeats"] = await living
    return outcomes


async def _strange(port: int, count: int, frames: HostileFrames, outcomes: Counter[str]) -> None:
    """Send one frame after the other; connect again whenever the node has closed."""
    client = await Client.connect(port)
    for number in range(count):
        frame = frames.broken() if number % 2 else frames.legal()
        try:
            await client.send(frame)
            may_wait = frame[4:6] == _FETCH
            async with asyncio.timeout(_FETCH_SECONDS if may_wait else PATIENCE_SECONDS):
                await client.frame()
            outcomes[ANSWERED] += 1
            # Behind a size that is too small, the rest would begin the next frame.
            if int.from_bytes(frame[:4], "big") == len(frame) - 4:
                continue
        except (asyncio.IncompleteReadError, ConnectionError):
            outcomes[CLOSED] += 1
        except TimeoutError:
            assert may_wait, f"no answer to {frame[:200].hex()}"
            outcomes[WAITS] += 1
        client.close()
        client = await Client.connect(port)
    client.close()


async def _live(port: int, epoch: int, ended: asyncio.Event) -> int:
    """Send heartbeats until the end, and return how many were answered."""
    client = await Client.connect(port)
    beats = 0
    while not ended.is_set():
        beat = await client.call(63, 1, brokerId=BESIDE, brokerEpoch=epoch)
        assert beat["errorCode"] == 0, beat
        assert (await client.call(60, 2, endpointType=2))["controllerId"] == 1
        apis = await client.call(18, 4, clientSoftwareName="a", clientSoftwareVersion="1")
        assert apis["errorCode"] == 0
        beats += 1
        await asyncio.sleep(0.05)
    client.close()
    return beats
