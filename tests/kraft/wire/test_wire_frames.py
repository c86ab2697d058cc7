"""Frames of a connection, headers, and what is answered to versions that are not served."""

from __future__ import annotations

import io
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.request_header.v1.header import RequestHeader as OldRequestHeader
from kio.schema.request_header.v2.header import RequestHeader as FlexibleRequestHeader
from kio.serial import entity_writer

from kraft.errors import CorruptMessageError, LimitExceededError, UnsupportedVersionError
from kraft.wire.api_versions import answer_to_unsupported
from kraft.wire.apis import CONTROLLER_APIS, api_of
from kraft.wire.frames import MAX_FRAME_BYTES, FrameBuffer, framed
from kraft.wire.headers import (
    RequestHeader,
    request_header_version,
    response_header_version,
)
from kraft.wire.requests import (
    read_request,
    read_response,
    request_bytes,
    response_bytes,
)

FETCH, SASL_HANDSHAKE, API_VERSIONS, HEARTBEAT = (CONTROLLER_APIS[key] for key in (1, 17, 18, 63))


def unframed(frame):
    (payload,) = frames_of(frame)
    return payload


def frames_of(*pieces, limit=MAX_FRAME_BYTES):
    buffer = FrameBuffer(limit)
    found = []
    for piece in pieces:
        buffer.receive_data(piece)
        # One that is not forgotten would come again and again.
        found += islice(buffer.frames(), 100)
    assert len(buffer) == 0
    return found


@given(st.lists(st.binary(max_size=30), max_size=6), st.data())
def test_frames_arrive_as_they_were_sent_however_they_are_cut(payloads, data):
    stream = b"".join(map(framed, payloads))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert frames_of(*pieces) == payloads
    assert frames_of(*(stream[i : i + 1] for i in range(len(stream)))) == payloads


def test_a_frame_above_the_limit_is_refused_by_its_size_alone():
    assert frames_of(framed(b"12345678"), limit=8) == [b"12345678"]
    buffer = FrameBuffer(8)
    buffer.receive_data(framed(b"1") + b"\x00\x00\x00\x09")
    frames = buffer.frames()
    assert next(frames) == b"1"
    with pytest.raises(LimitExceededError, match="a frame of 9 bytes, the limit is 8"):
        next(frames)


def test_the_limit_is_kafkas_unless_told_otherwise():
    buffer = FrameBuffer()
    buffer.receive_data((100 * 1024 * 1024).to_bytes(4, "big"))
    assert list(buffer.frames()) == []
    buffer = FrameBuffer()
    buffer.receive_data((100 * 1024 * 1024 + 1).to_bytes(4, "big"))
    with pytest.raises(LimitExceededError):
        list(buffer.frames())


def test_a_negative_size_is_refused():
    buffer = FrameBuffer()
    buffer.receive_data(b"\xff\xff\xff\xff")
    with pytest.raises(CorruptMessageError, match="a frame of -1 bytes"):
        list(buffer.frames())


@pytest.mark.parametrize(
    ("api", "version", "request_version", "response_version"),
    [
        (FETCH, 11, 1, 0),
        (FETCH, 12, 2, 1),
        (SASL_HANDSHAKE, 1, 1, 0),
        (API_VERSIONS, 2, 1, 0),
        (API_VERSIONS, 3, 2, 0),
        (API_VERSIONS, 99, 2, 0),
        (HEARTBEAT, 0, 2, 1),
    ],
)
def test_headers_have_kafkas_versions(api, version, request_version, response_version):
    assert request_header_version(api.request, version) == request_version
    assert response_header_version(api.response, version) == response_version


@pytest.mark.parametrize("client_id", ["client-1", "größe", "", None])
@pytest.mark.parametrize(
    ("api", "version", "kind"),
    [(FETCH, 11, OldRequestHeader), (FETCH, 12, FlexibleRequestHeader)],
)
def test_a_request_has_the_header_of_kio_and_is_read_again(api, version, kind, client_id):
    header = RequestHeader(api.key, version, 7, client_id)
    frame = unframed(request_bytes(header, {}))
    out = io.BytesIO()
    theirs = kind(
        request_api_key=api.key,
        request_api_version=version,
        correlation_id=7,
        client_id=client_id,
    )
    entity_writer(kind)(out, theirs)
    assert frame.startswith(out.getvalue())
    request = read_request(frame)
    assert request.header == header
    assert request.api is api
    assert request_bytes(request.header, request.fields) == framed(frame)


@pytest.mark.parametrize(("api", "version"), [(FETCH, 11), (FETCH, 12), (API_VERSIONS, 4)])
def test_a_response_is_read_as_it_was_written(api, version):
    frame = unframed(response_bytes(api, version, 8, {"errorCode": 35}))
    assert frame[:4] == b"\x00\x00\x00\x08"
    response = read_response(api, version, frame)
    assert response.header == (8, ())
    assert response.fields["errorCode"] == 35


