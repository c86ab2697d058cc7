"""The reference codec of messages, and the compiled codec that must agree with it."""

from __future__ import annotations

import os
import random

import pytest
from tests.kraft.records.samples import random_fields
from tests.kraft.wire.field_strategies import MESSAGE_IDS, MESSAGES

from kraft.errors import CorruptMessageError, UnsupportedVersionError
from kraft.records import codec
from kraft.records.decoders import DECODE_FAILURES, Mismatch, body_decoder, decoder_source
from kraft.records.encoders import ENCODE_FAILURES, body_encoder, encode_message
from kraft.records.layouts import layout_of
from kraft.records.limits import MAX_STRING_BYTES
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS
from kraft.wire.message_reader import MessageReader
from kraft.wire.messages import decode_message
from kraft.wire.schemas.cluster import API_VERSIONS_REQUEST
from kraft.wire.schemas.configurations import DESCRIBE_CONFIGS_REQUEST
from kraft.wire.schemas.credentials import SASL_HANDSHAKE_REQUEST, SASL_HANDSHAKE_RESPONSE
from kraft.wire.schemas.nodes import BROKER_HEARTBEAT_REQUEST as HEARTBEAT
from kraft.wire.schemas.partitions import ALTER_PARTITION_REQUEST
from kraft.wire.schemas.quorum import UPDATE_RAFT_VOTER_RESPONSE
from kraft.wire.schemas.replication import FETCH_REQUEST
from kraft.wire.schemas.topics import CREATE_TOPICS_REQUEST

TIMES = 60 if os.environ.get("KRAFLA_NIGHTLY") else 2
BODY = "00000001 0000000000000009 000000000000000c 00 01"


def read(schema, version, text):
    return decode_message(schema, version, bytes.fromhex(text))


def few(layout, choose):
    """Return random fields of a version, with few elements in each array."""
    return random_fields(layout.fields, 0, choose, counts=(0, 1, 2, 3))


def reference_bytes(schema, version, fields):
    return codec.encode_body(layout_of(schema, version), schema.name, fields)


def reference_fields(schema, version, raw):
    return codec.decode_body(layout_of(schema, version), MessageReader(raw))


def test_a_heartbeat_reads_as_its_bytes_say():
    expected = {
        "brokerId": 1,
        "brokerEpoch": 9,
        "currentMetadataOffset": 12,
        "wantFence": False,
        "wantShutDown": True,
    }
    assert read(HEARTBEAT, 0, BODY + "00") == expected
    expected["offlineLogDirs"] = ()
    assert read(HEARTBEAT, 1, BODY + "00") == expected
    directory = "00112233445566778899aabbccddeeff"
    expected["offlineLogDirs"] = ("ABEiM0RVZneImaq7zN3u_w",)
    text = f"{BODY} 01 00 11 02 {directory}"
    assert read(HEARTBEAT, 1, text) == expected
    assert encode_message(HEARTBEAT, 1, expected) == bytes.fromhex(text)


@pytest.mark.parametrize("length", range(1022, 1026))
def test_lengths_about_the_end_of_the_table_are_written_as_by_the_reference_codec(length):
    fields = {"clientSoftwareName": "a" * length, "clientSoftwareVersion": "1"}
    written = body_encoder(API_VERSIONS_REQUEST, 4)(fields)
    assert written == reference_bytes(API_VERSIONS_REQUEST, 4, fields)
    assert decode_message(API_VERSIONS_REQUEST, 4, written) == fields


def test_an_old_version_has_long_lengths_and_no_tagged_fields():
    assert read(SASL_HANDSHAKE_REQUEST, 1, "0005 504c41494e") == {"mechanism": "PLAIN"}
    answer = {"errorCode": 33, "mechanisms": ("PLAIN", "")}
    text = "0021 00000002 0005 504c41494e 0000"
    assert read(SASL_HANDSHAKE_RESPONSE, 0, text) == answer
    assert encode_message(SASL_HANDSHAKE_RESPONSE, 0, answer) == bytes.fromhex(text)
    keys = {"resourceType": 2, "resourceName": "t", "configurationKeys": None}
    fields = {"resources": (keys,), "includeSynonyms": True}
    text = "00000001 02 0001 74 ffffffff 01"
    assert read(DESCRIBE_CONFIGS_REQUEST, 1, text) == fields
    assert encode_message(DESCRIBE_CONFIGS_REQUEST, 1, fields) == bytes.fromhex(text)


