"""What is printed of a cluster is what Kafka 4.1.0's tools printed of the same one."""

from __future__ import annotations

import pytest

from kraft.tools.cluster import endpoints_text
from kraft.tools.feature_updates import features_text
from kraft.tools.guard import ToolError
from kraft.tools.quorum_text import replication_text, status_text

CLUSTER = "6GNb1SBDR3y4GnmPsxl5Hw"
DIRECTORIES = {
    3000: "t4kpcxNnQgqKB5N6pNpGgw",
    3001: "3HnMHECMjCpdfpXG6EIm4Q",
    0: "XsvpTWFoIxr0fQ-gEbINMA",
}
PORTS = {3000: 56955, 3001: 52965}


def replica(node, end, fetched=-1, caught_up=-1):
    return {
        "replicaId": node,
        "replicaDirectoryId": DIRECTORIES[node],
        "logEndOffset": end,
        "lastFetchTimestamp": fetched,
        "lastCaughtUpTimestamp": caught_up,
    }


def quorum(voters, observers, high_watermark=0, nodes=PORTS):
    partition = {
        "leaderId": 3000,
        "leaderEpoch": 1,
        "highWatermark": high_watermark,
        "currentVoters": tuple(voters),
        "observers": tuple(observers),
    }
    listeners = tuple(
        {
            "nodeId": node,
            "listeners": ({"name": "CONTROLLER", "host": "127.0.0.1", "port": port},),
        }
        for node, port in nodes.items()
    )
    return {"topics": ({"partitions": (partition,)},), "nodes": listeners}


def test_the_status_of_a_quorum():
    leader, follower = replica(3000, 234, 2000, 2000), replica(3001, 234, 2000, 2000)
    printed = status_text(CLUSTER, quorum([leader, follower], [replica(0, 234)], 234))
    voters = ", ".join(
        f'{{"id": {node}, "directoryId": "{DIRECTORIES[node]}",'
        f' "endpoints": ["CONTROLLER://127.0.0.1:{port}"]}}'
        for node, port in PORTS.items()
    )
    assert printed == (
        "ClusterId:              6GNb1SBDR3y4GnmPsxl5Hw\n"
        "LeaderId:               3000\n"
        "LeaderEpoch:            1\n"
        "HighWatermark:          234\n"
        "MaxFollowerLag:         0\n"
        "MaxFollowerLagTimeMs:   0\n"
        f"CurrentVoters:          [{voters}]\n"
        'CurrentObservers:       [{"id": 0, "directoryId": "XsvpTWFoIxr0fQ-gEbINMA"}]\n'
    )


def test_a_voter_without_a_known_directory_or_address():
    unknown = {**replica(3000, 5), "replicaDirectoryId": "A" * 22}
    lines = status_text(CLUSTER, quorum([unknown], [], nodes={})).splitlines()
    assert lines[-2] == 'CurrentVoters:          [{"id": 3000}]'
    assert lines[-1] == "CurrentObservers:       []"


def test_an_ipv6_address_stands_in_brackets():
    response = quorum([replica(3000, 5)], [])
    (node, *_) = response["nodes"]
    node["listeners"][0]["host"] = "::1"
    assert '"endpoints": ["CONTROLLER://[::1]:56955"]' in status_text(CLUSTER, response)


@pytest.mark.parametrize(
    ("leader_time", "follower_time", "lag_ms"), [(2000, 1400, 600), (2000, -1, -1), (-1, 1400, -1)]
)
def test_the_lag_is_that_of_the_slowest_voter(leader_time, follower_time, lag_ms):
    slow = replica(3001, 230, 1990, follower_time)
    lines = status_text(CLUSTER, quorum([replica(3000, 234, 2000, leader_time), slow], []))
    assert "MaxFollowerLag:         4\n" in lines
    assert f"MaxFollowerLagTimeMs:   {lag_ms}\n" in lines


