"""Snapshots that our controllers make for Kafka's, and Kafka's for ours."""

from __future__ import annotations

import re

import pytest
from tests.kraft.node.client import call
from tests.kraft.node.java_cluster import (
    active,
    assert_held,
    complaints,
    create_topic_at_controller,
    let_lead,
    running,
    topics,
)

from krafla.record.scenario import Shape

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("java_cluster")]

# The segments of kraft have a key that Kafka bounds from below: only files of kraft get it.
SMALL = (
    ("internal.metadata.log.segment.bytes", "20000"),
    ("metadata.log.max.record.bytes.between.snapshots", "3000"),
    ("metadata.max.idle.interval.ms", "50"),
    ("metadata.max.retention.bytes", "1"),
)
# The most that Kafka asks of a snapshot at once. It writes 1024 records as one batch, and not more
# than that size.
PIECE_BYTES = 8 * 1024 * 1024
LARGE = (
    ("metadata.log.max.record.bytes.between.snapshots", str(PIECE_BYTES + 500_000)),
    ("metadata.max.retention.bytes", "1"),
)
LOADED = re.compile(
    r"after downloading snapshot OffsetAndEpoch\[offset=(\d+),|Loaded snapshot (\d+)-\d+ with"
)


def high_watermark(cluster):
    """Return the high watermark that the active controller tells."""
    port = cluster.layout.node(active(cluster)).controller_port
    asked = ({"topicName": "__cluster_metadata", "partitions": ({"partitionIndex": 0},)},)
    (described,) = call(port, 55, 2, topics=asked)["topics"]
    return described["partitions"][0]["highWatermark"]


def metadata_log(node):
    return node.data / "__cluster_metadata-0"


def log_start(node):
    """Return where a log begins: the first of its epochs says so."""
    lines = (metadata_log(node) / "leader-epoch-checkpoint").read_text().splitlines()
    return int(lines[2].split()[1])


def snapshot_end(node):
    """Return the end of the newest snapshot of a node."""
    names = [path.name for path in metadata_log(node).glob("*.checkpoint")]
    return max((int(name[:20]) for name in names), default=0)


def loaded(node):
    """Return the ends of the snapshots that a node has loaded."""
    text = (node.logs / "server.log").read_text(errors="replace")
    return [int(match[1] or match[2]) for match in LOADED.finditer(text)]


def others_than(shape, follower):
    """Return the controllers of the other kind than a follower's."""
    ours = shape.kraft_ids
    return [one for one in shape.controller_ids if (one in ours) != (follower in ours)]


def fill(cluster):
    """Write more configs of a broker than one piece of a snapshot can hold."""
    port = cluster.layout.node(active(cluster)).controller_port
    for number in range(30):
        configs = tuple(
            {"name": f"key.{number}.{one}", "configOperation": 0, "value": "v" * 6500}
            for one in range(48)
        )
        resource = {"resourceType": 4, "resourceName": "0", "configs": configs}
        (answered,) = call(port, 44, 1, resources=(resource,), validateOnly=False)["responses"]
        assert answered["errorCode"] == 0, answered


BOTH_WAYS = pytest.mark.parametrize(
    ("ours", "follower"), [((3000, 3001), 3002), ((3000,), 3000)], ids=["for Kafka", "for ours"]
)


@pytest.mark.parametrize("how", ["wiped", "lagging"])
@BOTH_WAYS
def test_a_voter_that_missed_too_much_loads_a_snapshot_of_the_other_kind(
    tmp_path, ours, follower, how
):
    shape = Shape(controllers=3, brokers=1, kraft_ids=ours, properties=SMALL)
    with running(shape, tmp_path) as cluster:
        for node_id in ours:
            cluster.stop([node_id])
            with cluster.layout.node(node_id).configuration.open("a") as configuration:
                configuration.write("metadata.log.segment.bytes=4096\n")
            cluster.start([node_id])
        leader = cluster.layout.node(let_lead(cluster, others_than(shape, follower)))
        cluster.stop([follower])
        if how == "wiped":
            cluster.wipe(follower)
        for number in range(3):
            create_topic_at_controller(cluster, f"missed-{number}")
        missed = high_watermark(cluster)
        begins = snapshot_end if how == "wiped" else log_start
        cluster.until(lambda: begins(leader) > missed, "the log is in a snapshot")
        is_led = active(cluster) == leader.node_id
        cluster.start([follower])
        place = cluster.layout.node(follower)
        cluster.until(lambda: max(loaded(place), default=0) >= missed, "it has been loaded")
        # What it has loaded is what it leads with.
        let_lead(cluster, [follower])
        create_topic_at_controller(cluster, "after")
        listed = set(topics(cluster))
        segments = [*metadata_log(cluster.layout.node(ours[0])).glob("*.log")]

    assert is_led
    assert {"missed-0", "missed-1", "missed-2", "after"} <= listed
    assert all(int(path.stem) > 0 for path in segments)
    for node_id in ours:
        assert complaints(cluster.layout.node(node_id)) == []
    assert_held(cluster, tmp_path)


@BOTH_WAYS
def test_a_snapshot_is_loaded_in_pieces(tmp_path, ours, follower):
    shape = Shape(controllers=3, brokers=1, kraft_ids=ours, properties=LARGE)
    with running(shape, tmp_path) as cluster:
        leader = cluster.layout.node(let_lead(cluster, others_than(shape, follower)))
        cluster.stop([follower])
        cluster.wipe(follower)
        fill(cluster)
        cluster.until(lambda: snapshot_end(leader) > 0, "there is a snapshot")
        (size,) = [path.stat().st_size for path in metadata_log(leader).glob("*.checkpoint")]
        cluster.start([follower])
        place = cluster.layout.node(follower)
        cluster.until(lambda: loaded(place) == [snapshot_end(leader)], "it has been loaded")
        let_lead(cluster, [follower])
        create_topic_at_controller(cluster, "after")

    assert size > PIECE_BYTES
    for node_id in ours:
        assert complaints(cluster.layout.node(node_id)) == []
    assert_held(cluster, tmp_path)
