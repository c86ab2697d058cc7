"""Requests that no value can hold get the answer that Kafka gives, and never an exception."""

from __future__ import annotations

import pytest
from tests.kraft.wire.drawn_fields import through_bytes

from kraft.errors import CorruptMessageError, ErrorCode
from kraft.ids import METADATA_TOPIC_ID, ZERO_UUID, uuid_text
from kraft.records.layouts import layout_of
from kraft.rpc.endpoints import Endpoint
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_map import Malformed, Refusal, Surroundings
from kraft.wire.message_maps import MESSAGE_MAPS
from kraft.wire.principals import read_principal

ADDRESS = Endpoint("CONTROLLER", "host", 9093)
AROUND = Surroundings("cluster", "CONTROLLER", 7, endpoints={7: (ADDRESS,)})
NODE = {"nodeId": 7, "host": "host", "port": 9093}
OTHER_ID = uuid_text(b"\x07" * 16)


def quorum_fields(key, version, topics, cluster_id="cluster"):
    """Return a request of the quorum, as it comes over the wire."""
    schema = CONTROLLER_APIS[key].request
    return _default(schema, version) | {"clusterId": cluster_id, "topics": topics}


def _default(schema, version):
    return layout_of(schema, version).default()


def topic(key, version, name="__cluster_metadata", indexes=(0,)):
    """Return one topic of a request of the quorum, with all else as by default."""
    layout = layout_of(CONTROLLER_APIS[key].request, version).inner["topics"]
    partition = layout.inner["partitions"]
    index = "partition" if key in {1, 59} else "partitionIndex"
    named = {"topicName": name, "name": name, "topic": name, "topicId": name}
    known = {f.name for f in layout.fields}
    return {
        **{k: v for k, v in named.items() if k in known},
        "partitions": tuple(partition.default() | {index: one} for one in indexes),
    }


def refused(key, version, fields, around=AROUND):
    """Return the fields of the refusal of a request; they are a response of its version."""
    answer = MESSAGE_MAPS[key].request_of(fields, version, around)
    assert isinstance(answer, Refusal)
    response = CONTROLLER_APIS[key].response
    assert through_bytes(response, version, answer.fields) == answer.fields
    return answer.fields


ELECTIONS = [(52, 0), (52, 1), (52, 2), (53, 0), (53, 1), (54, 0), (54, 1)]
SHAPES = {
    "no topic": lambda *_: (),
    "two topics": lambda key, v: (topic(key, v), topic(key, v)),
    "two partitions": lambda key, v: (topic(key, v, indexes=(0, 1)),),
    "no partition": lambda key, v: (topic(key, v, indexes=()),),
    "another topic": lambda key, v: (topic(key, v, "other"),),
    "partition 1": lambda key, v: (topic(key, v, indexes=(1,)),),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("key", "version"), ELECTIONS)
def test_an_election_about_anything_else_is_invalid(key, version, shape):
    response = refused(key, version, quorum_fields(key, version, SHAPES[shape](key, version)))
    assert response["errorCode"] == ErrorCode.INVALID_REQUEST
    assert response["topics"] == ()


@pytest.mark.parametrize("version", [13, 18])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_fetch_of_anything_else_is_invalid(shape, version):
    ids = {"another topic": OTHER_ID}
    topics = tuple(
        one | {"topicId": ids.get(shape, METADATA_TOPIC_ID)} for one in SHAPES[shape](1, version)
    )
    response = refused(1, version, quorum_fields(1, version, topics))
    assert response["errorCode"] == ErrorCode.INVALID_REQUEST
    assert response["responses"] == ()


@pytest.mark.parametrize("version", range(4, 13))
def test_a_fetch_by_the_topics_name_is_invalid(version):
    fields = quorum_fields(1, version, (topic(1, version),), None)
    response = refused(1, version, fields)
    assert response.get("errorCode", 42) == ErrorCode.INVALID_REQUEST
    assert response["responses"] == ()


@pytest.mark.parametrize(("key", "version"), [(1, 18), (52, 2), (53, 1), (54, 1), (59, 1)])
def test_another_cluster_is_told_before_another_partition(key, version):
    fields = quorum_fields(key, version, (), "another")
    assert refused(key, version, fields)["errorCode"] == ErrorCode.INCONSISTENT_CLUSTER_ID
    fields = quorum_fields(key, version, (), None)
    assert refused(key, version, fields)["errorCode"] == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("shape", ["no topic", "two topics", "two partitions", "no partition"])
def test_a_snapshot_of_not_one_partition_is_invalid(shape):
    response = refused(59, 1, quorum_fields(59, 1, SHAPES[shape](59, 1)))
    assert (response["errorCode"], response["topics"]) == (ErrorCode.INVALID_REQUEST, ())


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("shape", ["another topic", "partition 1"])
def test_a_snapshot_of_another_partition_is_unknown(shape, version):
    (asked,) = topics = SHAPES[shape](59, version)
    response = refused(59, version, quorum_fields(59, version, topics))
    (told,) = response["topics"]
    (partition,) = told["partitions"]
    assert response["errorCode"] == 0
    assert told["name"] == asked["name"]
    assert partition["index"] == asked["partitions"][0]["partition"]
    assert partition["errorCode"] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert response.get("nodeEndpoints", (NODE,)) == (NODE,)


