"""The command lines of the programs: the servers, and each of Kafka's tools by its purpose."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - the dataclass is read at run time by its tests
from typing import TYPE_CHECKING, Final

from krafla.record.layout import HOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.record.layout import NodePlace

__all__ = ["TOOLS", "Java", "bootstrap_brokers", "format_command", "server_command"]

TOOLS: Final = {
    "storage": "kafka.tools.StorageTool",
    "topics": "org.apache.kafka.tools.TopicCommand",
    "reassign": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "configs": "kafka.admin.ConfigCommand",
    "acls": "org.apache.kafka.tools.AclCommand",
    "elect": "org.apache.kafka.tools.LeaderElectionCommand",
    "quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "features": "org.apache.kafka.tools.FeatureCommand",
    "cluster": "org.apache.kafka.tools.ClusterTool",
    "producer": "org.apache.kafka.tools.ProducerPerformance",
}
# Short-lived programs, many at once: the cheapest collector, the compiler that starts fastest.
_FLAGS: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:-UsePerfData")
_SERVER_HEAP: Final = ("-Xmx256m", "-Xms64m", "-XX:MaxDirectMemorySize=64m")
_TOOL_HEAP: Final = ("-Xmx192m",)
# As a process, with the Python that runs this: nothing of it is imported here.
_KRAFT: Final = (sys.executable, "-P", "-m", "kraft")


@dataclass(frozen=True, slots=True)
class Java:
    """A Java program, Kafka's class path, and the logging of tools."""

    program: Path
    class_path: str
    tools_logging: Path

    def server(self, node: NodePlace) -> list[str]:
        """Return the command line of a node."""
        return [
            str(self.program),
            *_FLAGS,
            *_SERVER_HEAP,
            "-Djava.net.preferIPv4Stack=true",
            f"-Djava.io.tmpdir={self.tools_logging.parent}",
            f"-Dlog4j2.configurationFile={node.folder / 'log4j2.xml'}",
            "-cp",
            self.class_path,
            "kafka.Kafka",
            str(node.configuration),
        ]

    def tool(self, name: str, arguments: Sequence[str]) -> list[str]:
        """Return the command line of a tool of `TOOLS`."""
        return [
            str(self.program),
            *_FLAGS,
            *_TOOL_HEAP,
            "-Djava.net.preferIPv4Stack=true",
            f"-Djava.io.tmpdir={self.tools_logging.parent}",
            f"-Dlog4j2.configurationFile={self.tools_logging}",
            "-cp",
            self.class_path,
            TOOLS[name],
            *arguments,
        ]

    def format(self, node: NodePlace, cluster_id: str, options: Sequence[str]) -> list[str]:
        """Return the command line that formats a node's disk."""
        configuration = str(node.configuration)
        return self.tool("storage", ["format", "-t", cluster_id, "-c", configuration, *options])


def server_command(java: Java, node: NodePlace) -> list[str]:
    """Return the command line of a node, be it Kafka's or kraft's."""
    if node.is_kraft:
        return [*_KRAFT, "server", "start", str(node.configuration)]
    return java.server(node)


def format_command(
    java: Java, node: NodePlace, cluster_id: str, options: Sequence[str]
) -> list[str]:
    """Return the command line that formats the disk of a node, be it Kafka's or kraft's."""
    if node.is_kraft:
        about = ["-t", cluster_id, "-c", str(node.configuration)]
        return [*_KRAFT, "storage", "format", *about, *options]
    return java.format(node, cluster_id, options)


def bootstrap_brokers(nodes: Sequence[NodePlace]) -> str:
    """Return where a client begins that may ask these brokers."""
    return ",".join(f"{HOST}:{n.broker_port}" for n in nodes if n.broker_port is not None)
