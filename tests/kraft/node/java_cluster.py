"""Clusters of real processes, in which our controllers stand in for some of Kafka's."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.kraft.kafka_tools import run
from tests.kraft.node.client import call
from tests.kraft.node.one_node import topic

from krafla.record.cluster import Cluster
from krafla.record.collect import Scrub, collect
from krafla.record.commands import Java
from krafla.record.jars import class_path
from krafla.record.journal import Journal
from krafla.record.layout import free_ports, lay_out
from krafla.record.processes import Processes
from krafla.tlc.jre import find_jre
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from krafla.record.layout import NodePlace
    from krafla.record.scenario import Shape

_ELECTIONS_MAX = 20
_CREATED = {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}
_ASK_AGAIN = {ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT}
_TOOLS_LOGGING = '<Configuration status="ERROR"/>\n'


@contextmanager
def running(shape: Shape, folder: Path) -> Iterator[Cluster]:
    """Boot a cluster; all its processes end with the context."""
    logging = folder / "tools-log4j2.xml"
    logging.write_text(_TOOLS_LOGGING, encoding="utf-8")
    java = Java(find_jre(17, "Kafka").java, class_path(), logging)
    ports = free_ports(len(shape.controller_ids) + len(shape.broker_ids))
    layout = lay_out(shape, folder, ports)
    with Processes() as processes:
        cluster = Cluster(layout, java, processes, Journal(folder / "journal.log", lambda _: None))
        cluster.boot()
        yield cluster
        cluster.shut_down()


def active(cluster: Cluster) -> int:
    """Return the active controller; wait for it."""
    cluster.until(lambda: cluster.active() is not None, "there is an active controller")
    found = cluster.active()
    assert found is not None, "the active controller was gone again at once"
    return found


def let_lead(cluster: Cluster, nodes: Collection[int]) -> int:
    """Stop active controllers, and start them again, until one of some nodes leads; return it."""
    for _ in range(_ELECTIONS_MAX):
        leader = active(cluster)
        if leader in nodes:
            return leader
        cluster.stop([leader])
        active(cluster)
        cluster.start([leader])
    raise AssertionError(f"none of {nodes} was elected")


def create_topic_at_controller(cluster: Cluster, name: str) -> None:
    """Create a topic of two partitions, each on one broker, without the start of a JVM.

    As a client would, it asks again when it was another controller, or none.
    """

    def is_created() -> bool:
        port = cluster.layout.node(active(cluster)).controller_port
        assert port is not None
        try:
            (created,) = call(port, 19, 7, topics=(topic(name),), timeoutMs=20_000)["topics"]
        except (OSError, EOFError):
            return False
        code = ErrorCode(created["errorCode"])
        assert code in _CREATED | _ASK_AGAIN, created
        return code in _CREATED

    cluster.until(is_created, f"{name} is created")


def assert_held(cluster: Cluster, folder: Path) -> None:
    """Let the audit judge each metadata log of a stopped cluster, and compare what they share."""
    kept = folder / "kept"
    collect(cluster.layout, folder / "journal.log", kept, Scrub({}), {})
    logs = [*kept.rglob("__cluster_metadata-0")]
    assert logs
    command = [sys.executable, "-m", "krafla", "audit", str(kept)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stdout
    directories = re.search(r"HELD {2}1 cluster, (\d+) director", finished.stdout)
    assert directories is not None, finished.stdout
    assert int(directories[1]) == len(logs)


def complaints(node: NodePlace) -> list[str]:
    """Return the lines of a node's log that are errors."""
    lines = (node.logs / "server.log").read_text(errors="replace").splitlines()
    return [line for line in lines if "] ERROR " in line or "] FATAL " in line]


def brokers(cluster: Cluster) -> str:
    """Return where clients of a cluster begin."""
    nodes = cluster.answering(cluster.layout.shape.broker_ids)
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


def until_described(
    cluster: Cluster, name: str, is_so: Callable[[Sequence[str]], bool]
) -> Sequence[str]:
    """Return what kafka-topics says of the partitions of a topic when it is so."""
    lines: list[str] = []

    def is_seen() -> bool:
        said = described(cluster, name).splitlines()
        lines[:] = [line for line in said if "\tPartition: " in line]
        return is_so(lines)

    cluster.until(is_seen, f"the partitions of {name} are as they should be")
    return lines


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
    meta = (cluster.layout.node(node_id).data / "meta.properties").read_text()
    directory = meta.split("directory.id=")[1].split()[0]
    about = ["--controller-id", str(node_id), "--controller-directory-id", directory]
    return _quorum(cluster, "remove-controller", *about)


def _quorum(cluster: Cluster, *arguments: str) -> str:
    nodes = (cluster.layout.node(one) for one in cluster.layout.shape.controller_ids)
    servers = ",".join(f"127.0.0.1:{node.controller_port}" for node in nodes)
    start = ["--bootstrap-controller", servers]
    return run("org.apache.kafka.tools.MetadataQuorumCommand", *start, *arguments)
