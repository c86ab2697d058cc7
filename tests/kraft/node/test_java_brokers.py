"""Kafka's brokers on our controllers: they stop, die, lose a disk, and keep their records."""

from __future__ import annotations

import json
import re

import pytest
from tests.kraft.kafka_tools import run
from tests.kraft.node.java_cluster import (
    active,
    assert_held,
    brokers,
    complaints,
    consumed,
    create_topic,
    described,
    produce,
    running,
    until_described,
)
from typer.testing import CliRunner

from krafla.record.scenario import Shape
from kraft.tools import application

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("java_cluster")]

LINES = [f"line {number}" for number in range(40)]


def leaders(described_partitions):
    """Return the leader of each partition, as kafka-topics has it."""
    return [line.split("Leader: ")[1].split()[0] for line in described_partitions]


def in_sync(described_partitions):
    """Return the in-sync replicas of each partition."""
    found = (line.split("Isr: ")[1].split("\t")[0] for line in described_partitions)
    return [{one for one in text.strip().split(",") if one} for text in found]


def dumped(node):
    """Return the records of a node's metadata log, as kraft dump-log prints them."""
    files = sorted(map(str, (node.data / "__cluster_metadata-0").glob("*.log")))
    options = ["dump-log", "--cluster-metadata-decoder", "--files", ",".join(files)]
    said = CliRunner().invoke(application(), options)
    assert said.exit_code == 0, said.output
    payloads = re.findall(r"payload: (\{.*\})", said.output)
    return [json.loads(payload) for payload in payloads]


@pytest.mark.parametrize("controllers", [1, 3])
def test_a_broker_with_leaders_stops_and_returns_and_is_killed_and_returns(tmp_path, controllers):
    ours = tuple(range(3000, 3000 + controllers))
    shape = Shape(controllers=controllers, brokers=2, kraft_ids=ours)
    both, one, none = [{"0", "1"}] * 4, [{"0"}] * 4, [{"1"}] * 4
    with running(shape, tmp_path) as cluster:
        create_topic(cluster, "calm", "--partitions", "4", "--replication-factor", "2")
        produce(cluster, "calm", LINES)
        led_at_first = leaders(described(cluster, "calm").splitlines()[1:])
        cluster.stop([1])
        alone = in_sync(until_described(cluster, "calm", lambda lines: leaders(lines) == ["0"] * 4))
        produce(cluster, "calm", LINES)
        cluster.start([1])
        until_described(cluster, "calm", lambda lines: in_sync(lines) == both)
        cluster.kill(0)
        left = in_sync(until_described(cluster, "calm", lambda lines: leaders(lines) == ["1"] * 4))
        produce(cluster, "calm", LINES)
        cluster.start([0])
        until_described(cluster, "calm", lambda lines: in_sync(lines) == both)
        read = consumed(cluster, "calm", 3 * len(LINES))
        stopped = (cluster.layout.node(1).logs / "server.log").read_text()

    assert set(led_at_first) == {"0", "1"}
    assert alone == one
    assert left == none
    assert sorted(read) == sorted(3 * LINES)
    assert "The controller has asked us to exit controlled shutdown." in stopped
    for node in cluster.layout.nodes:
        assert complaints(node) == []
    assert_held(cluster, tmp_path)


