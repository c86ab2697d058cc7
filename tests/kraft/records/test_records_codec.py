"""The schema-driven codec, and the compiled decoders that must agree with it."""

from __future__ import annotations

import random
import re

import pytest
from tests.kraft.records.samples import ALL_TYPES, random_fields

from kraft.errors import CorruptRecordError, UnsupportedVersionError
from kraft.records.codec import decode_body, encode_body
from kraft.records.control_schemas import CONTROL_SCHEMAS
from kraft.records.decoders import DECODE_FAILURES, Mismatch, body_decoder, decoder_source
from kraft.records.encoders import body_encoder
from kraft.records.layouts import layout_of
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.primitives import Reader, encode_uvarint, encode_varint
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS
from kraft.records.value import decode_value, encode_value

FENCE_BROKER_7 = bytes.fromhex("01 07 00 00000003 0000000000000009 00")
PARTITION_CHANGE_OF_KAFKA = bytes.fromhex(
    "01 05 02 00000001 00112233445566778899aabbccddeeff"
    " 03 00 09 03 00000001 00000002 01 04 00000002 05 01 01"
)


def value(text: str) -> bytes:
    return bytes.fromhex(text)


def test_there_are_26_record_types_and_35_versions_of_them():
    assert len(METADATA_SCHEMAS) == 26
    assert len(ALL_TYPES) == 35
    assert not {6, 13, 16} & set(METADATA_SCHEMAS)


def test_a_fence_broker_record_reads_as_its_bytes_say():
    assert decode_value(FENCE_BROKER_7) == (7, 0, {"id": 3, "epoch": 9})


def test_a_partition_change_has_every_field_and_defaults_for_absent_tags():
    assert decode_value(PARTITION_CHANGE_OF_KAFKA).fields == {
        "partitionId": 1,
        "topicId": "ABEiM0RVZneImaq7zN3u_w",
        "isr": (1, 2),
        "leader": 2,
        "replicas": None,
        "removingReplicas": None,
        "addingReplicas": None,
        "leaderRecoveryState": 1,
        "directories": None,
        "eligibleLeaderReplicas": None,
        "lastKnownElr": None,
    }


def test_defaults_are_kafkas_defaults():
    change = decode_value(value("01 05 02 00000000" + "00" * 16 + "00")).fields
    assert (change["leader"], change["isr"], change["leaderRecoveryState"]) == (-2, None, -1)
    registered = encode_body(
        layout_of(METADATA_SCHEMAS[0], 3), METADATA_SCHEMAS[0].name, {"brokerId": 1}
    )
    fields = decode_body(layout_of(METADATA_SCHEMAS[0], 3), Reader(registered))
    assert (fields["fenced"], fields["inControlledShutdown"], fields["logDirs"]) == (
        True,
        False,
        (),
    )
    partition = encode_body(layout_of(METADATA_SCHEMAS[3], 0), METADATA_SCHEMAS[3].name, {})
    fields = decode_body(layout_of(METADATA_SCHEMAS[3], 0), Reader(partition))
    assert (fields["partitionId"], fields["leader"], fields["partitionEpoch"]) == (-1, -1, -1)


@pytest.mark.parametrize(("api_key", "version"), ALL_TYPES)
def test_random_fields_survive_encoding_and_decoding_by_both_decoders(api_key, version):
    choose = random.Random(api_key * 10 + version)
    schema = METADATA_SCHEMAS[api_key]
    for _ in range(60):
        fields = random_fields(schema.fields, version, choose)
        raw = encode_value(api_key, version, fields)
        assert raw[3:] == encode_body(layout_of(schema, version), schema.name, fields)
        assert body_encoder(schema, version)(fields) == raw[3:]
        assert decode_value(raw) == (api_key, version, fields)
        assert list(decode_value(raw).fields) == list(fields)
        assert body_decoder(METADATA_SCHEMAS[api_key], version)(raw, 3) == fields
        assert encode_value(api_key, version, decode_value(raw).fields) == raw


