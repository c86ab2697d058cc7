"""A node as a process of its own, which always ends with its context."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from tests.kraft.node.client import call
from tests.kraft.node.one_node import port_of
from tests.limited import limited

from kraft.node.configuration import read_configuration

PATIENCE_SECONDS = 30.0


class Server:
    """A running `kraft server start`, whose output goes to a file beside its configuration.

    `limit` is one of the shell's `ulimit`, such as `-n 100`. It is killed at the end.
    """

    def __init__(self, path: Path, limit: str | None = None) -> None:
        self.path = path
        self.port = port_of(read_configuration(path))
        self.output = path.with_suffix(".log")
        self._limit = limit

    def __enter__(self) -> Self:
        command = [sys.executable, "-P", "-m", "kraft", "server", "start", str(self.path)]
        if self._limit is not None:
            command = limited(command, self._limit)
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)

    @property
    def said(self) -> str:
        """Return what it has written so far."""
        return self.output.read_text(errors="replace")

    def wait(self) -> int:
        """Return the exit status once it has ended by itself."""
        return self.process.wait(PATIENCE_SECONDS)

    def until_active(self) -> None:
        """Return once it is the active controller."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                if call(self.port, 60, 2, endpointType=2)["controllerId"] >= 0:
                    return
            except OSError:
                assert self.process.poll() is None, self.said
                time.sleep(0.02)
        raise AssertionError("the node did not become active")

    def peak_bytes(self) -> int:
        """Return the most memory that the process ever held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = [one for one in status.splitlines() if one.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024

    def socket_count(self) -> int:
        """Return how many sockets the process has open."""
        count = 0
        for one in Path(f"/proc/{self.process.pid}/fd").iterdir():
            # One may have been closed since it was listed.
            with contextlib.suppress(FileNotFoundError):
                count += str(one.readlink()).startswith("socket:")
        return count

    def set_config(self, name: str, value: str) -> None:
        """Set a configuration of all brokers."""
        change = {"name": name, "configOperation": 0, "value": value}
        resource = {"resourceType": 4, "resourceName": "", "configs": (change,)}
        said = call(self.port, 44, 1, resources=(resource,))
        assert said["responses"][0]["errorCode"] == 0

    def configs(self) -> dict[str, str]:
        """Return the configurations of all brokers that are set."""
        resource = {"resourceType": 4, "resourceName": "", "configurationKeys": None}
        said = call(self.port, 32, 4, resources=(resource,))
        return {one["name"]: one["value"] for one in said["results"][0]["configs"]}
