"""A real cluster: its nodes as processes, started, watched and stopped by their ids."""

from __future__ import annotations

import base64
import signal
import time
import uuid
from typing import TYPE_CHECKING

from krafla.record.commands import format_command, server_command
from krafla.record.layout import log4j2, properties
from krafla.record.watch import (
    BROKER_RUNNING,
    STARTED,
    is_fenced,
    last_complaint,
    leadership,
    refusal,
)
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from krafla.record.commands import Java
    from krafla.record.journal import Journal
    from krafla.record.layout import Layout, NodePlace
    from krafla.record.processes import Processes, Running

__all__ = ["PATIENCE_SECONDS", "Cluster"]

# How long anything may take before the recording is given up; a machine may be busy with more.
PATIENCE_SECONDS = 240.0
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 60.0


class Cluster:
    """The nodes of a layout. The owner of `processes` ends them."""

    def __init__(self, layout: Layout, java: Java, processes: Processes, journal: Journal) -> None:
        self.layout = layout
        self.cluster_id = _cluster_id()
        self._java = java
        self._processes = processes
        self._journal = journal
        self._running: dict[int, Running] = {}
        self._paused: set[int] = set()
        self._seen_from: dict[int, dict[str, int]] = {}

    def boot(self) -> None:
        """Format all disks and start all nodes; return when brokers are unfenced."""
        journal, shape = self._journal, self.layout.shape
        for number, node in enumerate(self.layout.nodes, 1):
            journal.begin(f"formatting {number} of {len(self.layout.nodes)}: node {node.node_id}")
            node.logs.mkdir(parents=True)
            node.data.mkdir()
            text = "".join(f"{k}={v}\n" for k, v in properties(self.layout, node).items())
            node.configuration.write_text(text, encoding="utf-8")
            if not node.is_kraft:
                (node.folder / "log4j2.xml").write_text(log4j2(node), encoding="utf-8")
            self._format(node, is_first=node.node_id in shape.first_voters)
        journal.begin(f"starting {len(self.layout.nodes)} nodes")
        self.start(shape.node_ids)

    def _format(self, node: NodePlace, *, is_first: bool) -> None:
        shape = self.layout.shape
        options = []
        if shape.metadata_version is not None:
            options += ["--release-version", shape.metadata_version]
        if shape.dynamic and node.controller_port is not None:
            options.append("--standalone" if is_first else "--no-initial-controllers")
        output = node.logs / "format.log"
        command = format_command(self._java, node, self.cluster_id, options)
        status = self._processes.start(command, output).wait(PATIENCE_SECONDS)
        if status != 0:
            said = output.read_text(encoding="utf-8", errors="replace")
            raise KraflaError(f"node {node.node_id} cannot be formatted: {refusal(said)}")

    def start(self, node_ids: Sequence[int]) -> None:
        """Start nodes at once, and return when each has started and brokers are unfenced."""
        for node_id in node_ids:
            node = self.layout.node(node_id)
            self._seen_from[node_id] = {p.name: p.stat().st_size for p in node.logs.glob("*.log")}
            running = self._processes.start(server_command(self._java, node), node.output)
            self._running[node_id] = running
            program = "kraft" if node.is_kraft else "Kafka"
            self._journal.note(
                f"started node {node_id}, {program}'s {node.roles}, process {running.id}"
            )
        for node_id in node_ids:
            self.until_seen(node_id, STARTED, "has started")
            if self.layout.node(node_id).broker_port is not None:
                self.until_seen(node_id, BROKER_RUNNING, "is unfenced")

    def until_seen(self, node_id: int, pattern: re.Pattern[str], what: str) -> None:
        """Return when a node's server.log shows something since the node was started."""

        def is_seen() -> bool:
            if pattern.search(self._log(node_id, "server.log")):
                return True
            if not self._running[node_id].is_alive:
                complaint = self._last_complaint(node_id)
                raise KraflaError(f"node {node_id} ended before it {what}: {complaint}")
            return False

        self.until(is_seen, f"node {node_id} {what}")

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Return when something is so; ``KraflaError`` when it was not for too long."""
        began = time.monotonic()
        while not is_so():
            waited = time.monotonic() - began
            if waited > PATIENCE_SECONDS:
                raise KraflaError(f"in {PATIENCE_SECONDS:.0f} seconds it was not seen that {what}")
            self._journal.show(f"waiting until {what} ({waited:.0f} s)")
            time.sleep(_LOOK_SECONDS)
        self._journal.note(f"seen after {time.monotonic() - began:.1f} s: {what}")

    def ended(self) -> list[str]:
        """Return a sentence for each node that has ended by itself."""
        dead = [node for node, running in self._running.items() if not running.is_alive]
        return [f"node {one} has ended by itself: {self._last_complaint(one)}" for one in dead]

    def _last_complaint(self, node_id: int) -> str:
        """Return the last error that a node told since it was started; empty if there is none."""
        names = ("server.log", self.layout.node(node_id).output.name)
        found = (last_complaint(self._log(node_id, name)) for name in names)
        return next(filter(None, found), "")

    def kill(self, node_id: int) -> None:
        """Kill a node as the kernel would."""
        running = self._running.pop(node_id)
        self._paused.discard(node_id)
        running.end()

    def stop(self, node_ids: Sequence[int]) -> None:
        """Ask nodes to stop, all at once, and wait for them; one that does not is killed."""
        for node_id in node_ids:
            self._running[node_id].send(signal.SIGTERM)
        for node_id in node_ids:
            status = self._running[node_id].wait(_STOP_SECONDS)
            if status is None:
                self._journal.note(f"node {node_id} did not stop in {_STOP_SECONDS:.0f} s: killed")
            self.kill(node_id)

    def pause(self, node_id: int) -> None:
        """Let a node stand still, its connections open."""
        self._running[node_id].send(signal.SIGSTOP)
        self._paused.add(node_id)

    def resume(self, node_ids: Sequence[int]) -> None:
        """Let nodes go on."""
        for node_id in node_ids:
            self._running[node_id].send(signal.SIGCONT)
            self._paused.discard(node_id)

    def wipe(self, node_id: int) -> None:
        """Put an empty, formatted disk in the place of a stopped node's; the old one is kept."""
        node = self.layout.node(node_id)
        number = sum(1 for _ in node.folder.glob("old-*")) + 1
        node.data.rename(node.folder / f"old-{number}")
        node.data.mkdir()
        self._format(node, is_first=not self.layout.shape.dynamic)

    def shut_down(self) -> None:
        """Stop all running nodes: brokers first, so that they can hand over their leaderships."""
        self.resume(sorted(self._paused))
        controllers = set(self.layout.shape.controller_ids)
        self.stop([node for node in self.running if node not in controllers])
        self.stop(self.running)

    @property
    def running(self) -> list[int]:
        """Return the nodes that were started and neither stopped nor killed, paused or not."""
        return sorted(self._running)

    @property
    def down(self) -> list[int]:
        """Return the nodes that are not running."""
        return [node for node in self.layout.shape.node_ids if node not in self._running]

    @property
    def paused(self) -> list[int]:
        """Return the nodes that are paused."""
        return sorted(self._paused)

    def answering(self, node_ids: Sequence[int]) -> list[NodePlace]:
        """Return those of some nodes that run and are not paused."""
        known = [n for n in node_ids if n in self._running and n not in self._paused]
        return [self.layout.node(n) for n in known]

    def active(self) -> int | None:
        """Return the active controller, None while none can be seen."""
        found = [
            (state.epoch, node.node_id)
            for node in self.answering(self.layout.shape.controller_ids)
            if (state := leadership(self._log(node.node_id, node.controller_log.name))).holds
        ]
        return max(found)[1] if found else None

    def is_fenced(self, broker: int) -> bool | None:
        """Return whether the controllers' logs show a broker fenced; None if they are silent."""
        nodes = self.answering(self.layout.shape.controller_ids)
        logs = [self._log(n.node_id, n.controller_log.name, from_start=True) for n in nodes]
        return is_fenced(broker, logs)

    def _log(self, node_id: int, name: str, *, from_start: bool = False) -> str:
        path = self.layout.node(node_id).logs / name
        if not path.exists():
            return ""
        with path.open("rb") as file:
            file.seek(0 if from_start else self._seen_from[node_id].get(name, 0))
            return file.read().decode("utf-8", errors="replace")


def _cluster_id() -> str:
    """Return a new id as Kafka writes it; tools take one that begins with a dash for an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text
