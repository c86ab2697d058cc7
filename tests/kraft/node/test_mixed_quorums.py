"""Quorums of our controllers and Kafka's: elections, failures, and voters that come and go."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.kraft.node.java_cluster import (
    active,
    add_controller,
    assert_held,
    complaints,
    create_topic_at_controller,
    quorum,
    remove_controller,
    running,
    topics,
)

from krafla.record.scenario import Shape

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("java_cluster")]

TURNS_MAX = 20


def is_done(ends):
    """Return whether leaders were killed and stopped three times, each kind of them both ways."""
    kinds = {(is_ours, how) for is_ours in (True, False) for how in ("kill", "stop")}
    by_how = Counter(how for _, how in ends.elements())
    return kinds <= set(ends) and min(by_how["kill"], by_how["stop"]) >= 3


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("ours", [(3000,), (3001, 3002)], ids=["one is ours", "two are ours"])
def test_a_mixed_quorum_survives_the_end_of_each_of_its_leaders(tmp_path, ours, dynamic):
    shape = Shape(controllers=3, brokers=1, dynamic=dynamic, kraft_ids=ours)
    ends = Counter()
    named = set()
    with running(shape, tmp_path) as cluster:
        if dynamic:
            for node_id in (3001, 3002):
                assert "Added controller" in add_controller(cluster, node_id)
        for turn in range(TURNS_MAX):
            if is_done(ends):
                break
            leader = active(cluster)
            is_ours = leader in ours
            how = "stop" if ends[is_ours, "kill"] > ends[is_ours, "stop"] else "kill"
            cluster.kill(leader) if how == "kill" else cluster.stop([leader])
            ends[is_ours, how] += 1
            create_topic_at_controller(cluster, f"without-{turn}")
            cluster.start([leader])
            create_topic_at_controller(cluster, f"with-{turn}")
            named |= {f"without-{turn}", f"with-{turn}"}
        listed = set(topics(cluster))

    assert is_done(ends), ends
    assert named <= listed
    for node_id in ours:
        assert complaints(cluster.layout.node(node_id)) == []
    assert_held(cluster, tmp_path)


@pytest.mark.parametrize(
    "ours", [(3000, 3001, 3002), (3000,), (3001,)], ids=["all ours", "first ours", "second ours"]
)
def test_voters_are_added_removed_wiped_and_added_again(tmp_path, ours):
    shape = Shape(controllers=3, brokers=1, dynamic=True, kraft_ids=ours)
    with running(shape, tmp_path) as cluster:
        added = [add_controller(cluster, node_id) for node_id in (3001, 3002)]
        first = active(cluster)
        cluster.kill(first)
        create_topic_at_controller(cluster, "calm")
        cluster.start([first])
        removed = []
        # Each kind of controller loses its disk; and the first was the leader once.
        for node_id in (3000, 3001):
            removed.append(remove_controller(cluster, node_id))
            create_topic_at_controller(cluster, f"without-{node_id}")
            cluster.stop([node_id])
            cluster.wipe(node_id)
            cluster.start([node_id])
            added.append(add_controller(cluster, node_id))
        # The last leader goes while it leads.
        last = active(cluster)
        removed.append(remove_controller(cluster, last))
        create_topic_at_controller(cluster, "last")
        replication = quorum(cluster, "replication").splitlines()[1:]
        statuses = {line.split()[0]: line.split()[-1] for line in replication if line}
        voters = {node for node, status in statuses.items() if status != "Observer"}
        listed = set(topics(cluster))

    assert first == 3000
    assert ["Added controller" in said for said in added] == [True] * 4
    assert ["Removed" in said for said in removed] == [True] * 3
    assert voters == {str(one) for one in shape.controller_ids if one != last}
    assert {"calm", "without-3000", "without-3001", "last"} <= listed
    for node_id in ours:
        assert complaints(cluster.layout.node(node_id)) == []
    assert_held(cluster, tmp_path)
