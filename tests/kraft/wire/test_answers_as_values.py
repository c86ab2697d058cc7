"""What a real controller of Kafka 4.1.0 answered becomes values, and the same answers again."""

from __future__ import annotations

import pytest
from tests.kraft.wire.test_wire_answers import ANSWERS

from kraft.errors import ErrorCode
from kraft.ids import ReplicaKey
from kraft.rpc.describe_cluster import DescribedNode
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.topics import DeleteTopicsResponse
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_map import Surroundings
from kraft.wire.message_maps import MESSAGE_MAPS
from kraft.wire.requests import read_response

OF_THE_QUORUM = {1, 52, 53, 54, 55, 59}
NO_VALUE = {17, 36}
WITHOUT_SENTENCES = {20}
"""APIs whose values have no sentence."""


def answer(key, version):
    """Return the fields of a real answer."""
    return read_response(CONTROLLER_APIS[key], version, ANSWERS[key, version]).fields


def _alike(raw, key):
    """Return fields without sentences that say nothing, or that no value holds."""
    if isinstance(raw, dict):
        nothing = WITHOUT_SENTENCES if "errorMessage" in raw else set()
        rest = {name: _alike(one, key) for name, one in raw.items()}
        if "errorMessage" in raw and (key in nothing or not raw["errorMessage"]):
            rest["errorMessage"] = None
        return rest
    return tuple(_alike(one, key) for one in raw) if isinstance(raw, tuple) else raw


def _around(fields):
    """Return the surroundings in which the controller answered."""
    told = [(one["nodeId"], one["host"], one["port"]) for one in fields.get("nodeEndpoints", ())]
    endpoints = {node: (Endpoint("", host, port),) for node, host, port in told}
    for node in fields.get("nodes", ()):
        listeners = [(one["name"], one["host"], one["port"]) for one in node["listeners"]]
        endpoints[node["nodeId"]] = tuple(Endpoint(*one) for one in listeners)
    return Surroundings(endpoints=endpoints, voters=endpoints)


@pytest.mark.parametrize(("key", "version"), [one for one in ANSWERS if one[0] not in NO_VALUE])
def test_an_answer_of_kafka_is_a_value_and_itself_again(key, version):
    message, fields = MESSAGE_MAPS[key], answer(key, version)
    value = message.response_of(fields, version)
    request = {
        "allowReplicationFactorChange": True,
        "creations": (),
        "directories": (),
        "resources": (),
        "sessionId": 0,
        "topicNames": tuple(one["name"] for one in fields.get("responses", ()) if "name" in one),
        "topics": (),
    }
    failed = ErrorCode(fields.get("errorCode", 0))
    if key in OF_THE_QUORUM and (failed is not ErrorCode.NONE or (key == 1 and version < 13)):
        assert value.error_code in {failed, ErrorCode.UNKNOWN_SERVER_ERROR}
        ours = message.failure_fields(value.error_code, None, request, version)
        ours |= {"errorCode": int(failed)}
    elif key == 20:
        return
    else:
        ours = message.response_fields(value, request, version, _around(fields))
    assert _alike(ours, key) == _alike(fields, key)


@pytest.mark.parametrize(("key", "version"), [one for one in ANSWERS if one[0] in NO_VALUE])
def test_kafka_refuses_to_authenticate_as_we_do(key, version):
    refused = MESSAGE_MAPS[key].request_of({}, version).fields
    sentence = "errorMessage"
    theirs = answer(key, version)
    assert {**refused, sentence: None} == {**theirs, sentence: None}


@pytest.mark.parametrize("version", [one for key, one in ANSWERS if key == 20])
def test_kafka_deletes_topics_as_we_do(version):
    fields = answer(20, version)
    rows = {(one["name"], one.get("topicId")): one["errorCode"] for one in fields["responses"]}
    ids = {name: its_id or name for name, its_id in rows if rows[name, its_id] == 0}
    if version < 6:
        request = {"topicNames": tuple(name for name, _ in rows), "timeoutMs": 1}
    else:
        unknown = tuple({"name": None, "topicId": one} for name, one in rows if name is None)
        named = tuple({"name": name, "topicId": "A" * 22} for name in ids)
        request = {"topics": (*unknown, *named), "timeoutMs": 1}
    around, message = Surroundings(topic_ids=ids), MESSAGE_MAPS[20]
    wanted = message.request_of(request, version, around).topic_ids
    codes = {its_id: code for (_, its_id), code in rows.items()}
    value = DeleteTopicsResponse(tuple((one, ErrorCode(codes.get(one, 0))) for one in wanted))
    told = message.response_fields(value, request, version, around)["responses"]
    assert {(one["name"], one.get("topicId")): one["errorCode"] for one in told} == rows


def test_values_of_kafkas_answers_are_what_happened():
    described = MESSAGE_MAPS[55].response_of(answer(55, 2), 2)
    (voter,) = described.voters
    assert (described.leader_id, described.epoch, voter.key) == (3000, 1, ReplicaKey(3000))
    cluster = MESSAGE_MAPS[60].response_of(answer(60, 2), 2)
    assert cluster.brokers == (DescribedNode(3000, "127.0.0.1", cluster.brokers[0].port),)
    fetched = MESSAGE_MAPS[1].response_of(answer(1, 18), 18)
    assert int.from_bytes(fetched.records[:8], "big") == 1
    assert fetched.high_watermark > 0
    diverged = MESSAGE_MAPS[1].response_of(answer(1, 16), 16)
    assert diverged.error_code is ErrorCode.FENCED_LEADER_EPOCH
    assert (diverged.diverging, diverged.snapshot_id) == (None, None)
    # Kafka cannot write its own response to an error of FetchSnapshot, and fails as a whole.
    piece = MESSAGE_MAPS[59].response_of(answer(59, 1), 1)
    assert (piece.error_code, piece.epoch) == (ErrorCode.UNKNOWN_SERVER_ERROR, -1)