def test_a_broker_tells_where_its_replicas_lie_and_loses_the_leaders_of_a_lost_directory(tmp_path):
    often = (("replica.high.watermark.checkpoint.interval.ms", "500"),)
    shape = Shape(controllers=1, brokers=2, kraft_ids=(3000,), properties=often)
    with running(shape, tmp_path) as cluster:
        broker = cluster.layout.node(0)
        other = broker.folder / "other"
        cluster.stop([0])
        text = broker.configuration.read_text()
        text = text.replace(f"log.dirs={broker.data}", f"log.dirs={broker.data},{other}")
        broker.configuration.write_text(text)
        format_other = ["-c", str(broker.configuration), "--ignore-formatted"]
        run("kafka.tools.StorageTool", "format", "-t", cluster.cluster_id, *format_other)
        cluster.start([0])
        create_topic(cluster, "calm", "--partitions", "6", "--replication-factor", "2")
        produce(cluster, "calm", LINES)
        directories = {
            re.search(r"directory.id=(\S+)", (path / "meta.properties").read_text())[1]
            for path in (broker.data, other)
        }
        lost = {int(path.name.removeprefix("calm-")) for path in other.glob("calm-*")}
        before = leaders(described(cluster, "calm").splitlines()[1:])

        other.rename(broker.folder / "gone")
        other.touch()
        after = leaders(
            until_described(
                cluster, "calm", lambda lines: all(leaders(lines)[one] == "1" for one in lost)
            )
        )
        read = consumed(cluster, "calm", len(LINES))
        moved = (cluster.layout.node(3000).logs / "server.log").read_text()

    records = dumped(cluster.layout.node(3000))
    told = {
        directory
        for record in records
        if record["type"] in {"PARTITION_RECORD", "PARTITION_CHANGE_RECORD"}
        for directory in record["data"].get("directories") or ()
    }
    assert directories <= told
    assert 0 < len(lost) < 6
    assert {before[one] for one in lost} == {"0", "1"}
    kept = set(range(6)) - lost
    assert {after[one] for one in kept} == {before[one] for one in kept}
    assert sorted(read) == sorted(LINES)
    assert complaints(cluster.layout.node(3000)) == [], moved
    assert_held(cluster, tmp_path)


def test_a_partition_moves_with_its_records_while_the_controllers_fail_over(tmp_path):
    ours = (3000, 3001, 3002)
    shape = Shape(controllers=3, brokers=3, kraft_ids=ours)
    with running(shape, tmp_path) as cluster:
        create_topic(cluster, "calm", "--replica-assignment", "0:1")
        produce(cluster, "calm", LINES)
        leader = active(cluster)
        cluster.kill(leader)
        plan = tmp_path / "plan.json"
        moved = [{"topic": "calm", "partition": 0, "replicas": [2, 1]}]
        plan.write_text(json.dumps({"version": 1, "partitions": moved}))
        command = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
        start = ["--bootstrap-server", brokers(cluster), "--reassignment-json-file", str(plan)]
        run(command, *start, "--execute")
        until_described(cluster, "calm", lambda lines: in_sync(lines) == [{"1", "2"}])
        cluster.start([leader])
        cluster.stop([0, 1])
        until_described(cluster, "calm", lambda lines: leaders(lines) == ["2"])
        read = consumed(cluster, "calm", len(LINES))
        cluster.start([0, 1])

    assert read == LINES
    for node in cluster.layout.nodes:
        assert complaints(node) == []
    assert_held(cluster, tmp_path)


def test_an_eligible_leader_replica_leads_with_all_records_again(tmp_path):
    shape = Shape(controllers=1, brokers=3, kraft_ids=(3000,))
    minimum = ["--config", "min.insync.replicas=2"]
    with running(shape, tmp_path) as cluster:
        create_topic(cluster, "calm", "--replica-assignment", "0:1", *minimum)
        produce(cluster, "calm", LINES)
        cluster.stop([1])
        (alone,) = until_described(cluster, "calm", lambda lines: in_sync(lines) == [{"0"}])
        cluster.kill(0)
        (none,) = until_described(cluster, "calm", lambda lines: in_sync(lines) == [set()])
        cluster.start([1])
        until_described(cluster, "calm", lambda lines: leaders(lines) == ["1"])
        # Below min.insync.replicas no high watermark rises, and so nothing new is read.
        cluster.start([0])
        until_described(cluster, "calm", lambda lines: in_sync(lines) == [{"0", "1"}])
        read = consumed(cluster, "calm", len(LINES))

    assert "Elr: 1" in alone
    assert "Leader: none" in none
    assert read == LINES
    assert complaints(cluster.layout.node(3000)) == []
    assert_held(cluster, tmp_path)
