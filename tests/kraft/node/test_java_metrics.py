"""Our metrics beside those of Java controllers on the same log: what both must say alike."""

from __future__ import annotations

import time
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.kraft.kafka_tools import run
from tests.kraft.node.java_cluster import active, brokers, complaints, create_topic, running

from krafla.record.commands import server_command
from krafla.record.layout import free_ports
from krafla.record.scenario import Shape
from kraft.node.metrics.gauges import GAUGES

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("java_cluster")]

PATIENCE_SECONDS = 60
# What does not depend on the node that is asked, once nothing happens any more.
SHARED = (
    "ActiveBrokerCount", "FencedBrokerCount", "ControlledShutdownBrokerCount",
    "GlobalTopicCount", "GlobalPartitionCount", "OfflinePartitionsCount",
    "PreferredReplicaImbalanceCount", "LastAppliedRecordOffset", "LastCommittedRecordOffset",
    "current-leader", "current-epoch", "high-watermark", "log-end-offset", "log-end-epoch",
    "number-of-voters", "CurrentControllerId", "CurrentMetadataVersion", "LogEndOffset",
    "LogStartOffset",
)  # fmt: skip
OURS, JAVA = (3000, 3001), 3002
BROKERS = 2
MOST_KILLS = 10


def metric(name):
    (found,) = (gauge.metric for gauge in GAUGES if gauge.metric.name == name)
    return found


def ours_said(port, names=SHARED):
    """Return the values that a node of ours shows, by Kafka's names."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    values = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    return {name: values.get((metric(name).prometheus_name,)) for name in names}


def java_said(port, names=SHARED):
    """Return the values that a Java controller shows by JMX."""
    url = f"service:jmx:rmi:///jndi/rmi://127.0.0.1:{port}/jmxrmi"
    arguments = ("--jmx-url", url, "--one-time", "--report-format", "properties")
    said = run("org.apache.kafka.tools.JmxTool", *arguments)
    values = dict(line.rpartition("=")[::2] for line in said.splitlines())
    return {name: float(values[jmx_name(name)]) for name in names}


def jmx_name(name):
    one = metric(name)
    if one.type == "raft-metrics":
        return f"{one.domain}:type={one.type}:{name}"
    keys = ",topic=__cluster_metadata,partition=0" if one.domain == "kafka.log" else ""
    return f"{one.domain}:type={one.type},name={name}{keys}:Value"


def with_metrics(ports):
    """Return what makes the command line of a node that shows its metrics at its port."""
    jmx = "-Dcom.sun.management.jmxremote"

    def command(java, node):
        line, port = server_command(java, node), ports.get(node.node_id)
        if port is None:
            return line
        if node.is_kraft:
            return [*line, "--metrics", f"127.0.0.1:{port}"]
        options = [f"{jmx}.port={port}", f"{jmx}.rmi.port={port}", f"{jmx}.host=127.0.0.1"]
        options += ["-Djava.rmi.server.hostname=127.0.0.1"]
        options += [f"{jmx}.authenticate=false", f"{jmx}.ssl=false"]
        return [line[0], *options, *line[1:]]

    return command


class Beside:
    """The metrics of all controllers that run."""

    def __init__(self, cluster, ports):
        self.cluster = cluster
        self.ports = ports

    def said(self, node, names=SHARED):
        """Return the values of one node."""
        return (ours_said if node in OURS else java_said)(self.ports[node], names)

    def observers(self):
        """Return what the leader says of those that fetch and do not vote."""
        names = ("number-of-observers", "uncommitted-voter-change")
        return tuple(self.said(active(self.cluster), names).values())

    def agree(self, is_there=lambda _: True):
        """Return what all say alike, once they do and it is there; fail if they never do."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            said = {node: self.said(node) for node in self.ports if node in self.cluster.running}
            first, *others = said.values()
            if is_there(first) and all(one == first for one in others):
                assert len(said) >= 2
                return first
            assert time.monotonic() < deadline, said


def topic_deleted(cluster, name):
    start = ["--bootstrap-server", brokers(cluster), "--delete", "--topic", name]
    run("org.apache.kafka.tools.TopicCommand", *start)


def test_our_metrics_are_those_of_java_controllers_on_the_same_log(tmp_path, monkeypatch):
    ports = dict(zip((*OURS, JAVA), free_ports(3), strict=True))
    # Without NoOpRecords, a log at rest does not grow.
    still = (("metadata.max.idle.interval.ms", "0"), ("auto.leader.rebalance.enable", "false"))
    shape = Shape(controllers=3, brokers=BROKERS, properties=still, kraft_ids=OURS)
    monkeypatch.setattr("krafla.record.cluster.server_command", with_metrics(ports))
    with running(shape, tmp_path) as cluster:
        beside = Beside(cluster, ports)
        create_topic(cluster, "calm", "--partitions", "3", "--replication-factor", "2")
        create_topic(cluster, "alone", "--partitions", "4", "--replication-factor", "1")
        begun = beside.agree()
        cluster.kill(1)
        wounded = beside.agree(lambda said: said["FencedBrokerCount"] == 1)
        topic_deleted(cluster, "alone")
        smaller = beside.agree(lambda said: said["GlobalTopicCount"] == 1)
        cluster.start([1])
        healed = beside.agree(lambda said: said["ActiveBrokerCount"] == 2)
        led, observers = [active(cluster)], []
        while not (JAVA in led and set(OURS) & set(led)) and len(led) < MOST_KILLS:
            cluster.kill(led[-1])
            create_topic(cluster, f"after-{len(led)}")
            observers.append(beside.observers())
            beside.agree()
            cluster.start([led[-1]])
            after = beside.agree()
            led.append(active(cluster))

    assert (begun["GlobalTopicCount"], begun["GlobalPartitionCount"]) == (2, 7)
    assert (begun["OfflinePartitionsCount"], begun["number-of-voters"]) == (0, 3)
    assert wounded["OfflinePartitionsCount"] > 0
    assert wounded["PreferredReplicaImbalanceCount"] > wounded["OfflinePartitionsCount"]
    assert (smaller["GlobalPartitionCount"], smaller["OfflinePartitionsCount"]) == (3, 0)
    assert healed["FencedBrokerCount"] == 0
    assert after["current-epoch"] >= healed["current-epoch"] + len(led) - 1
    assert JAVA in led
    assert set(OURS) & set(led)
    assert observers == [(BROKERS, 0)] * len(observers)
    assert [complaints(cluster.layout.node(one)) for one in OURS] == [[], []]