def test_an_absent_tagged_struct_has_its_defaults_and_is_not_shared():
    text = "00000000 0000 00"
    leader = {"leaderId": -1, "leaderEpoch": -1, "host": "", "port": 0}
    for decode in (read, lambda s, v, t: reference_fields(s, v, bytes.fromhex(t))):
        first = decode(UPDATE_RAFT_VOTER_RESPONSE, 0, text)
        assert first["currentLeader"] == leader
        first["currentLeader"]["port"] = 9
        assert decode(UPDATE_RAFT_VOTER_RESPONSE, 0, text)["currentLeader"] == leader


@pytest.mark.parametrize(("schema", "version"), MESSAGES, ids=MESSAGE_IDS)
def test_random_fields_survive_both_codecs(schema, version):
    choose = random.Random(f"{schema.name}{version}")
    layout = layout_of(schema, version)
    for _ in range(TIMES):
        fields = few(layout, choose)
        raw = reference_bytes(schema, version, fields)
        assert body_encoder(schema, version)(fields) == raw
        assert body_decoder(schema, version)(raw, 0) == fields
        assert reference_fields(schema, version, raw) == fields


@pytest.mark.parametrize(("schema", "version"), MESSAGES, ids=MESSAGE_IDS)
def test_a_compiled_decoder_accepts_exactly_what_the_reference_accepts(schema, version):
    choose = random.Random(f"{version}{schema.name}")
    layout = layout_of(schema, version)
    for _ in range(TIMES):
        raw = reference_bytes(schema, version, few(layout, choose))
        for _ in range(6):
            mutant = mutated(raw, choose)
            try:
                expected = repr(reference_fields(schema, version, mutant))
            except CorruptMessageError:
                expected = None
            try:
                got = repr(body_decoder(schema, version)(mutant, 0))
            except (Mismatch, *DECODE_FAILURES):
                got = None
            assert got == expected


def mutated(raw, choose):
    body = bytearray(raw)
    for _ in range(choose.choice((1, 1, 2))):
        if body:
            body[choose.randrange(len(body))] = choose.choice((0, 1, 2, 5, 0x7F, 0x80, 0xFE, 0xFF))
    return bytes(body[: choose.choice((len(body), len(body), choose.randint(0, len(body))))])


@pytest.mark.parametrize(("schema", "version"), MESSAGES, ids=MESSAGE_IDS)
def test_a_compiled_encoder_writes_what_the_reference_writes_or_nothing(schema, version):
    choose = random.Random(f"{schema.name}{version}")
    layout = layout_of(schema, version)
    for _ in range(4 * TIMES):
        fields = spoiled(few(layout, choose), schema, choose)
        try:
            got = body_encoder(schema, version)(fields)
        except ENCODE_FAILURES:
            continue
        assert got == reference_bytes(schema, version, fields)


@pytest.mark.parametrize(("version", "count"), [(4, 300), (7, 126), (7, 127), (7, 16_383)])
def test_an_array_may_be_long(version, count):
    topics = tuple({"name": str(number), "numPartitions": number} for number in range(count))
    raw = encode_message(CREATE_TOPICS_REQUEST, version, {"topics": topics})
    assert raw == reference_bytes(CREATE_TOPICS_REQUEST, version, {"topics": topics})
    read_again = body_decoder(CREATE_TOPICS_REQUEST, version)(raw, 0)["topics"]
    assert [topic["numPartitions"] for topic in read_again] == list(range(count))
    assert read_again == reference_fields(CREATE_TOPICS_REQUEST, version, raw)["topics"]


ODD_VALUES = (None, 0, -1, 2**40, 0.5, True, "", "x", "\ud800", b"", (), (1,), {}, "é" * 20_000)


def spoiled(fields, schema, choose):
    """Return fields with one absent, of another type, or of another version."""
    names = [f.name for f in schema.fields]
    changed = dict(fields)
    name = choose.choice(names or ["none"])
    if choose.random() < 0.4:
        changed.pop(name, None)
    else:
        changed[name] = choose.choice(ODD_VALUES)
    if choose.random() < 0.2:
        changed[choose.choice(("stranger", UNKNOWN_TAGGED_FIELDS))] = ((40, b"x"),)
    return changed


