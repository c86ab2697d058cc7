"""Signals at any moment, and a process that stands still while time goes on."""

import contextlib
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from tests.kraft.node.client import call
from tests.kraft.node.node_process import Server
from tests.kraft.node.one_node import CLUSTER, DIRECTORY, INCARNATION, properties

from krafla.record.layout import free_ports
from kraft.errors import CorruptMessageError
from kraft.ids import uuid_text
from kraft.log.identity import format_directory
from kraft.log.real_files import RealFiles
from kraft.node.clock import Clock

SEED = 20_263
PATIENCE_SECONDS = 30
STARTED = "Kafka Server started"
LISTENER = {"name": "PLAINTEXT", "host": "127.0.0.1", "port": 9092, "securityProtocol": 0}
SUPPORTED = ({"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 27},)


def audit_status(data):
    audit = [sys.executable, "-m", "krafla", "audit", str(data)]
    return subprocess.run(audit, capture_output=True, timeout=120, check=False).returncode


def set_configs_until_the_end(server, values):
    """Set a configuration anew until the server ends; return the last value it acknowledged."""
    acknowledged = 0
    with contextlib.suppress(OSError, CorruptMessageError):
        for value in values:
            server.set_config("log.retention.ms", str(value))
            acknowledged = value
    return acknowledged


@pytest.mark.parametrize("count", [2, pytest.param(30, marks=pytest.mark.nightly)])
def test_sigterm_at_any_moment_ends_a_node_in_good_order(tmp_path, count):
    chance = random.Random(SEED)
    path = properties(tmp_path)
    for _ in range(count):
        with Server(path) as server:
            time.sleep(chance.random() * 1.5)
            server.process.terminate()
            server.process.terminate()
            status = server.wait()
        assert "Traceback" not in server.said
        # Before it has read its configuration, a node ends as any other process.
        assert status in ({0} if STARTED in server.said else {0, -signal.SIGTERM})
    with Server(path) as server:
        server.until_active()

    assert audit_status(tmp_path / "data") == 0


def test_sigint_ends_a_node_in_good_order(tmp_path):
    with Server(properties(tmp_path)) as server:
        server.until_active()
        server.process.send_signal(signal.SIGINT)
        assert server.wait() == 0

    assert "shut down completed" in server.said


def test_sigterm_under_load_loses_nothing_that_was_acknowledged(tmp_path):
    path = properties(tmp_path)
    with Server(path) as server:
        server.until_active()
        timer = threading.Timer(0.3, server.process.terminate)
        timer.start()
        acknowledged = set_configs_until_the_end(server, range(1, 100_000))
        timer.join()
        assert server.wait() == 0
    with Server(path) as server:
        server.until_active()
        found = int(server.configs()["log.retention.ms"])

    assert 0 < acknowledged <= found <= acknowledged + 1


def quorum(folder):
    """Write the configurations of three controllers, and format their directories."""
    ports = free_ports(3)
    voters = ",".join(f"{n}@127.0.0.1:{port}" for n, port in enumerate(ports, start=1))
    paths = []
    for number, port in enumerate(ports, start=1):
        data = folder / f"data-{number}"
        data.mkdir()
        format_directory(RealFiles(data), CLUSTER, number, uuid_text(bytes([number] * 16)))
        path = properties(
            folder,
            **{
                "node.id": str(number),
                "controller.quorum.voters": voters,
                "listeners": f"CONTROLLER://127.0.0.1:{port}",
                "log.dirs": str(data),
                "controller.quorum.election.timeout.ms": "1000",
                "broker.session.timeout.ms": "6000",
            },
        )
        paths.append(path.rename(folder / f"server-{number}.properties"))
    return paths


def leader_of(servers):
    """Return the active controller among servers, once they agree on it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, CorruptMessageError):
            named = {call(one.port, 60, 2, endpointType=2)["controllerId"] for one in servers}
            if len(named) == 1 and named != {-1}:
                (leader,) = named
                for one in servers:
                    if one.path.stem == f"server-{leader}":
                        return one
        time.sleep(0.1)
    raise AssertionError("no leader")


@pytest.mark.nightly
def test_sigterm_without_a_leader_takes_five_seconds(tmp_path):
    with Server(quorum(tmp_path)[0]) as alone:
        while STARTED not in alone.said:
            time.sleep(0.1)
        began = time.monotonic()
        alone.process.terminate()
        assert alone.wait() == 0
        assert 4 < time.monotonic() - began < 8


def heartbeat(server, epoch):
    return call(
        server.port, 63, 1, brokerId=7, brokerEpoch=epoch, currentMetadataOffset=epoch
    )  # fmt: skip


@pytest.mark.nightly
def test_a_leader_that_stood_still_finds_another_one_and_resigns(tmp_path):
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(path)) for path in quorum(tmp_path)]
        old = leader_of(servers)
        registered = call(
            old.port, 62, 4, brokerId=7, clusterId=CLUSTER, incarnationId=INCARNATION,
            listeners=(LISTENER,), features=SUPPORTED, logDirs=(DIRECTORY,),
        )  # fmt: skip
        assert registered["errorCode"] == 0
        epoch = registered["brokerEpoch"]
        while heartbeat(old, epoch)["isFenced"]:
            time.sleep(0.1)
        others = [one for one in servers if one is not old]
        old.process.send_signal(signal.SIGSTOP)
        try:
            new = leader_of(others)
            # Longer than a session: who is alive stays, with the new leader.
            for _ in range(20):
                assert not heartbeat(new, epoch)["isFenced"]
                time.sleep(0.5)
        finally:
            old.process.send_signal(signal.SIGCONT)
        assert leader_of(servers) is new
        assert heartbeat(old, epoch)["errorCode"] == 41
        for _ in range(4):
            assert not heartbeat(new, epoch)["isFenced"]
            time.sleep(0.5)
        for one in servers:
            one.process.terminate()
        assert [one.wait() for one in servers] == [0, 0, 0]
        assert "Renouncing" in old.said
    assert audit_status(tmp_path) == 0


def test_a_wall_clock_that_jumps_moves_no_time():
    wall, passed = [1_000_000], [5]
    clock = Clock(lambda: wall[0], lambda: passed[0])
    first = clock.now()
    for jump in (-999_999, 10**18):
        wall[0] += jump
        passed[0] += 7
    assert clock.now() - first == 14
