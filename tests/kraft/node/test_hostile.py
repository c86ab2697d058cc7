"""Strangers on the listener: bytes that are no request, connections that do nothing."""

import asyncio
import random

import pytest
from tests.kraft.node.client import Client, request_frame
from tests.kraft.node.one_node import CLUSTER, port_of, properties, serving, topic, until_active

from kraft.node.configuration import read_configuration

SEED = 20_260
FRAMES = (
    request_frame(19, 7, 1, {"topics": (topic("calm"),), "timeoutMs": 10}),
    request_frame(60, 2, 2, {"endpointType": 2}),
    request_frame(62, 4, 3, {"brokerId": 1, "clusterId": CLUSTER}),
    request_frame(18, 4, 4, {"clientSoftwareName": "a", "clientSoftwareVersion": "1"}),
    request_frame(1, 17, 5, {"clusterId": CLUSTER, "topics": ()}),
)


def mutated(chance, frame):
    """Return a frame with some bytes changed, inserted or cut off."""
    data = bytearray(frame)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(data))
        kind = chance.random()
        if kind < 0.6:
            data[at] = chance.randrange(256)
        elif kind < 0.8:
            data.insert(at, 255)
        else:
            del data[max(at, 8) :]
    if chance.random() < 0.9:
        data[:4] = (len(data) - 4).to_bytes(4, "big")
    return bytes(data)


async def send_and_leave(port, frames):
    """Send frames, read what comes for a moment, and leave without a word."""
    client = await Client.connect(port)
    try:
        for frame in frames:
            await client.send(frame)
        async with asyncio.timeout(0.02):
            while True:
                await client.frame()
    except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        pass
    client.close()


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_mutated_frames_end_their_connections_and_nothing_else(tmp_path, caplog, count):
    chance = random.Random(SEED)

    async def main():
        async with serving(properties(tmp_path)) as (node, client):
            await until_active(client)
            port = port_of(node.configuration)
            for _ in range(count // 50):
                strangers = [
                    send_and_leave(port, [mutated(chance, chance.choice(FRAMES))])
                    for _ in range(50)
                ]
                await asyncio.gather(*strangers)
            return await client.call(60, 2, endpointType=2), len(node._connections)

    said, connections = asyncio.run(main())

    assert said["errorCode"] == 0
    assert connections <= 50
    closings = [one for one in caplog.records if one.name == "kraft.node.inbound"]
    assert count / 10 < len(closings) <= count
    assert [one.message for one in closings if one.exc_info] == []


def test_connections_that_do_nothing_are_in_nobody_s_way(tmp_path):
    async def main():
        path = properties(tmp_path)
        async with serving(path) as (_node, client):
            await until_active(client)
            port = port_of(read_configuration(path))
            idle = [await Client.connect(port) for _ in range(200)]
            for one in idle[::2]:
                await one.send(FRAMES[0][:7])
            said = await client.call(60, 2, endpointType=2)
            for one in idle:
                one.close()
            return said

    assert asyncio.run(main())["errorCode"] == 0
