"""Bytes that are no message, and fields that no version carries: refused with reason and place."""

from __future__ import annotations

import re
import tracemalloc

import pytest

from kraft.errors import CorruptMessageError, CorruptRecordError
from kraft.records.codec import UnsupportedFieldError
from kraft.records.decoders import DECODE_FAILURES, Mismatch, body_decoder
from kraft.records.encoders import encode_message
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS
from kraft.wire.messages import decode_message
from kraft.wire.schemas.cluster import API_VERSIONS_REQUEST, ENVELOPE_RESPONSE
from kraft.wire.schemas.credentials import SASL_HANDSHAKE_REQUEST, SASL_HANDSHAKE_RESPONSE
from kraft.wire.schemas.nodes import BROKER_HEARTBEAT_REQUEST as HEARTBEAT
from kraft.wire.schemas.nodes import BROKER_REGISTRATION_REQUEST
from kraft.wire.schemas.replication import FETCH_REQUEST, FETCH_RESPONSE
from kraft.wire.schemas.topics import (
    CREATE_TOPICS_REQUEST,
    DELETE_TOPICS_REQUEST,
    DELETE_TOPICS_RESPONSE,
)

BODY = "00000001 0000000000000009 000000000000000c 00 01"

BAD_BODIES = {
    "empty": (HEARTBEAT, 1, "", "int32 needs 4 bytes, 0 are left"),
    "cut number": (HEARTBEAT, 1, "00000001 00", "int64 needs 8 bytes, 1 are left"),
    "no tags": (HEARTBEAT, 1, BODY, "the number of tagged fields is cut short"),
    "trailing byte": (HEARTBEAT, 1, BODY + "0000", "1 bytes left over after"),
    "trailing byte, old": (SASL_HANDSHAKE_REQUEST, 1, "0000 00", "1 bytes left over after"),
    "2^31 tags": (HEARTBEAT, 1, BODY + "8080808008", "fields cannot fit"),
    "duplicate tag": (HEARTBEAT, 1, BODY + "02 03 00 03 00", "tag 3 after tag 3"),
    "duplicate known tag": (
        HEARTBEAT, 1, BODY + "02 00 01 01 00 01 01", "tag 0 after tag 0"
    ),
    "unsorted tags": (HEARTBEAT, 1, BODY + "02 04 00 03 00", "tag 3 after tag 4"),
    "tag past the end": (HEARTBEAT, 1, BODY + "01 00 05", "tag 0 needs 5 bytes"),
    "spare bytes in a tag": (
        HEARTBEAT, 1, BODY + "01 00 02 01 01", "1 bytes left over in tag 0"
    ),
    "array longer than its tag": (
        HEARTBEAT, 1, BODY + "01 00 01 02" + "00" * 17, "an array of 1 elements"
    ),
    "null in a tag": (HEARTBEAT, 1, BODY + "01 00 01 00", "null where"),
    "null string": (API_VERSIONS_REQUEST, 3, "00 01 00", "null where this version allows none"),
    "null string, old": (SASL_HANDSHAKE_REQUEST, 0, "ffff", "null where this version allows none"),
    "null name before 6": (
        DELETE_TOPICS_RESPONSE, 5, "00000000 02 00 0000 00 00 00", "null where this version"
    ),
    "string of -2": (SASL_HANDSHAKE_REQUEST, 0, "fffe", "a length of string is -2"),
    "string past the end": (SASL_HANDSHAKE_REQUEST, 0, "7fff 61", "string needs 32767 bytes, 1"),
    "string of 32,768": (
        API_VERSIONS_REQUEST, 3, "81 80 02" + "61" * 32_768 + "01 00", "a string of 32768 bytes"
    ),
    "invalid UTF-8": (SASL_HANDSHAKE_REQUEST, 0, "0001 ff", "invalid UTF-8"),
    "lone surrogate": (SASL_HANDSHAKE_REQUEST, 0, "0003 eda080", "invalid UTF-8"),
    "array of -2": (SASL_HANDSHAKE_RESPONSE, 0, "0000 fffffffe", "an array length is -2"),
    "array of 2^31-1, old": (SASL_HANDSHAKE_RESPONSE, 0, "0000 7fffffff", "array of 2147483647"),
    "array of 2^32-2": (CREATE_TOPICS_REQUEST, 7, "ffffffff0f", "an array of 4294967294 elements"),
    "array of rows": (
        FETCH_RESPONSE, 4, "00000000 00000001 0000 00000001" + "00" * 22 + "00000002" + "00" * 31,
        "an array of 2 elements, 31 bytes are left",
    ),
    "array of 2 in the bytes of 1": (
        CREATE_TOPICS_REQUEST, 2, "00000002" + "00" * 31,
        "an array of 2 elements, 31 bytes are left",
    ),
    "bytes past the end": (ENVELOPE_RESPONSE, 0, "ffffffff0f 00", "bytes needs 4294967294 bytes"),
    "varint of six bytes": (CREATE_TOPICS_REQUEST, 7, "808080808001", "more than 5 bytes"),
    "varint of 33 bits": (CREATE_TOPICS_REQUEST, 7, "ffffffff1f", "does not fit 32 bits"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_refused_with_its_reason_and_place(name):
    schema, version, text, reason = BAD_BODIES[name]
    raw = bytes.fromhex(text)
    with pytest.raises(CorruptMessageError, match=re.escape(reason)) as caught:
        decode_message(schema, version, raw)
    assert 0 <= caught.value.position <= len(raw)
    assert "\n" not in str(caught.value)
    with pytest.raises((Mismatch, *DECODE_FAILURES)):
        body_decoder(schema, version)(raw, 0)


def test_a_refusal_names_the_field_inside_its_array_and_the_byte_of_the_frame():
    listener = {"name": "n", "host": "h"}
    good = encode_message(BROKER_REGISTRATION_REQUEST, 4, {"listeners": (listener,) * 2})
    bad = good.replace(b"\x02h", b"\x02\xff")
    with pytest.raises(CorruptMessageError, match="UTF-8") as caught:
        decode_message(BROKER_REGISTRATION_REQUEST, 4, b"header" + bad, 6)
    assert caught.value.field == "listeners[0].host"
    assert caught.value.position == 6 + bad.index(b"\xff")
    assert isinstance(caught.value, CorruptRecordError)


def test_a_length_that_lies_costs_no_memory():
    topics = bytes.fromhex("ffffffff0f") + bytes(64)
    body_decoder(CREATE_TOPICS_REQUEST, 7)
    tracemalloc.start()
    with pytest.raises(CorruptMessageError):
        decode_message(CREATE_TOPICS_REQUEST, 7, topics)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_the_fault_of_a_long_body_is_not_looked_for():
    listener = {"name": "n" * 30_000, "host": "h"}
    longer = encode_message(BROKER_REGISTRATION_REQUEST, 4, {"listeners": (listener,) * 3})
    with pytest.raises(
        CorruptMessageError, match="no BrokerRegistrationRequest of version 4"
    ) as caught:
        decode_message(BROKER_REGISTRATION_REQUEST, 4, b"header" + longer + b"x", 6)
    assert (caught.value.position, caught.value.field) == (6, None)


UNWRITABLE = [
    (HEARTBEAT, 1, {"BrokerId": 1}, "BrokerHeartbeatRequest has no field BrokerId"),
    (HEARTBEAT, 1, {"brokerId": 2**31}, "brokerId: not a value of type int32"),
    (HEARTBEAT, 1, {"brokerId": "1"}, "brokerId: not a value of type int32"),
    (HEARTBEAT, 1, {"brokerId": None}, "brokerId may not be null"),
    (HEARTBEAT, 1, {"offlineLogDirs": ("short",)}, "UUID"),
    (HEARTBEAT, 1, {"offlineLogDirs": "AA"}, "offlineLogDirs: not a tuple"),
    (SASL_HANDSHAKE_REQUEST, 0, {"mechanism": None}, "mechanism may not be null"),
    (SASL_HANDSHAKE_REQUEST, 0, {"mechanism": 7}, "mechanism: not a value of type string"),
    (SASL_HANDSHAKE_REQUEST, 0, {"mechanism": "\ud800"}, "mechanism: not a value of type string"),
    (SASL_HANDSHAKE_REQUEST, 0, {"mechanism": "x" * 32_768}, "32768 bytes is too long"),
    (API_VERSIONS_REQUEST, 3, {"clientSoftwareName": "x" * 32_768}, "32768 bytes is too long"),
    (DELETE_TOPICS_RESPONSE, 5, {"responses": ({"name": None},)}, r"\[0\].name may not be null"),
    (DELETE_TOPICS_RESPONSE, 5, {"responses": (7,)}, r"responses\[0\]: not a value of type struct"),
    (ENVELOPE_RESPONSE, 0, {"responseData": "text"}, "responseData: not a value of type bytes"),
]


@pytest.mark.parametrize(("schema", "version", "fields", "reason"), UNWRITABLE)
def test_fields_that_do_not_fit_the_schema_are_not_encoded(schema, version, fields, reason):
    with pytest.raises(ValueError, match=reason):
        encode_message(schema, version, fields)


UNSAYABLE = [
    (DELETE_TOPICS_REQUEST, 5, {"topics": ({"name": "t"},)}, "topics"),
    (BROKER_REGISTRATION_REQUEST, 0, {"isMigratingZkBroker": True}, "isMigratingZkBroker"),
    (FETCH_REQUEST, 14, {"replicaState": {"replicaId": 3}}, "replicaState"),
    (FETCH_REQUEST, 15, {"replicaId": 3}, "replicaId"),
    (HEARTBEAT, 0, {"offlineLogDirs": ("A" * 22,)}, "offlineLogDirs"),
    (SASL_HANDSHAKE_REQUEST, 0, {UNKNOWN_TAGGED_FIELDS: ((1, b"x"),)}, "no tagged fields"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "version", "fields", "name"), UNSAYABLE)
def test_what_a_version_cannot_say_is_not_left_out_in_silence(schema, version, fields, name):
    with pytest.raises(UnsupportedFieldError, match=name):
        encode_message(schema, version, fields)


def test_what_a_version_cannot_say_is_left_out_if_it_is_a_default_or_ignorable():
    empty = encode_message(FETCH_REQUEST, 12, {})
    for fields in (
        {"replicaState": {}},
        {"replicaState": {"replicaId": -1, "replicaEpoch": -1}},
        {"replicaState": {"replicaId": -1}, "replicaId": -1},
    ):
        assert encode_message(FETCH_REQUEST, 12, fields) == empty
    topic = {"topic": "t", "topicId": "B" * 21 + "A"}
    by_name = encode_message(FETCH_REQUEST, 12, {"topics": ({"topic": "t"},)})
    assert encode_message(FETCH_REQUEST, 12, {"topics": (topic,)}) == by_name
    by_id = encode_message(FETCH_REQUEST, 13, {"topics": ({"topicId": topic["topicId"]},)})
    assert encode_message(FETCH_REQUEST, 13, {"topics": (topic,)}) == by_id
    assert by_id != by_name


def test_a_tag_is_not_written_twice():
    fields = {"offlineLogDirs": ("A" * 22,), UNKNOWN_TAGGED_FIELDS: ((0, b"x"),)}
    with pytest.raises(ValueError, match="tag 0 is given twice"):
        encode_message(HEARTBEAT, 1, fields)
    fields = {UNKNOWN_TAGGED_FIELDS: ((5, b"x"), (5, b"y"))}
    with pytest.raises(ValueError, match="tag 5 is given twice"):
        encode_message(HEARTBEAT, 1, fields)
