"""What the fields of messages of the quorum mean, written out by hand."""

from __future__ import annotations

import pytest
from tests.kraft.wire.drawn_fields import through_bytes

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, OffsetAndEpoch, ReplicaKey, uuid_text
from kraft.rpc.api_versions import SupportedApisResponse
from kraft.rpc.describe_quorum import DescribeQuorumResponse, ReplicaDescription
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.fetch import FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kraft.rpc.node_description import SupportedFeature
from kraft.rpc.raft_voters import ApiVersionsResponse
from kraft.rpc.vote import VoteResponse
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.cluster_messages import kraft_versions
from kraft.wire.message_map import Surroundings
from kraft.wire.message_maps import MESSAGE_MAPS
from kraft.wire.quorum_shape import endpoints_told

A, B, C = (uuid_text(bytes([one]) * 16) for one in (1, 2, 3))
NONE, INVALID = ErrorCode.NONE, ErrorCode.INVALID_REQUEST
LISTENERS = Endpoint("CONTROLLER", "one", 9093), Endpoint("OTHER", "two", 9094)


def answered(key, version, value, request, around=None):
    """Return the fields of a response after their way over the wire."""
    fields = MESSAGE_MAPS[key].response_fields(value, request, version, around or Surroundings())
    return through_bytes(CONTROLLER_APIS[key].response, version, fields)


def test_a_leader_takes_the_versions_of_the_quorum_from_the_features():
    told = SupportedApisResponse(
        supported_features=(SupportedFeature("x", 5, 6), SupportedFeature("kraft.version", 0, 1))
    )
    assert kraft_versions(told) == ApiVersionsResponse(NONE, 0, 1)
    assert kraft_versions(SupportedApisResponse(INVALID)) == ApiVersionsResponse(INVALID, 0, 0)


def test_a_description_of_the_quorum_says_where_its_voters_listen():
    voters = (
        ReplicaDescription(ReplicaKey(7, A), 10, 11, 12),
        ReplicaDescription(ReplicaKey(8), 20, 21, 22),
    )
    value = DescribeQuorumResponse(NONE, 5, 7, 9, voters, (voters[1],))
    fields = answered(55, 2, value, {}, Surroundings(voters={7: LISTENERS}))
    listeners = tuple({"name": n, "host": h, "port": p} for n, h, p in LISTENERS)
    assert fields["nodes"] == (
        {"nodeId": 7, "listeners": listeners},
        {"nodeId": 8, "listeners": ()},
    )
    (partition,) = fields["topics"][0]["partitions"]
    assert (partition["leaderId"], partition["leaderEpoch"], partition["highWatermark"]) == (
        7,
        5,
        9,
    )
    assert partition["currentVoters"][0] == {
        "replicaId": 7,
        "replicaDirectoryId": A,
        "logEndOffset": 10,
        "lastFetchTimestamp": 11,
        "lastCaughtUpTimestamp": 12,
    }
    assert partition["currentVoters"][1]["replicaDirectoryId"] == ZERO_UUID
    assert [one["replicaId"] for one in partition["observers"]] == [8]


@pytest.mark.parametrize("error", [one for one in ErrorCode if one is not NONE])
def test_each_error_of_a_description_is_the_partitions(error):
    fields = answered(55, 2, DescribeQuorumResponse(error, 5, 7), {})
    assert fields["errorCode"] == 0
    assert fields["topics"][0]["partitions"][0]["errorCode"] == error
    assert MESSAGE_MAPS[55].response_of(fields, 2) == DescribeQuorumResponse(error)


def test_the_leaders_address_is_that_of_the_requests_listener():
    value = VoteResponse(NONE, 5, 7)
    for listener, host in (("CONTROLLER", "one"), ("OTHER", "two")):
        around = Surroundings(listener=listener, endpoints={7: LISTENERS})
        fields = answered(52, 2, value, {}, around)
        assert fields["nodeEndpoints"][0]["host"] == host
        assert endpoints_told(fields, "X") == {
            7: (Endpoint("X", host, {"one": 9093, "two": 9094}[host]),)
        }
    assert answered(52, 2, value, {}, Surroundings(listener="NONE"))["nodeEndpoints"] == ()
    around = Surroundings(listener="OTHER", endpoints={7: LISTENERS})
    assert answered(52, 2, VoteResponse(NONE, 5, None), {}, around)["nodeEndpoints"] == ()
    assert endpoints_told(answered(52, 0, value, {}, around), "X") == {}


def test_an_answer_that_helps_nobody_is_an_error_of_no_epoch():
    message = MESSAGE_MAPS[52]
    whole = {"errorCode": 104, "topics": (), "nodeEndpoints": ()}
    assert message.response_of(whole, 2) == VoteResponse(
        ErrorCode.INCONSISTENT_CLUSTER_ID, -1, None
    )
    other = {"errorCode": 0, "topics": (), "nodeEndpoints": ()}
    assert message.response_of(other, 2) == VoteResponse(ErrorCode.UNKNOWN_SERVER_ERROR, -1, None)
    wrong = {"partitionIndex": 0, "errorCode": 104, "leaderId": 7, "leaderEpoch": 5}
    wrong = {"topicName": "__cluster_metadata", "partitions": ({**wrong, "voteGranted": False},)}
    told = message.response_of(other | {"topics": (wrong,)}, 2)
    assert told == VoteResponse(ErrorCode.INCONSISTENT_CLUSTER_ID, -1, None)
    unknown = whole | {"errorCode": 9999}
    assert message.response_of(unknown, 2).error_code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_listeners_are_in_capitals_and_in_order_and_the_last_of_a_name_counts():
    rows = ("b", "x", 1), ("a", "y", 2), ("B", "z", 3)
    request = {
        "clusterId": None,
        "timeoutMs": 5,
        "voterId": 1,
        "voterDirectoryId": ZERO_UUID,
        "listeners": tuple({"name": n, "host": h, "port": p} for n, h, p in rows),
    }
    value = MESSAGE_MAPS[80].request_of(request, 0)
    assert value.listeners == (Endpoint("A", "y", 2), Endpoint("B", "z", 3))
    assert (value.voter_directory_id, value.timeout) == (None, 5)


@pytest.mark.parametrize("nonsense", [(5, -1), (-1, 5), (-2, -3)])
def test_an_end_that_is_nonsense_is_a_snapshot_but_no_divergence(nonsense):
    end_offset, epoch = nonsense
    fetched = FetchResponse(NONE, 5, 7)
    fields = answered(1, 18, fetched, {})
    assert MESSAGE_MAPS[1].response_of(fields, 18) == fetched
    (partition,) = fields["responses"][0]["partitions"]
    end = {"endOffset": end_offset, "epoch": epoch}
    partition |= {"divergingEpoch": end, "snapshotId": end}
    response = MESSAGE_MAPS[1].response_of(fields, 18)
    assert response.diverging == (None if epoch < 0 else OffsetAndEpoch(*nonsense))
    one_is_proper = epoch >= 0 or end_offset >= 0
    assert response.snapshot_id == (OffsetAndEpoch(*nonsense) if one_is_proper else None)


def test_the_first_snapshot_is_one_that_can_be_asked_for():
    asked = FetchSnapshotRequest("c", 3, None, 1, OffsetAndEpoch(0, 0), 0)
    fields = MESSAGE_MAPS[59].request_fields(asked, 1)
    assert MESSAGE_MAPS[59].request_of(fields, 1) == asked
    assert MESSAGE_MAPS[59].response_of(
        answered(59, 1, FetchSnapshotResponse(INVALID, 5, 7), {}), 1
    ) == FetchSnapshotResponse(INVALID, 5, 7)
