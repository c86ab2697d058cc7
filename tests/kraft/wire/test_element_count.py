"""The most elements of a request: counted as the codec reads them, without reading them."""

import random

import pytest
from tests.kraft.records.samples import random_fields

from kraft.errors import CorruptMessageError, LimitExceededError
from kraft.records.encoders import encode_message
from kraft.records.layouts import layout_of
from kraft.wire import element_count
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.element_count import MAX_ELEMENTS
from kraft.wire.headers import RequestHeader
from kraft.wire.requests import read_request, request_bytes

SEED = 20_262
CREATE_TOPICS = 19
DESCRIBE_CONFIGS = 32
BROKER_HEARTBEAT = 63
DIRECTORY = "S6EaKwVBTqalnbX5b-yzVQ"


def elements(value):
    """Return how many elements the arrays of a value have in all."""
    if isinstance(value, dict):
        return sum(map(elements, value.values()))
    if isinstance(value, tuple):
        return len(value) + sum(map(elements, value))
    return 0


def samples():
    """Return fields with elements for each version of a request that can have any."""
    choose = random.Random(SEED)
    found = []
    for api in CONTROLLER_APIS.values():
        for version in range(api.request.oldest, api.request.newest + 1):
            fields = layout_of(api.request, version).fields
            drawn = (random_fields(fields, 0, choose, (3, 4)) for _ in range(20))
            sample = next((one for one in drawn if elements(one)), None)
            if sample is not None:
                found.append(pytest.param(api.request, version, sample, id=f"{api.name} {version}"))
    return found


@pytest.mark.parametrize(("schema", "version", "fields"), samples())
def test_the_elements_of_each_version_are_counted(monkeypatch, schema, version, fields):
    layout = layout_of(schema, version)
    body = encode_message(schema, version, fields)
    count = elements(fields)
    # The rule is for long bodies alone; none of these is as short as its number of elements.
    for most in (count, count - 1):
        monkeypatch.setattr(element_count, "MAX_ELEMENTS", most)
        if most == count:
            element_count.check_element_count(layout, body, 0)
        else:
            with pytest.raises(LimitExceededError, match=f"more than {most} elements"):
                element_count.check_element_count(layout, body, 0)


def frame_of(key, version, **fields):
    return request_bytes(RequestHeader(key, version, 1, "a"), fields)[4:]


@pytest.mark.parametrize(("count", "is_read"), [(MAX_ELEMENTS, True), (MAX_ELEMENTS + 1, False)])
def test_a_request_of_too_many_elements_is_refused(count, is_read):
    keys = {"resourceType": 2, "resourceName": "a", "configurationKeys": ("",) * (count - 1)}
    frame = frame_of(DESCRIBE_CONFIGS, 4, resources=(keys,))

    if is_read:
        assert len(read_request(frame).fields["resources"][0]["configurationKeys"]) == count - 1
        return
    with pytest.raises(LimitExceededError, match="more than 65536 elements"):
        read_request(frame)


def test_the_elements_of_a_tagged_array_count():
    few, many = (
        frame_of(BROKER_HEARTBEAT, 1, brokerId=1, brokerEpoch=1, offlineLogDirs=(DIRECTORY,) * n)
        for n in (MAX_ELEMENTS, MAX_ELEMENTS + 1)
    )

    assert len(read_request(few).fields["offlineLogDirs"]) == MAX_ELEMENTS
    with pytest.raises(LimitExceededError, match="more than 65536 elements"):
        read_request(many)


def test_unknown_tagged_fields_count_as_elements():
    body = frame_of(CREATE_TOPICS, 7, topics=(), timeoutMs=1)
    tags = b"".join(bytes((0x80 | n & 0x7F, n >> 7 & 0x7F, 0)) if n < 2**14 else
                    bytes((0x80 | n & 0x7F, 0x80 | n >> 7 & 0x7F, n >> 14, 0))
                    for n in range(128, 128 + MAX_ELEMENTS + 1))  # fmt: skip
    count = MAX_ELEMENTS + 1
    number = bytes((0x80 | count & 0x7F, 0x80 | count >> 7 & 0x7F, count >> 14))

    with pytest.raises(LimitExceededError):
        read_request(body[:-1] + number + tags)


def test_long_bytes_that_are_no_request_are_refused_as_such():
    frame = frame_of(CREATE_TOPICS, 7, topics=(), timeoutMs=1) + bytes(MAX_ELEMENTS)

    with pytest.raises(CorruptMessageError):
        read_request(frame)