@pytest.mark.parametrize("version", range(3))
@pytest.mark.parametrize("shape", [one for one in SHAPES if one != "no topic"])
def test_the_quorum_of_another_partition_is_unknown(shape, version):
    topics = SHAPES[shape](55, version)
    fields = {"topics": topics}
    errors = [
        (told["topicName"], one["partitionIndex"], one["errorCode"])
        for told in refused(55, version, fields)["topics"]
        for one in told["partitions"]
    ]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert errors == [
        (one["topicName"], partition["partitionIndex"], unknown)
        for one in topics
        for partition in one["partitions"]
    ]


@pytest.mark.parametrize(
    ("endpoint_type", "version", "error"),
    [
        (1, 0, ErrorCode.INVALID_REQUEST),
        (1, 1, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (1, 2, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (0, 1, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
        (3, 2, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
    ],
)
def test_a_controller_describes_controllers_only(endpoint_type, version, error):
    fields = _default(CONTROLLER_APIS[60].request, version)
    fields |= {"endpointType": endpoint_type} if version else {}
    response = refused(60, version, fields)
    assert response["errorCode"] == error
    assert response["errorMessage"]
    assert response["clusterId"] == ""


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "ä", "a\n"])
@pytest.mark.parametrize("which", ["clientSoftwareName", "clientSoftwareVersion"])
def test_a_client_without_a_proper_name_is_refused(which, name):
    fields = {"clientSoftwareName": "a-1.b", "clientSoftwareVersion": "1"}
    assert not isinstance(MESSAGE_MAPS[18].request_of(fields, 3), Refusal)
    response = refused(18, 3, fields | {which: name})
    assert (response["errorCode"], response["apiKeys"]) == (ErrorCode.INVALID_REQUEST, ())


@pytest.mark.parametrize("address", [b"", b"\x7f", b"\x00" * 5, b"\x00" * 17])
def test_an_envelope_needs_an_address(address):
    fields = {"requestData": b"", "requestPrincipal": None, "clientHostAddress": address}
    assert refused(58, 0, fields)["errorCode"] == ErrorCode.INVALID_REQUEST
    for size in (4, 16):
        fields["clientHostAddress"] = b"\x01" * size
        assert MESSAGE_MAPS[58].request_of(fields, 0).client_host_address == b"\x01" * size


@pytest.mark.parametrize(("key", "entries"), [(30, "creations"), (31, "filters"), (29, None)])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_unknown_type_of_access_control_is_malformed(key, entries, version):
    schema = CONTROLLER_APIS[key].request
    layout = _layout(schema, version, entries)
    types = [f.name for f in layout.fields if f.type.value == "int8"]
    assert len(types) == 4
    proper = layout.default() | dict.fromkeys(types, 3)
    for name in (None, *types):
        one = proper if name is None else proper | {name: 0}
        fields = one if entries is None else {entries: (proper, one)}
        answer = MESSAGE_MAPS[key].request_of(fields, version)
        assert isinstance(answer, Malformed) == (name is not None)
        assert name is None or name in answer.reason
    far = proper | dict.fromkeys(types, 99)
    fields = far if entries is None else {entries: (far,)}
    assert not isinstance(MESSAGE_MAPS[key].request_of(fields, version), Malformed)


PRINCIPAL = b"\x00\x00\x05User\x04ann\x01\x00"


def test_a_principal_is_read_from_its_bytes():
    assert read_principal(PRINCIPAL) == ("User:ann", True)


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\x00\x01" + PRINCIPAL[2:], PRINCIPAL[:-1], PRINCIPAL + b"\x00"]
)
def test_other_bytes_are_no_principal(data):
    with pytest.raises(CorruptMessageError):
        read_principal(data)


def _layout(schema, version, entries):
    layout = layout_of(schema, version)
    return layout if entries is None else layout.inner[entries]


def test_an_owner_without_a_type_fails():
    fields = {
        "ownerPrincipalType": None,
        "ownerPrincipalName": "alice",
        "renewers": (),
        "maxLifetimeMs": 5,
    }
    assert refused(38, 3, fields)["errorCode"] == ErrorCode.UNKNOWN_SERVER_ERROR
    proper = fields | {"ownerPrincipalType": "User"}
    assert MESSAGE_MAPS[38].request_of(proper, 3).owner == "User:alice"
    nobody = fields | {"ownerPrincipalName": ""}
    assert MESSAGE_MAPS[38].request_of(nobody, 3).owner is None


@pytest.mark.parametrize(("key", "version"), [(17, 0), (17, 1), (36, 0), (36, 1), (36, 2)])
def test_a_connection_is_past_its_authentication(key, version):
    fields = _default(CONTROLLER_APIS[key].request, version)
    assert refused(key, version, fields)["errorCode"] == ErrorCode.ILLEGAL_SASL_STATE


def test_zero_is_no_topic_id():
    assert (
        MESSAGE_MAPS[20]
        .request_of({"topics": ({"name": None, "topicId": ZERO_UUID},), "timeoutMs": 1}, 6)
        .topic_ids
        == ()
    )