def test_unknown_tagged_fields_are_kept_and_written_again():
    text = f"{BODY} 03 00 01 01 05 01 ff 87 68 02 abcd"
    fields = read(HEARTBEAT, 1, text)
    assert fields["offlineLogDirs"] == ()
    assert fields[UNKNOWN_TAGGED_FIELDS] == ((5, b"\xff"), (13319, b"\xab\xcd"))
    assert body_decoder(HEARTBEAT, 1)(bytes.fromhex(text), 0) == fields
    again = f"{BODY} 02 05 01 ff 87 68 02 abcd"
    assert encode_message(HEARTBEAT, 1, fields) == bytes.fromhex(again)


def test_unknown_tagged_fields_are_kept_in_every_struct_of_an_array():
    isr = "03 00000001 0000000000000005 01 07 01 aa 00000002 0000000000000005 00"
    text = (
        f"00000001 0000000000000005 02 {'11' * 16} 02 00000000 00000003 {isr} 00 00000007 00 00 00"
    )
    fields = read(ALTER_PARTITION_REQUEST, 3, text)
    brokers = fields["topics"][0]["partitions"][0]["newIsrWithEpochs"]
    assert brokers == (
        {"brokerId": 1, "brokerEpoch": 5, UNKNOWN_TAGGED_FIELDS: ((7, b"\xaa"),)},
        {"brokerId": 2, "brokerEpoch": 5},
    )
    assert body_decoder(ALTER_PARTITION_REQUEST, 3)(bytes.fromhex(text), 0) == fields
    assert encode_message(ALTER_PARTITION_REQUEST, 3, fields) == bytes.fromhex(text)


@pytest.mark.parametrize("directories", [(), ("A" * 22,)])
def test_a_list_is_written_as_a_tuple_is(directories):
    raw = reference_bytes(HEARTBEAT, 1, {"offlineLogDirs": directories})
    fields = {"offlineLogDirs": list(directories)}
    assert body_encoder(HEARTBEAT, 1)(fields) == raw
    assert reference_bytes(HEARTBEAT, 1, fields) == raw


@pytest.mark.parametrize("text", ["8000", "80808000", "8080808000"])
def test_an_overlong_varint_is_read_by_both(text):
    raw = bytes.fromhex(BODY + text)
    fields = reference_fields(HEARTBEAT, 1, raw)
    assert fields["offlineLogDirs"] == ()
    assert body_decoder(HEARTBEAT, 1)(raw, 0) == fields


def test_tagged_fields_are_written_in_the_order_of_their_tags():
    fields = {"clusterId": "c", "replicaState": {"replicaId": 3}}
    unknown = {UNKNOWN_TAGGED_FIELDS: ((9, b"z"),)}
    end = "02 00 02 02 63 01 0d 00000003 ffffffffffffffff 00"
    raw = encode_message(FETCH_REQUEST, 15, fields)
    assert raw.endswith(bytes.fromhex(end))
    raw = encode_message(FETCH_REQUEST, 15, fields | unknown)
    assert raw.endswith(bytes.fromhex("03" + end[2:] + "09 01 7a"))


def test_the_longest_string_is_written_and_read():
    longest = "x" * MAX_STRING_BYTES
    for schema, version, name in (
        (API_VERSIONS_REQUEST, 3, "clientSoftwareName"),
        (SASL_HANDSHAKE_REQUEST, 0, "mechanism"),
    ):
        raw = encode_message(schema, version, {name: longest})
        assert body_decoder(schema, version)(raw, 0)[name] == longest
        assert reference_fields(schema, version, raw)[name] == longest


@pytest.mark.parametrize("version", [-1, 3, 19])
def test_a_version_that_a_schema_lacks_is_unsupported(version):
    for work in (decode_message, encode_message):
        with pytest.raises(UnsupportedVersionError, match="versions 4 to 18 are known"):
            work(FETCH_REQUEST, version, b"")


def test_the_generated_source_depends_on_the_schema_alone():
    layout = layout_of(FETCH_REQUEST, 18)
    assert decoder_source(layout) == decoder_source(layout_of.__wrapped__(FETCH_REQUEST, 18))
    assert "highWatermark" in decoder_source(layout)[0]
    assert "highWatermark" not in decoder_source(layout_of(FETCH_REQUEST, 17))[0]