@pytest.mark.parametrize("kind", sorted(CONTROL_SCHEMAS))
def test_control_bodies_survive_encoding_and_decoding(kind):
    choose = random.Random(kind)
    schema = CONTROL_SCHEMAS[kind]
    for version in range(schema.newest + 1):
        fields = random_fields(schema.fields, version, choose)
        raw = encode_body(layout_of(schema, version), schema.name, fields)
        assert decode_body(layout_of(schema, version), Reader(raw)) == fields


@pytest.mark.parametrize(("api_key", "version"), ALL_TYPES)
def test_a_compiled_decoder_never_accepts_what_the_reference_refuses(api_key, version):
    choose = random.Random(api_key * 10 + version)
    schema = METADATA_SCHEMAS[api_key]
    refused = 0
    for _ in range(40):
        fields = random_fields(schema.fields, version, choose)
        raw = bytearray(encode_value(api_key, version, fields))
        for _ in range(20):
            mutant = _mutated(raw, choose)
            try:
                expected = decode_body(layout_of(schema, version), Reader(mutant, 3))
            except CorruptRecordError:
                expected = None
                refused += 1
            try:
                got = body_decoder(METADATA_SCHEMAS[api_key], version)(mutant, 3)
            except (Mismatch, *DECODE_FAILURES):
                continue
            assert repr(got) == repr(expected)
    assert refused


def _mutated(raw: bytearray, choose: random.Random) -> bytes:
    body = bytearray(raw)
    for _ in range(choose.choice((1, 1, 2))):
        if len(body) > 3:
            body[choose.randrange(3, len(body))] = choose.choice((0, 1, 2, 5, 0x7F, 0x80, 0xFF))
    return bytes(body[: choose.choice((len(body), len(body), choose.randint(3, len(body)))) or 3])


def test_the_generated_source_depends_on_the_schema_alone():
    schema = METADATA_SCHEMAS[0]
    assert decoder_source(layout_of(schema, 3)) == decoder_source(layout_of(schema, 3))
    assert "logDirs" in decoder_source(layout_of(schema, 3))[0]
    assert "logDirs" not in decoder_source(layout_of(schema, 2))[0]


def test_unknown_tagged_fields_are_kept_and_written_again():
    raw = value("01 07 00 00000003 0000000000000009 02 05 01 ff 87 68 02 abcd")
    fields = decode_value(raw).fields
    assert fields[UNKNOWN_TAGGED_FIELDS] == ((5, b"\xff"), (13319, b"\xab\xcd"))
    assert encode_value(7, 0, fields) == raw


def test_an_overlong_varint_is_read_but_not_written_again():
    overlong = value("01 09 80 00" + "00" * 16 + "00")
    assert decode_value(overlong).version == 0
    assert encode_value(9, 0, decode_value(overlong).fields) != overlong


