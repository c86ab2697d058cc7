"""Clusters of real processes, in which our controllers stand in for some of Kafka's."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.kraft.kafka_tools import run

from krafla.record.cluster import Cluster
from krafla.record.commands import Java
from krafla.record.jars import class_path
from krafla.record.journal import Journal
from krafla.record.layout import free_ports, lay_out
from krafla.record.processes import Processes
from krafla.tlc.jre import find_jre

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from krafla.record.scenario import Shape

_TOOLS_LOGGING = '<Configuration status="ERROR"/>\n'


@contextmanager
def running(shape: Shape, ours: Sequence[int], folder: Path) -> Iterator[Cluster]:
    """Boot a cluster in which some nodes are ours; all its processes end with the context."""
    logging = folder / "tools-log4j2.xml"
    logging.write_text(_TOOLS_LOGGING, encoding="utf-8")
    java = Java(find_jre(17, "Kafka").java, class_path(), logging)
    ports = free_ports(len(shape.controller_ids) + len(shape.broker_ids))
    layout = lay_out(replace(shape, kraft_ids=tuple(ours)), folder, ports)
    with Processes() as processes:
        cluster = Cluster(layout, java, processes, Journal(folder / "journal.log", lambda _: None))
        cluster.boot()
        yield cluster
        cluster.shut_down()


def brokers(cluster: Cluster) -> str:
    """Return where clients of a cluster begin."""
    nodes = (cluster.layout.node(one) for one in cluster.layout.shape.broker_ids)
    return ",".join(f"127.0.0.1:{node.broker_port}" for node in nodes)


def create_topic(cluster: Cluster, name: str, *options: str) -> None:
    """Create a topic by kafka-topics."""
    start = ["--bootstrap-server", brokers(cluster), "--create", "--topic", name, *options]
    said = run("org.apache.kafka.tools.TopicCommand", *start)
    assert f"Created topic {name}." in said


def described(cluster: Cluster, name: str) -> str:
    """Return what kafka-topics says of a topic."""
    start = ["--bootstrap-server", brokers(cluster), "--describe", "--topic", name]
    return run("org.apache.kafka.tools.TopicCommand", *start)


def produce(cluster: Cluster, topic: str, lines: Sequence[str]) -> None:
    """Produce lines by the console producer."""
    start = ["--bootstrap-server", brokers(cluster), "--topic", topic]
    run(
        "org.apache.kafka.tools.ConsoleProducer", *start, stdin="".join(f"{one}\n" for one in lines)
    )


def consumed(cluster: Cluster, topic: str, count: int) -> list[str]:
    """Return so many lines of a topic by the console consumer."""
    start = ["--bootstrap-server", brokers(cluster), "--topic", topic, "--from-beginning"]
    end = ["--max-messages", str(count), "--timeout-ms", "60000"]
    return run("org.apache.kafka.tools.consumer.ConsoleConsumer", *start, *end).splitlines()


def topics(cluster: Cluster) -> list[str]:
    """Return the names of the topics by kafka-topics."""
    start = ["--bootstrap-server", brokers(cluster), "--list"]
    return run("org.apache.kafka.tools.TopicCommand", *start).splitlines()


def quorum(cluster: Cluster, what: str) -> str:
    """Return what kafka-metadata-quorum says when it asks the controllers."""
    return _quorum(cluster, "describe", f"--{what}")


def add_controller(cluster: Cluster, node_id: int) -> str:
    """Make a voter of a controller; return what kafka-metadata-quorum says."""
    configuration = str(cluster.layout.node(node_id).configuration)
    return _quorum(cluster, "--command-config", configuration, "add-controller")


def remove_controller(cluster: Cluster, node_id: int) -> str:
    """Make a voter an observer; return what kafka-metadata-quorum says."""
    lines = (line.split() for line in quorum(cluster, "replication").splitlines() if line)
    (directory,) = (words[1] for words in lines if words[0] == str(node_id))
    about = ["--controller-id", str(node_id), "--controller-directory-id", directory]
    return _quorum(cluster, "remove-controller", *about)


def _quorum(cluster: Cluster, *arguments: str) -> str:
    nodes = (cluster.layout.node(one) for one in cluster.layout.shape.controller_ids)
    servers = ",".join(f"127.0.0.1:{node.controller_port}" for node in nodes)
    start = ["--bootstrap-controller", servers]
    return run("org.apache.kafka.tools.MetadataQuorumCommand", *start, *arguments)
