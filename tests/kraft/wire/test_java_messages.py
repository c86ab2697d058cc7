"""The maps say what Kafka's own classes say: the same fields, built from the same numbers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.kraft.wire.drawn_fields import VERSIONS, drawn_fields

from krafla.record.jars import class_path
from krafla.tlc.jre import find_jre
from kraft.errors import ErrorCode
from kraft.ids import OffsetAndEpoch, ReplicaKey, uuid_text
from kraft.records.codec import UnsupportedFieldError
from kraft.records.encoders import encode_message
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kraft.rpc.quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from kraft.rpc.raft_voters import (
    AddRaftVoterRequest,
    RemoveRaftVoterRequest,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from kraft.rpc.vote import VoteRequest, VoteResponse
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.message_map import Refusal, Surroundings
from kraft.wire.message_maps import MESSAGE_MAPS
from kraft.wire.messages import decode_message

pytestmark = pytest.mark.xdist_group("kafka-jars")
ONE, TWO = uuid_text(b"\x01" * 16), uuid_text(b"\x02" * 16)
LISTENERS = (Endpoint("CONTROLLER", "one", 9093), Endpoint("OTHER", "two", 9094))
AROUND = Surroundings("cluster", "CONTROLLER", 7, endpoints={7: LISTENERS}, voters={7: LISTENERS})
PROGRAM = Path(__file__).with_name("java_messages.py")


@pytest.fixture(scope="module")
def kafka():
    """Return a function that returns Kafka's answers to questions, in their order."""
    command = [sys.executable, str(PROGRAM), str(find_jre().libjvm), class_path()]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:

        def ask(questions):
            process.stdin.write(json.dumps(questions) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


def requests_and_responses():
    """Return values of the quorum beside the question for the same message, by API and side."""
    ends = (OffsetAndEpoch(21, 2), None), (None, OffsetAndEpoch(22, 3)), (None, None)
    invalid, not_leader = ErrorCode.INVALID_REQUEST, ErrorCode.NOT_LEADER_OR_FOLLOWER
    yield 52, 0, VoteRequest("c", 1, ONE, 12, 3, TWO, 4, 15, True), (
        "vote_request", "c", 12, (3, TWO), (1, ONE), 4, 15, True)  # fmt: skip
    yield (
        52,
        1,
        VoteResponse(ErrorCode.NONE, 12, 7, True),
        ("vote_response", 0, 12, 7, True, LISTENERS),
    )
    yield (
        52,
        1,
        VoteResponse(invalid, 12, None),
        ("vote_response", invalid, 12, -1, False, LISTENERS),
    )
    yield 53, 0, BeginQuorumEpochRequest("c", 1, ONE, 12, 3, LISTENERS), (
        "begin_request", "c", 12, 3, LISTENERS, (1, ONE))  # fmt: skip
    yield (
        53,
        1,
        BeginQuorumEpochResponse(ErrorCode.NONE, 12, 7),
        ("begin_response", 0, 12, 7, LISTENERS),
    )
    candidates = ReplicaKey(1, ONE), ReplicaKey(2, TWO)
    yield (
        54,
        0,
        EndQuorumEpochRequest("c", 12, 3, candidates, ()),
        ("end_request", "c", 12, 3, candidates),
    )
    yield 54, 1, EndQuorumEpochResponse(invalid, 12, 7), ("end_response", invalid, 12, 7, LISTENERS)
    yield 59, 0, FetchSnapshotRequest("c", 3, ONE, 12, OffsetAndEpoch(21, 2), 5, 600), (
        "snapshot_request", "c", (3, ONE), 12, (21, 2), 5, 600)  # fmt: skip
    snapshot = FetchSnapshotResponse(ErrorCode.NONE, 12, 7, OffsetAndEpoch(21, 2), 500, 40, b"abc")
    yield 59, 1, snapshot, (
        "snapshot_response", 0, 12, 7, (21, 2), 500, 40, b"abc".hex(), LISTENERS)  # fmt: skip
    yield 1, 0, FetchRequest("c", 3, ONE, 12, 34, 5, 600, 7000, 30), (
        "fetch_request", "c", (3, ONE), 12, 34, 5, 600, 7000, 30)  # fmt: skip
    for diverging, snapshot_id in ends:
        fetched = FetchResponse(not_leader, 12, 7, 33, 2, b"", diverging, snapshot_id)
        yield 1, 1, fetched, (
            "fetch_response", not_leader, 12, 7, 33, 2, "", (diverging, snapshot_id), LISTENERS,
        )  # fmt: skip
    yield 82, 0, UpdateRaftVoterRequest("c", 12, 1, ONE, LISTENERS, 0, 1), (
        "update_request", "c", (1, ONE), 12, (0, 1), LISTENERS)  # fmt: skip
    yield 82, 1, UpdateRaftVoterResponse(invalid, 12, 7, LISTENERS), (
        "update_response", invalid, 12, 7, LISTENERS)  # fmt: skip
    yield 80, 0, AddRaftVoterRequest("c", 500, 1, ONE, LISTENERS), (
        "add_request", "c", 500, (1, ONE), LISTENERS)  # fmt: skip
    yield 81, 0, RemoveRaftVoterRequest("c", 1, ONE), ("remove_request", "c", (1, ONE))


def test_messages_of_the_quorum_are_as_kafka_builds_them(kafka):
    cases = [
        (key, side, value, version, [question[0], version, *question[1:]])
        for key, side, value, question in requests_and_responses()
        for version in MESSAGE_MAPS[key].versions
        if key != 1 or version >= 13
    ]
    answers = kafka([case[-1] for case in cases])
    assert len(answers) == 49
    for (key, side, value, version, question), answer in zip(cases, answers, strict=True):
        message, schema = MESSAGE_MAPS[key], CONTROLLER_APIS[key][side]
        if isinstance(answer, dict):
            assert "non-default preVote" in answer["raised"], question
            with pytest.raises(UnsupportedFieldError):
                message.request_fields(value, version)
            continue
        theirs = decode_message(schema, version, bytes.fromhex(answer))
        ours = (
            message.request_fields(value, version)
            if side == 0
            else message.response_fields(value, {}, version, AROUND)
        )
        assert ours == theirs, question
        newest = version == message.versions[-1]
        if newest and side == 0:
            assert message.request_of(theirs, version, Surroundings("c")) == value
        elif newest and key != 82:
            assert message.response_of(theirs, version) == value


def test_errors_have_kafkas_names(kafka):
    names = kafka([["error_name", int(code)] for code in ErrorCode])
    assert names == [code.name for code in ErrorCode]


def _without_own_sentences(raw, own):
    """Return fields with null for sentences that say nothing but the error's name."""
    if isinstance(raw, dict):
        sentence = {"errorMessage": raw.get("errorMessage")} if "errorMessage" in raw else {}
        if sentence and sentence["errorMessage"] in {"", own}:
            sentence = {"errorMessage": None}
        return {k: _without_own_sentences(one, own) for k, one in raw.items()} | sentence
    return tuple(_without_own_sentences(one, own) for one in raw) if isinstance(raw, tuple) else raw


def failures(examples):
    """Return requests of every version, with errors and sentences, that fail as a whole."""
    errors = st.sampled_from([one for one in ErrorCode if one is not ErrorCode.NONE])
    return [
        (key, version, request, error, sentence)
        for key, version in VERSIONS
        for request, error, sentence in _drawn(
            st.tuples(
                drawn_fields(CONTROLLER_APIS[key].request, version),
                errors,
                st.sampled_from([None, "no"]),
            ),
            examples,
        )
    ]


def _drawn(strategy, examples):
    found = []

    @settings(max_examples=examples, phases=[Phase.generate], derandomize=True, database=None)
    @given(strategy)
    def draw(one):
        found.append(one)

    draw()
    return found


def _check_failures(cases, kafka):
    codes = tuple(ErrorCode)
    questions = [
        [
            "failure", key, version,
            encode_message(CONTROLLER_APIS[key].request, version, request).hex(),
            int(error), sentence,
        ]
        for key, version, request, error, sentence in cases
    ]  # fmt: skip
    answers = kafka([*questions, *(["own_sentence", int(code)] for code in codes)])
    sentences = dict(zip(codes, answers[len(cases) :], strict=True))
    compared = set()
    for case, answer in zip(cases, answers[: len(cases)], strict=True):
        key, version, request, error, sentence = case
        if isinstance(answer, dict):
            # What Kafka cannot even parse, or fails at.
            assert key in {29, 30, 31, 50}, (case, answer)
            continue
        theirs = decode_message(CONTROLLER_APIS[key].response, version, bytes.fromhex(answer))
        ours = MESSAGE_MAPS[key].failure_fields(error, sentence, request, version)
        own = sentences[error]
        assert _without_own_sentences(ours, own) == _without_own_sentences(theirs, own), case
        compared.add((key, version))
    return compared


def test_failures_of_whole_requests_are_as_kafka_says_them(kafka):
    compared = _check_failures(failures(2), kafka)
    assert len(compared) > len(VERSIONS) - 12


@pytest.mark.nightly
def test_many_failures_of_whole_requests_are_as_kafka_says_them(kafka):
    assert len(_check_failures(failures(60), kafka)) == len(VERSIONS)


def test_another_partition_is_unknown_as_kafka_says_it(kafka):
    random_source = random.Random(1)
    topics = tuple(
        {
            "topicName": name,
            "partitions": tuple({"partitionIndex": random_source.randrange(3)} for _ in range(2)),
        }
        for name in ("__cluster_metadata", "other")
    )
    api, message, request = CONTROLLER_APIS[55], MESSAGE_MAPS[55], {"topics": topics}
    raw = [encode_message(api.request, version, request).hex() for version in message.versions]
    questions = [["unknown_partitions", *one] for one in zip(message.versions, raw, strict=True)]
    *answers, own = kafka([*questions, ["own_sentence", 3]])
    for version, answer in zip(message.versions, answers, strict=True):
        refused = message.request_of(request, version)
        assert isinstance(refused, Refusal)
        theirs = decode_message(api.response, version, bytes.fromhex(answer))
        assert refused.fields == _without_own_sentences(theirs, own)
