"""What a real controller of Kafka 4.1.0 answered is read, and written again byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraft.wire.api_versions import answer_to_unsupported
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.requests import read_response, response_bytes

LINES = (Path(__file__).parent / "kafka_answers.txt").read_text().splitlines()[1:]
ANSWERS = {
    (int(key), int(version)): bytes.fromhex(frame)
    for key, version, frame in (line.split() for line in LINES)
}


def test_there_is_an_answer_of_most_apis():
    assert len(ANSWERS) == len(LINES)
    # It closes the connection, or never answers, when it is asked for the others.
    assert set(CONTROLLER_APIS) - {key for key, _ in ANSWERS} == {50, 58}


@pytest.mark.parametrize(("key", "version"), ANSWERS)
def test_an_answer_of_kafka_is_read_and_written_again(key, version):
    frame = ANSWERS[key, version]
    api = CONTROLLER_APIS[key]
    header, fields = read_response(api, version, frame)
    assert header.correlation_id == 7
    assert response_bytes(api, version, 7, fields)[4:] == frame


@pytest.mark.parametrize("version", range(5))
def test_a_controller_of_kafka_serves_what_ours_serves(version):
    api = CONTROLLER_APIS[18]
    fields = read_response(api, version, ANSWERS[18, version]).fields
    assert fields["errorCode"] == 0
    served = {row["apiKey"]: (row["minVersion"], row["maxVersion"]) for row in fields["apiKeys"]}
    ours = {api.key: (api.request.oldest, api.request.newest) for api in CONTROLLER_APIS.values()}
    assert served == ours


def test_kafka_answers_an_unknown_version_as_we_do():
    request = bytes.fromhex("0012 0063 00000007 0001 63 00 ffff")
    answer = bytes.fromhex("00000007 0023 00000001 0012 0000 0004")
    assert answer_to_unsupported(request)[4:] == answer


def test_fields_of_kafkas_answers_mean_what_they_meant():
    cluster = read_response(CONTROLLER_APIS[60], 2, ANSWERS[60, 2]).fields
    assert (cluster["endpointType"], cluster["controllerId"]) == (2, 3000)
    assert cluster["brokers"][0]["host"] == "127.0.0.1"
    (_, exists) = read_response(CONTROLLER_APIS[19], 7, ANSWERS[19, 7]).fields["topics"]
    assert (exists["name"], exists["errorCode"]) == ("orders", 36)
    fetched = read_response(CONTROLLER_APIS[1], 16, ANSWERS[1, 16]).fields
    (partition,) = fetched["responses"][0]["partitions"]
    assert (partition["errorCode"], partition["currentLeader"]["leaderId"]) == (74, 3000)
    leader = read_response(CONTROLLER_APIS[82], 0, ANSWERS[82, 0]).fields["currentLeader"]
    assert (leader["leaderId"], leader["host"]) == (3000, "127.0.0.1")