def test_the_table_of_the_replicas():
    leader = replica(3000, 231, 1795897254928, 1795897254928)
    follower = replica(3001, 230, 1795897254862, 1795897254374)
    observer = replica(0, 231, 1795897254927, 1795897254927)
    assert replication_text(quorum([follower, leader], [observer]), None) == (
        "NodeId\tDirectoryId           \tLogEndOffset\tLag\tLastFetchTimestamp"
        "\tLastCaughtUpTimestamp\tStatus  \t\n"
        "3000  \tt4kpcxNnQgqKB5N6pNpGgw\t231         \t0  \t1795897254928     "
        "\t1795897254928        \tLeader  \t\n"
        "3001  \t3HnMHECMjCpdfpXG6EIm4Q\t230         \t1  \t1795897254862     "
        "\t1795897254374        \tFollower\t\n"
        "0     \tXsvpTWFoIxr0fQ-gEbINMA\t231         \t0  \t1795897254927     "
        "\t1795897254927        \tObserver\t\n"
    )


def test_times_for_people():
    leader = replica(3000, 30, 1795897254928, -1)
    printed = replication_text(quorum([leader], []), 1795897254.935)
    assert printed.splitlines()[1] == (
        "3000  \tt4kpcxNnQgqKB5N6pNpGgw\t30          \t0  \t7 ms ago          "
        "\t-1                   \tLeader\t"
    )


@pytest.mark.parametrize("time_ms", [1795897254936, 0])
def test_a_time_that_cannot_be_is_refused(time_ms):
    with pytest.raises(ToolError, match="possible drift in system clock"):
        replication_text(quorum([replica(3000, 30, time_ms)], []), 1795897254.935)


def test_a_leader_that_is_no_voter_is_refused():
    with pytest.raises(ToolError, match="node 3000 leads the quorum, and is none of its voters"):
        status_text(CLUSTER, quorum([replica(3001, 5)], []))


def test_the_endpoints_of_controllers_and_brokers():
    controllers = [
        {"brokerId": 3001, "host": "127.0.0.1", "port": 52965, "rack": None},
        {"brokerId": 3000, "host": "127.0.0.1", "port": 56955, "rack": None},
    ]
    assert endpoints_text({"brokers": controllers}, are_brokers=False) == (
        "ID         HOST      PORT       RACK       ENDPOINT_TYPE  \n"
        "3000       127.0.0.1 56955      null       controller     \n"
        "3001       127.0.0.1 52965      null       controller     \n"
    )
    (broker,) = [{"brokerId": 0, "host": "127.0.0.1", "port": 46515, "rack": None}]
    fenced = {**broker, "brokerId": 12, "rack": "a", "isFenced": True}
    assert endpoints_text({"brokers": [broker]}, are_brokers=True) == (
        "ID         HOST      PORT       RACK       STATE      ENDPOINT_TYPE  \n"
        "0          127.0.0.1 46515      null       unfenced   broker         \n"
    )
    assert "RACK STATE" in endpoints_text({"brokers": [fenced]}, are_brokers=True)
    assert " fenced " in endpoints_text({"brokers": [fenced]}, are_brokers=True)


def test_the_features_of_a_cluster():
    supported = (
        ("metadata.version", 7, 27),
        ("kraft.version", 0, 1),
        ("share.version", 0, 1),
    )
    response = {
        "supportedFeatures": tuple(
            {"name": name, "minVersion": low, "maxVersion": high} for name, low, high in supported
        ),
        "finalizedFeaturesEpoch": 149,
        "finalizedFeatures": (
            {"name": "metadata.version", "maxVersionLevel": 25},
            {"name": "kraft.version", "maxVersionLevel": 1},
        ),
    }
    told = features_text(response)
    assert told == (
        "Feature: kraft.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1"
        "\tFinalizedVersionLevel: 1\tEpoch: 149\n"
        "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1"
        "\tFinalizedVersionLevel: 4.0-IV3\tEpoch: 149\n"
        "Feature: share.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1"
        "\tFinalizedVersionLevel: 0\tEpoch: 149\n"
    )
    assert "Epoch: -\n" in features_text({**response, "finalizedFeaturesEpoch": -1})
