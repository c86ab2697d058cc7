"""A node as a process: killed, stopped, refused."""

import contextlib
import random
import signal
import socket
import subprocess
import sys
import threading

import pytest
from tests.kraft.kafka_tools import dump, dumped_batches
from tests.kraft.node.node_process import Server
from tests.kraft.node.one_node import properties

from kraft.errors import CorruptMessageError
from kraft.node.configuration import read_configuration
from kraft.node.lock import lock_directories
from kraft.tools import application
from kraft.tools.guard import run_guarded

SEED = 20_261


def refused(capfd, *arguments):
    """Return the one line of a server that does not start."""
    command = application()
    status = run_guarded(lambda: command(["server", "start", *map(str, arguments)]))
    said = capfd.readouterr()
    assert status == 1
    (line,) = said.err.splitlines()
    return line


def test_what_was_acknowledged_survives_kill_9_and_sigterm_ends_in_good_order(tmp_path):
    path = properties(tmp_path)
    with Server(path) as server:
        server.until_active()
        server.set_config("log.retention.ms", "1")
    with Server(path) as server:
        server.until_active()
        assert server.configs() == {"log.retention.ms": "1"}
        server.process.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    said = server.said

    assert "Becoming the active controller at epoch 2." in said
    assert "everybody who connects to CONTROLLER is a superuser" in said
    assert said.endswith("shut down completed (kraft.node.server)\n")


@pytest.mark.nightly
def test_fifty_kills_under_load_lose_nothing_that_was_acknowledged(tmp_path):
    chance = random.Random(SEED)
    path = properties(tmp_path)
    acknowledged = tried = 0
    for _ in range(50):
        with Server(path) as server:
            server.until_active()
            found = int(server.configs().get("log.retention.ms", "0"))
            assert acknowledged <= found <= tried
            killer = threading.Timer(chance.random() * 0.5, server.process.kill)
            killer.start()
            with contextlib.suppress(OSError, CorruptMessageError):
                while True:
                    tried += 1
                    server.set_config("log.retention.ms", str(tried))
                    acknowledged = tried
            killer.join()

    audit = [sys.executable, "-m", "krafla", "audit", str(tmp_path / "data")]
    audited = subprocess.run(audit, capture_output=True, text=True, timeout=120, check=False)
    (segment,) = (tmp_path / "data" / "__cluster_metadata-0").glob("*.log")
    (dumped,) = dump([segment], "--cluster-metadata-decoder").values()
    assert acknowledged > 50
    assert audited.returncode == 0, audited.stdout
    assert all(batch.is_valid for batch in dumped_batches(dumped))


def test_a_second_server_on_a_directory_is_refused(tmp_path):
    path = properties(tmp_path)
    locks = lock_directories(read_configuration(path).directories)
    with Server(path) as server:
        assert server.wait() == 1
    for lock in locks:
        lock.close()

    (line,) = server.said.splitlines()
    assert line.endswith("data: the file .lock is locked, another process uses this directory")


@pytest.mark.parametrize("is_there", [False, True])
def test_a_directory_that_is_not_formatted_is_refused(tmp_path, capfd, is_there):
    path = properties(tmp_path)
    if is_there:
        (tmp_path / "new").mkdir()

    said = refused(capfd, path, "--override", f"log.dirs={tmp_path}/new")

    assert said.endswith("new is not formatted: kraft storage format does that, and makes it")


def test_a_directory_of_another_node_is_refused(tmp_path, capfd):
    path = properties(tmp_path)
    voters = path.read_text().split("controller.quorum.voters=1")[1].splitlines()[0]

    said = refused(
        capfd, path, "--override", "node.id=2", "--override", f"controller.quorum.voters=2{voters}"
    )

    assert "meta.properties" in said


def test_a_wrong_configuration_is_refused_in_one_sentence(tmp_path, capfd):
    said = refused(capfd, properties(tmp_path), "--override", "node.id=x")

    assert said.startswith("kraft: --override: node.id is not a number from 0 to 2147483647")


def test_a_port_that_is_taken_is_refused(tmp_path, capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        override = f"listeners=CONTROLLER://127.0.0.1:{port}"
        said = refused(capfd, properties(tmp_path), "--override", override)

    assert f"listener CONTROLLER cannot be bound to 127.0.0.1:{port}" in said
