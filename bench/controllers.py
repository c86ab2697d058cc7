"""Controllers as processes, ours or Kafka's, with the same properties and the same layout.

Kafka's run as `krafla record kafka` runs them: a small heap, the serial collector, and the compiler
that starts fastest.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.record.commands import Java
from krafla.record.jars import class_path
from krafla.record.layout import Layout, free_ports, lay_out, log4j2, properties
from krafla.record.scenario import Shape
from krafla.tlc.jre import find_jre
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.record.processes import Processes, Running

OURS, JAVA = "ours", "Java"
KINDS = (OURS, JAVA)
CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
PATIENCE_SECONDS = 60.0
# A shape without brokers has no default for these.
_SETTINGS = (
    ("broker.session.timeout.ms", "9000"),
    ("default.replication.factor", "1"),
    ("offsets.topic.replication.factor", "1"),
    ("transaction.state.log.replication.factor", "1"),
)
_TICKS = os.sysconf("SC_CLK_TCK")


def quorum_of(size: int, folder: Path) -> Layout:
    """Return a quorum of controllers, which has no brokers, below a folder."""
    shape = Shape(controllers=size, properties=_SETTINGS)
    return lay_out(shape, folder, free_ports(size))


class Controllers:
    """The controllers of a quorum of one kind, with formatted disks; they run once started.

    Raises KraflaError if a disk cannot be formatted.
    """

    def __init__(self, kind: str, layout: Layout, processes: Processes) -> None:
        self.kind = kind
        self._layout = layout
        self._processes = processes
        self._running: dict[int, Running] = {}
        self._java: Java | None = None
        for node in layout.nodes:
            node.logs.mkdir(parents=True)
            node.data.mkdir()
            lines = (f"{key}={value}\n" for key, value in properties(layout, node).items())
            node.configuration.write_text("".join(lines), encoding="utf-8")
            (node.folder / "log4j2.xml").write_text(log4j2(node), encoding="utf-8")
            self._format(node.node_id)

    @property
    def node_ids(self) -> tuple[int, ...]:
        """Return the ids of the controllers."""
        return self._layout.shape.controller_ids

    @property
    def running(self) -> tuple[int, ...]:
        """Return the ids of those that run."""
        return tuple(sorted(self._running))

    def port(self, node_id: int) -> int:
        """Return where a controller listens."""
        port = self._layout.node(node_id).controller_port
        assert port is not None
        return port

    def start(self, node_id: int) -> None:
        """Start a controller; it is not waited for."""
        node = self._layout.node(node_id)
        command = (
            [*_kraft(), "server", "start", str(node.configuration)]
            if self.kind == OURS
            else self._kafka().server(node)
        )
        self._running[node_id] = self._processes.start(command, node.logs / "stdout.log")

    def send(self, node_id: int, number: signal.Signals) -> None:
        """Send a controller a signal that ends it."""
        self._running[node_id].send(number)

    def reap(self, node_id: int) -> None:
        """Wait for a controller that was told to end, and kill one that does not."""
        running = self._running.pop(node_id)
        running.wait(PATIENCE_SECONDS)
        running.end()

    def kill(self, node_id: int) -> None:
        """Kill a controller as the kernel would."""
        self.send(node_id, signal.SIGKILL)
        self.reap(node_id)

    def processor_seconds(self, node_id: int) -> float:
        """Return the processor time that a controller has used."""
        text = Path("/proc", str(self._running[node_id].id), "stat").read_text(encoding="utf-8")
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / _TICKS

    def resident_mib(self, node_id: int) -> float:
        """Return the resident memory of a controller."""
        text = Path("/proc", str(self._running[node_id].id), "statm").read_text(encoding="utf-8")
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def check_alive(self, node_id: int) -> None:
        """Raise KraflaError with what a controller said if it has ended."""
        if not self._running[node_id].is_alive:
            output = self._layout.node(node_id).logs / "stdout.log"
            said = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise KraflaError(f"the controller ended: {(said or [''])[-1]}", self.kind)

    def _format(self, node_id: int) -> None:
        node = self._layout.node(node_id)
        about = ["format", "-t", CLUSTER_ID, "-c", str(node.configuration)]
        command = (
            [*_kraft(), "storage", *about]
            if self.kind == OURS
            else self._kafka().tool("storage", about)
        )
        output = node.logs / "format.log"
        if self._processes.start(command, output).wait(PATIENCE_SECONDS) != 0:
            said = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise KraflaError(f"a disk cannot be formatted: {(said or [''])[-1]}", self.kind)

    def _kafka(self) -> Java:
        if self._java is None:
            logging = self._layout.nodes[0].folder.parent / "tools-log4j2.xml"
            logging.write_text('<Configuration status="ERROR"/>\n', encoding="utf-8")
            self._java = Java(find_jre(17, "Kafka").java, class_path(), logging)
        return self._java


def _kraft() -> list[str]:
    return [sys.executable, "-P", "-m", "kraft"]
