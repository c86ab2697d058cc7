"""A disk that fails: the node ends with one line, and has lost nothing that it acknowledged."""

import asyncio
import errno
import logging
import os
import shutil

import pytest
from tests.kraft.node.client import Client
from tests.kraft.node.node_process import Server
from tests.kraft.node.one_node import broker, create_topic, port_of, properties, until_active

from kraft.errors import CorruptMessageError
from kraft.log.real_files import RealFiles
from kraft.node.configuration import read_configuration
from kraft.node.server import Node
from kraft.tools import application
from kraft.tools.guard import run_guarded

LOG = "__cluster_metadata-0"
SEGMENT = f"{LOG}/00000000000000000000.log"


class Faults:
    """Fails one method of the files, from when it is told to."""

    def __init__(self, monkeypatch, method, number, *, after_half=False):
        self.is_on = False
        self._real = getattr(RealFiles, method)
        monkeypatch.setattr(RealFiles, method, self._faulty(number, after_half=after_half))

    def _faulty(self, number, *, after_half):
        def method(files, name, *more):
            if not self.is_on:
                return self._real(files, name, *more)
            if after_half:
                (data,) = more
                self._real(files, name, data[: len(data) // 2])
            raise OSError(number, os.strerror(number))

        return method


async def topics_until(path, fault):
    """Create topics until the node ends; return the acknowledged ones, and how it ended."""
    configuration = read_configuration(path)
    running = asyncio.create_task(Node(configuration).run())
    client = None
    while client is None:
        await asyncio.sleep(0.01)
        try:
            client = await Client.connect(port_of(configuration))
        except ConnectionRefusedError:
            assert not running.done()
    await until_active(client)
    await broker(client)
    acknowledged = []
    try:
        for number in range(20):
            if number == 2:
                fault()
            assert await create_topic(client, f"topic-{number}") == 0
            acknowledged.append(f"topic-{number}")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        client.close()
    async with asyncio.timeout(20):
        return acknowledged, await running


async def topics_after(path):
    """Return the names of the topics that a node has at its next start."""
    configuration = read_configuration(path)
    node = Node(configuration)
    running = asyncio.create_task(node.run())
    while not node.host.state.claim_epoch > 0:
        await asyncio.sleep(0.01)
    found = set(node.host.state.written.image.topic_ids)
    node.stop()
    assert await running
    return found


@pytest.mark.parametrize(
    ("method", "number", "after_half"),
    [
        ("append", errno.ENOSPC, False),
        ("append", errno.ENOSPC, True),
        ("append", errno.EROFS, False),
        ("flush", errno.EIO, False),
    ],
)
def test_a_disk_that_fails_ends_the_node_with_one_line(
    tmp_path, monkeypatch, caplog, method, number, after_half
):
    path = properties(tmp_path)
    faults = Faults(monkeypatch, method, number, after_half=after_half)

    def begin():
        faults.is_on = True

    acknowledged, is_done = asyncio.run(topics_until(path, begin))
    faults.is_on = False
    found = asyncio.run(topics_after(path))

    assert not is_done
    # A sole voter has committed what it appends before it is flushed, as in Kafka.
    most = 3 if method == "flush" else 2
    assert acknowledged in [[f"topic-{n}" for n in range(count)] for count in range(2, most + 1)]
    assert found >= set(acknowledged)
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    reason = os.strerror(number).lower()
    assert record.message.endswith(f"Fatal fault: {tmp_path / 'data'}: {reason}")
    assert record.exc_info is None


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_directory_that_is_removed_under_a_node_is_not_made_anew(tmp_path, caplog, is_replaced):
    path = properties(tmp_path)
    log = tmp_path / "data" / LOG

    def remove():
        log.rename(tmp_path / "aside")
        if is_replaced:
            shutil.copytree(tmp_path / "aside", log)

    acknowledged, is_done = asyncio.run(topics_until(path, remove))
    if is_replaced:
        shutil.rmtree(log)
    assert not log.exists()
    (tmp_path / "aside").rename(log)
    found = asyncio.run(topics_after(path))

    assert not is_done
    assert found >= set(acknowledged)
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert "Fatal fault" in record.message
    assert str(tmp_path / "data") in record.message


@pytest.mark.nightly
def test_a_process_whose_disk_is_full_ends_with_status_1(tmp_path):
    written = 0
    with Server(properties(tmp_path), "-f 24") as server:
        server.until_active()
        try:
            while True:
                server.set_config("log.retention.ms", str(written + 1))
                written += 1
        except (OSError, CorruptMessageError):
            pass
        assert server.wait() == 1
        said = server.said
    with Server(server.path) as again:
        again.until_active()
        assert int(again.configs()["log.retention.ms"]) in (written, written + 1)

    (line,) = [one for one in said.splitlines() if " ERROR " in one]
    assert "data: file too large" in line
    assert "Traceback" not in said
    assert written > 10


def refused(capfd, path):
    """Return the exit status and the one line of a server that does not start."""
    command = application()
    status = run_guarded(lambda: command(["server", "start", str(path)]))
    (line,) = capfd.readouterr().err.splitlines()
    return status, line.removeprefix("kraft: ")


@pytest.mark.parametrize(
    ("method", "number"), [("append", errno.ENOSPC), ("flush", errno.EIO), ("rename", errno.EROFS)]
)
def test_a_disk_that_fails_at_the_start_is_one_line(tmp_path, monkeypatch, capfd, method, number):
    path = properties(tmp_path)
    Faults(monkeypatch, method, number).is_on = True

    status, said = refused(capfd, path)

    assert status == 1
    assert said == f"{tmp_path / 'data'}: {os.strerror(number).lower()}"


def removed(data):
    (data / "meta.properties").unlink()


def corrupt(data):
    log = bytearray((data / SEGMENT).read_bytes())
    log[len(log) // 2] ^= 0xFF
    (data / SEGMENT).write_bytes(log)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (removed, "data is not formatted: kraft storage format does that, and makes it"),
        (corrupt, f"{SEGMENT}: CRC-32C is"),
    ],
)
def test_damage_is_one_line_with_its_place(tmp_path, capfd, damage, said):
    path = properties(tmp_path)
    asyncio.run(run_once(path))
    damage(tmp_path / "data")
    capfd.readouterr()

    status, line = refused(capfd, path)

    assert status == 1
    assert said in line


async def run_once(path):
    """Run a node until it is active, and stop it."""
    node = Node(read_configuration(path))
    running = asyncio.create_task(node.run())
    while not node.host.state.claim_epoch > 0:
        await asyncio.sleep(0.01)
    node.stop()
    assert await running


def test_a_torn_tail_is_cut_off_and_told(tmp_path, caplog):
    path = properties(tmp_path)
    asyncio.run(run_once(path))
    with (tmp_path / "data" / SEGMENT).open("ab") as log:
        log.write(bytes(7))
    with caplog.at_level(logging.WARNING, "kraft.node.server"):
        asyncio.run(run_once(path))

    assert any(SEGMENT in one.message for one in caplog.records)
