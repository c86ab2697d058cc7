"""Java brokers on our controllers: what Kafka's own tools see of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.kraft.node.certificates import Authority
from tests.kraft.node.java_cluster import (
    add_controller,
    consumed,
    create_topic,
    described,
    produce,
    quorum,
    remove_controller,
    running,
    topics,
)

from krafla.record.scenario import Shape

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("java_cluster")]


def audited(folder):
    """Return the verdict on a node's log, which ends with its exit status."""
    command = [sys.executable, "-m", "krafla", "audit", str(folder)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return finished.returncode, finished.stdout


def complaints(node):
    """Return the lines of a node's log that are errors."""
    lines = (node.logs / "server.log").read_text(errors="replace").splitlines()
    return [line for line in lines if "] ERROR " in line or "] FATAL " in line]


@pytest.mark.parametrize("controllers", [1, 3])
def test_a_java_broker_lives_on_our_controllers_through_kill_9_of_the_active_one(
    tmp_path, controllers
):
    ours = range(3000, 3000 + controllers)
    lines = ["one", "two", "three"]
    with running(Shape(controllers=controllers, brokers=1), ours, tmp_path) as cluster:
        create_topic(cluster, "calm", "--partitions", "3")
        produce(cluster, "calm", lines)
        first = sorted(consumed(cluster, "calm", len(lines)))

        active = cluster.active()
        cluster.kill(active)
        if controllers == 1:
            cluster.start([active])
        create_topic(cluster, "after")
        successor = cluster.active()
        if controllers > 1:
            cluster.start([active])
        produce(cluster, "after", lines)
        second = consumed(cluster, "after", len(lines))

        calm = described(cluster, "calm")
        status = quorum(cluster, "status")
        replication = quorum(cluster, "replication").splitlines()[1:]

    assert first == sorted(lines)
    assert second == lines
    assert calm.count("Leader: 0") == 3
    assert (successor == active) == (controllers == 1)
    assert f"LeaderId:               {successor}" in status
    assert sorted(line.split()[0] for line in replication) == sorted(map(str, [0, *ours]))
    assert complaints(cluster.layout.node(0)) == []
    for node_id in ours:
        node = cluster.layout.node(node_id)
        assert complaints(node) == []
        held, said = audited(node.data)
        assert held == 0, said


def test_a_mixed_quorum_survives_each_of_its_leaders(tmp_path):
    with running(Shape(controllers=3, brokers=1), [3000], tmp_path) as cluster:
        led = []
        for turn in range(6):
            create_topic(cluster, f"topic-{turn}")
            led.append(cluster.active())
            (cluster.kill if turn % 2 else lambda node: cluster.stop([node]))(led[-1])
            create_topic(cluster, f"between-{turn}")
            cluster.start([led[-1]])
        named = {f"topic-{turn}" for turn in range(6)} | {f"between-{turn}" for turn in range(6)}
        listed = set(topics(cluster))

    assert named <= listed
    assert complaints(cluster.layout.node(3000)) == []
    status, said = audited(cluster.layout.node(3000).data)
    assert status == 0, said


@pytest.mark.parametrize("ours", [[3000, 3001, 3002], [3000], [3001]])
def test_voters_are_added_and_removed(tmp_path, ours):
    shape = Shape(controllers=3, brokers=1, dynamic=True)
    with running(shape, ours, tmp_path) as cluster:
        added = [add_controller(cluster, node_id) for node_id in (3001, 3002)]
        first = cluster.active()
        cluster.kill(first)
        create_topic(cluster, "calm")
        cluster.start([first])
        create_topic(cluster, "after")
        removed = remove_controller(cluster, first)
        create_topic(cluster, "last")
        statuses = {
            line.split()[0]: line.split()[-1]
            for line in quorum(cluster, "replication").splitlines()[1:]
            if line
        }
        listed = set(topics(cluster))

    assert first == 3000
    assert ["Added controller" in said for said in added] == [True, True]
    assert "Removed" in removed
    assert statuses["3000"] == "Observer"
    assert sorted(statuses[str(one)] for one in (3001, 3002)) == ["Follower", "Leader"]
    assert {"calm", "after", "last"} <= listed
    for node_id in ours:
        assert complaints(cluster.layout.node(node_id)) == []
        held, said = audited(cluster.layout.node(node_id).data)
        assert held == 0, said


def test_java_and_our_controllers_speak_tls_to_each_other(tmp_path):
    authority = Authority(tmp_path)
    own = {
        "keystore.type": "PEM",
        "keystore.location": authority.keystore("node"),
        "truststore.type": "PEM",
        "truststore.location": authority.truststore,
        "client.auth": "required",
    }
    secure = {f"listener.name.controller.ssl.{key}": str(value) for key, value in own.items()}
    secure["listener.security.protocol.map"] = "CONTROLLER:SSL,PLAINTEXT:PLAINTEXT"
    # Kafka's authorizer takes the name in a certificate for the principal.
    secure["super.users"] = "User:CN=node;User:ANONYMOUS"
    shape = Shape(controllers=3, brokers=1, properties=tuple(secure.items()))
    with running(shape, [3000, 3001], tmp_path) as cluster:
        create_topic(cluster, "calm")
        active = cluster.active()
        cluster.stop([active])
        create_topic(cluster, "after")
        cluster.start([active])
        listed = topics(cluster)

    assert {"calm", "after"} <= set(listed)
    for node_id in (0, 3000, 3001):
        assert complaints(cluster.layout.node(node_id)) == []
