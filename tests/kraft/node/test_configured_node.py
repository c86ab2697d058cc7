"""What a configuration and a format say reaches the parts of a node."""

import asyncio
from operator import attrgetter

from tests.kraft.node.one_node import CLUSTER, properties, serving, until_active
from typer.testing import CliRunner

from krafla.record.layout import free_ports
from kraft.raft.configuration import MILLISECOND
from kraft.tools import application

MILLISECONDS = {
    "controller.quorum.election.timeout.ms": (101, "election"),
    "controller.quorum.fetch.timeout.ms": (2002, "fetch"),
    "controller.quorum.election.backoff.max.ms": (1003, "election_backoff_maximum"),
    "controller.quorum.request.timeout.ms": (2004, "request"),
    "controller.quorum.retry.backoff.ms": (25, "retry_backoff"),
    "controller.quorum.append.linger.ms": (26, "append_linger"),
}
OF_THE_CONTROLLER = {
    "metadata.log.max.record.bytes.between.snapshots": (7001, "max_record_bytes_between_snapshots"),
    "metadata.log.max.snapshot.interval.ms": (7002, "max_snapshot_interval_ms"),
    "metadata.max.idle.interval.ms": (503, "metadata_max_idle_interval_ms"),
    "delegation.token.expiry.check.interval.ms": (
        7004, "delegation_token_expiry_check_interval_ms",
    ),
    "broker.session.timeout.ms": (7005, "defaults.broker_session_timeout_ms"),
    "num.partitions": (6, "defaults.num_partitions"),
    "default.replication.factor": (7, "defaults.default_replication_factor"),
    "min.insync.replicas": (8, "defaults.min_insync_replicas"),
    "delegation.token.max.lifetime.ms": (7009, "defaults.delegation_token_max_lifetime_ms"),
    "delegation.token.expiry.time.ms": (7010, "defaults.delegation_token_expiry_time_ms"),
    "delegation.token.secret.key": ("secret", "defaults.delegation_token_secret_key"),
}  # fmt: skip


def on_node(path, use):
    """Run a coroutine function with a node that is active, and a client of it."""

    async def main():
        async with serving(path) as (node, client):
            await until_active(client)
            return await use(node, client)

    return asyncio.run(main())


def test_each_key_reaches_the_part_that_it_configures(tmp_path):
    one, other = free_ports(2)
    keys = MILLISECONDS | OF_THE_CONTROLLER
    more = {
        "listeners": f"CONTROLLER://127.0.0.1:{one},OTHER://127.0.0.1:{other}",
        "controller.listener.names": "CONTROLLER,OTHER",
        "controller.quorum.voters": f"1@127.0.0.1:{one}",
        "unclean.leader.election.enable": "true",
        "leader.imbalance.check.interval.seconds": "9",
        "metadata.log.segment.bytes": "100",
        **{key: str(value) for key, (value, _) in keys.items()},
    }

    async def told(node, _client):
        raft, controller = node.process.state.configuration, node.host.state.configuration
        found = {
            **{key: attrgetter(at)(raft.timeouts) for key, (_, at) in MILLISECONDS.items()},
            **{key: attrgetter(at)(controller) for key, (_, at) in OF_THE_CONTROLLER.items()},
        }
        assert controller.defaults.unclean_leader_election_enable
        assert controller.defaults.cluster_id == raft.cluster_id == CLUSTER
        assert controller.defaults.quorum_node_ids == (1,)
        assert controller.leader_imbalance_check_interval_ms == 9000
        assert [one.listener for one in raft.endpoints] == ["CONTROLLER", "OTHER"]
        assert raft.default_listener == "CONTROLLER"
        while node.host.state.stable_end < 2:
            await asyncio.sleep(0.01)
        return found, [one.timeout for one in node.channels]

    found, timeouts = on_node(properties(tmp_path, **more), told)

    assert found == {
        **{key: value * MILLISECOND for key, (value, _) in MILLISECONDS.items()},
        **{key: value for key, (value, _) in OF_THE_CONTROLLER.items()},
    }
    assert timeouts == [2.004, 30.0]
    # Each batch is longer than half a segment.
    assert len([*(tmp_path / "data").rglob("*.log")]) > 1


def test_without_rebalance_no_leader_is_moved(tmp_path):
    async def period(node, _client):
        return node.host.state.configuration.leader_imbalance_check_interval_ms

    path = properties(tmp_path, auto_leader_rebalance_enable="false")

    assert on_node(path, period) == 0


def test_a_cluster_starts_at_the_release_of_its_format(tmp_path):
    (tmp_path / "data").mkdir()
    path = properties(tmp_path)
    options = ["-t", CLUSTER, "-c", str(path), "--release-version", "3.9"]
    done = CliRunner().invoke(application(), ["storage", "format", *options])
    assert done.exit_code == 0, done.output

    async def level(_node, client):
        about = {"clientSoftwareName": "test", "clientSoftwareVersion": "1"}
        while not (levels := (await client.call(18, 4, **about))["finalizedFeatures"]):
            await asyncio.sleep(0.01)
        return {one["name"]: one["maxVersionLevel"] for one in levels}["metadata.version"]

    assert on_node(path, level) == 21  # Kafka: MetadataVersion.IBP_3_9_IV0.