def test_tagged_fields_of_a_header_are_kept_aside():
    start = bytes.fromhex("003f 0001 00000007 0001 63")
    body = bytes.fromhex("00000001 0000000000000009 000000000000000c 00 01 00")
    request = read_request(start + bytes.fromhex("01 02 01 ff") + body)
    assert request.header == RequestHeader(63, 1, 7, "c", ((2, b"\xff"),))
    assert request.fields["brokerEpoch"] == 9


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the header needs 8 bytes, 0 are left"),
        ("0012 0004 000000", "the header needs 8 bytes, 7 are left"),
        ("0012 0003 00000001", "int16 needs 2 bytes"),
        ("0012 0003 00000001 0005 63", "string needs 5 bytes, 1 are left"),
        ("0012 0003 00000001 0001 ff", "invalid UTF-8"),
        ("0012 0003 00000001 fffe", "a length of string is -2"),
        ("0012 0003 00000001 ffff 02 01 00 01 00", "tag 1 after tag 1"),
    ],
)
def test_a_broken_header_is_refused(text, reason):
    with pytest.raises(CorruptMessageError, match=reason):
        read_request(bytes.fromhex(text))


def test_the_place_in_a_refusal_counts_from_the_start_of_the_frame():
    header = RequestHeader(63, 1, 7, "c")
    frame = unframed(request_bytes(header, {"brokerId": 1}))
    with pytest.raises(CorruptMessageError) as caught:
        read_request(frame + b"\x00")
    assert caught.value.position == len(frame)


@pytest.mark.parametrize(
    ("key", "version", "reason"),
    [
        (0, 9, "no API with key 0"),
        (3, 12, "no API with key 3"),
        (-1, 0, "no API with key -1"),
        (1, 3, "Fetch version 3, versions 4 to 18 are served"),
        (1, 19, "Fetch version 19"),
        (18, 5, "ApiVersions version 5, versions 0 to 4 are served"),
        (63, -1, "BrokerHeartbeat version -1"),
    ],
)
def test_what_is_not_served_is_refused_as_unsupported(key, version, reason):
    frame = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    frame += b"\x00\x00\x00\x07\xff\xff\x00" + b"junk"
    with pytest.raises(UnsupportedVersionError, match=reason):
        read_request(frame)
    if key == API_VERSIONS.key:
        assert answer_to_unsupported(frame)
    else:
        assert answer_to_unsupported(frame) is None
    with pytest.raises(UnsupportedVersionError, match=reason):
        request_bytes(RequestHeader(key, version, 7), {})


def test_an_unknown_version_of_api_versions_is_answered_in_version_0():
    frame = bytes.fromhex("0012 0063 00000007 0001 63 00 ffff")
    answer = answer_to_unsupported(frame)
    assert answer == bytes.fromhex("00000010 00000007 0023 00000001 0012 0000 0004")
    fields = read_response(API_VERSIONS, 4, unframed(answer)).fields
    assert list(fields) == [f.name for f in API_VERSIONS.response.fields]
    assert fields["errorCode"] == 35
    assert fields["apiKeys"] == ({"apiKey": 18, "minVersion": 0, "maxVersion": 4},)
    assert (fields["finalizedFeaturesEpoch"], fields["supportedFeatures"]) == (-1, ())


def test_only_api_versions_is_read_in_version_0_for_another():
    answer = unframed(answer_to_unsupported(bytes.fromhex("0012 0063 00000007 ffff 00")))
    with pytest.raises(CorruptMessageError):
        read_response(API_VERSIONS, 0, answer + b"\x00")
    with pytest.raises(CorruptMessageError):
        read_response(HEARTBEAT, 1, answer)


def test_a_client_id_that_is_too_long_is_not_written():
    with pytest.raises(ValueError, match="a client id of 32768 bytes"):
        request_bytes(RequestHeader(63, 1, 7, "x" * 32_768), {})


# The versions of Kafka 4.1, as its definitions and a real controller have them.
SERVED = {
    1: (4, 18), 17: (0, 1), 18: (0, 4), 19: (2, 7), 20: (1, 6), 29: (1, 3), 30: (1, 3), 31: (1, 3),
    32: (1, 4), 33: (0, 2), 36: (0, 2), 37: (0, 3), 38: (1, 3), 39: (1, 2), 40: (1, 2), 41: (1, 3),
    43: (0, 2), 44: (0, 1), 45: (0, 1), 46: (0, 0), 49: (0, 1), 50: (0, 0), 51: (0, 0), 52: (0, 2),
    53: (0, 1), 54: (0, 1), 55: (0, 2), 56: (2, 3), 57: (0, 2), 58: (0, 0), 59: (0, 1), 60: (0, 2),
    62: (0, 4), 63: (0, 1), 64: (0, 0), 67: (0, 0), 70: (0, 0), 73: (0, 0), 80: (0, 0), 81: (0, 0),
    82: (0, 0),
}  # fmt: skip


def test_the_table_of_versions_is_that_of_a_controller_of_kafka():
    assert list(CONTROLLER_APIS) == sorted(SERVED)
    for key, api in CONTROLLER_APIS.items():
        assert (api.request.oldest, api.request.newest) == SERVED[key]
    for key, (oldest, newest) in SERVED.items():
        response = api_of(key, newest).response
        assert (response.api_key, response.oldest, response.newest) == (key, oldest, newest)


def test_a_sentence_that_is_too_long_for_a_string_is_cut():
    topic = {"name": "a", "errorCode": 17, "errorMessage": "größe" * 9000}
    api = CONTROLLER_APIS[19]
    framed_response = response_bytes(api, 7, 5, {"topics": (topic,)})

    (told,) = read_response(api, 7, framed_response[4:]).fields["topics"]
    assert told["errorMessage"] == ("größe" * 9000)[:1000]
    with pytest.raises(ValueError, match="too long to be serialized"):
        response_bytes(api, 7, 5, {"topics": ({"name": "a" * 40_000},)})