BAD_VALUES = {
    "empty": ("", "cut short", CorruptRecordError),
    "frame version 0": ("00 07 00", "frame version 0", UnsupportedVersionError),
    "frame version 2": ("02 07 00", "frame version 2", UnsupportedVersionError),
    "frame version 32768": ("80 80 02 07 00", "frame version 32768", UnsupportedVersionError),
    "unknown type": ("01 06 00", "api key 6", UnsupportedVersionError),
    "type of 16 bits and more": ("01 80 80 02 00", "does not fit 16 bits", CorruptRecordError),
    "newer version": ("01 05 03", "version 3, the newest known is 2", UnsupportedVersionError),
    "truncated number": ("01 07 00 0000", "int32 needs 4 bytes, 2 are left", CorruptRecordError),
    "trailing garbage": (FENCE_BROKER_7.hex() + "00", "1 bytes left over", CorruptRecordError),
    "varint of six bytes": ("01 1c 00 8080808080 01", "more than 5 bytes", CorruptRecordError),
    "varint of 33 bits": ("01 1c 00 ffffffff1f", "does not fit 32 bits", CorruptRecordError),
    "null name": ("01 1c 00 00 00", "null where", CorruptRecordError),
    "name longer than the record": ("01 1c 00 7f 61", "needs 126 bytes", CorruptRecordError),
    "invalid UTF-8": ("01 1c 00 02 ff 00", "invalid UTF-8", CorruptRecordError),
    "lone surrogate": ("01 1c 00 04 eda080 00", "invalid UTF-8", CorruptRecordError),
    "array of 2^31-1": (
        "01 03 00 00000000" + "00" * 16 + "8080808008",
        "an array of 2147483647 elements",
        CorruptRecordError,
    ),
    "null array": ("01 03 00 00000000" + "00" * 16 + "00", "null where", CorruptRecordError),
    "2^31 tagged fields": ("01 14 00 8080808008", "tagged fields cannot fit", CorruptRecordError),
    "duplicate tag": ("01 14 00 02 03 00 03 00", "tag 3 after tag 3", CorruptRecordError),
    "unsorted tags": ("01 14 00 02 04 00 03 00", "tag 3 after tag 4", CorruptRecordError),
    "tag past the end": ("01 14 00 01 00 05", "tag 0 needs 5 bytes", CorruptRecordError),
    "tag with spare bytes": (
        "01 11 01 00000001 0000000000000001 01 00 02 01 01",
        "1 bytes left over in tag 0",
        CorruptRecordError,
    ),
    "tag too short": (
        "01 11 01 00000001 0000000000000001 01 00 00",
        "int8 needs 1 bytes",
        CorruptRecordError,
    ),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_a_bad_value_is_refused_with_its_reason(name):
    text, reason, kind = BAD_VALUES[name]
    with pytest.raises(kind, match=re.escape(reason)) as caught:
        decode_value(value(text))
    assert caught.value.position is not None
    assert "\n" not in str(caught.value)


def test_a_refusal_names_the_field_inside_its_array():
    good = encode_body(
        layout_of(METADATA_SCHEMAS[0], 3),
        METADATA_SCHEMAS[0].name,
        {"endPoints": ({"name": "n", "host": "h"},) * 2},
    )
    bad = good.replace(b"\x02h", b"\x02\xff", 2)
    with pytest.raises(CorruptRecordError, match="UTF-8") as caught:
        decode_body(layout_of(METADATA_SCHEMAS[0], 3), Reader(bad))
    assert caught.value.field == "endPoints[0].host"


@pytest.mark.parametrize(
    ("api_key", "version", "fields", "reason"),
    [
        (6, 0, {}, "no metadata record"),
        (5, 3, {}, "no metadata record"),
        (7, 0, {"Id": 3}, "has no field Id"),
        (7, 0, {"id": 2**31}, "id: not a value of type int32"),
        (2, 0, {"name": None}, "may not be null"),
        (2, 0, {"name": 7}, "not a value of type string"),
        (2, 0, {"name": "\ud800"}, "not a value of type string"),
        (9, 0, {"topicId": "short"}, "UUID"),
        (17, 1, {"logDirs": ("",)}, "logDirs: this version has no such field"),
    ],
)
def test_fields_that_do_not_fit_the_schema_are_not_encoded(api_key, version, fields, reason):
    with pytest.raises(ValueError, match=reason):
        encode_value(api_key, version, fields)


@pytest.mark.parametrize("number", [0, 1, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31)])
def test_zigzag_varints_survive(number):
    reader = Reader(encode_varint(number))
    assert reader.varint("a number") == number
    assert reader.position == reader.end


@pytest.mark.parametrize("number", [0, 2**62, -(2**63), 2**63 - 1])
def test_zigzag_varlongs_survive(number):
    assert Reader(encode_varint(number)).varlong("a number") == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [("80" * 9, "cut short"), ("ff" * 10 + "01", "more than 10"), ("ff" * 9 + "7f", "64 bits")],
)
def test_bad_varlongs_are_refused(text, reason):
    with pytest.raises(CorruptRecordError, match=reason):
        Reader(value(text)).varlong("a number")


@pytest.mark.parametrize("number", [0, 127, 128, 16383, 16384, 2**32 - 1])
def test_unsigned_varints_survive(number):
    assert Reader(encode_uvarint(number)).uvarint("a number") == number
