"""Strangers on the listener: frames that are broken, or legal and hostile, of every version."""

import asyncio
import random
import re
import subprocess
import sys

import pytest
from tests.kraft.node.client import Client
from tests.kraft.node.hostile_frames import VERSIONS, HostileFrames, World
from tests.kraft.node.hostile_load import ANSWERED, CLOSED, WAITS, bombard
from tests.kraft.node.node_process import Server
from tests.kraft.node.one_node import CLUSTER, DIRECTORY, port_of, properties, serving, until_active

from kraft.errors import CorruptRecordError
from kraft.node.configuration import read_configuration
from kraft.wire.requests import read_request

SEED = 3
MEMORY_BYTES = 256 * 1024 * 1024
WORLD = World(CLUSTER, 7, 5, "calm", DIRECTORY)


def test_legal_frames_are_read_and_most_broken_ones_are_not():
    frames = HostileFrames(random.Random(SEED), WORLD)
    legal = {tuple(read_request(frames.legal()[4:]).header[:2]) for _ in VERSIONS}
    refused = 0
    for _ in VERSIONS:
        try:
            read_request(frames.broken()[4:])
        except CorruptRecordError:
            refused += 1

    assert legal == set(VERSIONS)
    assert len(VERSIONS) == 114
    assert len(VERSIONS) / 2 < refused < len(VERSIONS)


@pytest.mark.parametrize("count", [800, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_hostile_frames_are_answered_or_end_their_connections_and_nothing_else(tmp_path, count):
    with Server(properties(tmp_path)) as server:
        server.until_active()
        outcomes = asyncio.run(bombard(server.port, count, SEED))
        peak = server.peak_bytes()
        server.process.terminate()
        assert server.wait() == 0
    lines = server.said.splitlines()
    audit = [sys.executable, "-m", "krafla", "audit", str(tmp_path / "data")]
    audited = subprocess.run(audit, capture_output=True, text=True, timeout=120, check=False)

    assert sum(outcomes[one] for one in (ANSWERED, CLOSED, WAITS)) == count
    assert outcomes[ANSWERED] > count / 3
    assert outcomes[WAITS] < count / 20
    assert any("Closing the connection" in line for line in lines)
    assert all(re.match(r"\[\d{4}-", line) for line in lines), "each line begins with its time"
    assert sum("Becoming the active controller" in line for line in lines) == 1
    assert peak < MEMORY_BYTES
    assert audited.returncode == 0, audited.stdout


def test_each_request_is_answered_or_its_connection_ends_with_one_line(tmp_path, caplog):
    async def main():
        async with serving(properties(tmp_path)) as (node, client):
            await until_active(client)
            outcomes = await bombard(port_of(node.configuration), 400, SEED)
            admissions = {one._listening.admission for one in node._connections}
            await client.call(60, 2, endpointType=2)
            return outcomes[CLOSED], [one.taken for one in admissions]

    closed, taken = asyncio.run(main())

    assert taken == [0], "what a request took is given back"
    lines = [one.message for one in caplog.records if "Closing the connection" in one.message]
    assert len(lines) == closed > 100


def test_connections_that_do_nothing_are_in_nobody_s_way(tmp_path):
    async def main():
        path = properties(tmp_path)
        async with serving(path) as (_node, client):
            await until_active(client)
            port = port_of(read_configuration(path))
            idle = [await Client.connect(port) for _ in range(200)]
            for one in idle[::2]:
                await one.send(b"\x00\x00\x01\x00\x00\x13\x00")
            said = await client.call(60, 2, endpointType=2)
            for one in idle:
                one.close()
            return said

    assert asyncio.run(main())["errorCode"] == 0
