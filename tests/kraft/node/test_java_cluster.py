"""Java brokers on our controllers: what Kafka's own tools see of them."""

from __future__ import annotations

import pytest
from tests.kraft.node.certificates import Authority
from tests.kraft.node.java_cluster import (
    assert_held,
    complaints,
    consumed,
    create_topic,
    described,
    produce,
    quorum,
    running,
    topics,
)

from krafla.record.scenario import Shape

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("java_cluster")]


@pytest.mark.parametrize("controllers", [1, 3])
def test_a_java_broker_lives_on_our_controllers_through_kill_9_of_the_active_one(
    tmp_path, controllers
):
    ours = tuple(range(3000, 3000 + controllers))
    lines = ["one", "two", "three"]
    shape = Shape(controllers=controllers, brokers=1, kraft_ids=ours)
    with running(shape, tmp_path) as cluster:
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
    for node in cluster.layout.nodes:
        assert complaints(node) == []
    assert_held(cluster, tmp_path)


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
    shape = Shape(
        controllers=3, brokers=1, properties=tuple(secure.items()), kraft_ids=(3000, 3001)
    )
    with running(shape, tmp_path) as cluster:
        create_topic(cluster, "calm")
        active = cluster.active()
        cluster.stop([active])
        create_topic(cluster, "after")
        cluster.start([active])
        listed = topics(cluster)

    assert {"calm", "after"} <= set(listed)
    for node_id in (0, 3000, 3001):
        assert complaints(cluster.layout.node(node_id)) == []
