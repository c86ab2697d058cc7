"""Mutated frames of every API and version: read, or refused by one typed error, in little memory.

The mutants run in a process of their own so that its peak memory is theirs.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.kraft.records.samples import random_fields
from tests.kraft.records.test_records_fuzz import peak_bytes

from kraft.errors import CorruptRecordError
from kraft.records.layouts import layout_of
from kraft.wire.api_versions import answer_to_unsupported
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.frames import FrameBuffer
from kraft.wire.headers import RequestHeader
from kraft.wire.requests import read_request, read_response, request_bytes, response_bytes

COUNTS = (0, 1, 2, 3)
BY_DAY = 6_000
AT_NIGHT = 100_000
SEED = 20_240_919
MEMORY_BYTES = 256 * 1024 * 1024
SLOWEST_SECONDS = 1.0
LIMIT = 1024 * 1024
EXTREMES = (0, 1, 0x7F, 0x80, 0xFE, 0xFF)
HUGE = (b"\xff\xff\xff\xff\x0f", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xfe")


def originals():
    """Return (api, version, is a request, frame): a request and a response of every version."""
    choose = random.Random(SEED)
    found = []
    for api in CONTROLLER_APIS.values():
        for version in range(api.request.oldest, api.request.newest + 1):
            fields = random_fields(layout_of(api.request, version).fields, 0, choose, COUNTS)
            header = RequestHeader(api.key, version, 7, "client")
            found.append((api, version, True, request_bytes(header, fields)))
            fields = random_fields(layout_of(api.response, version).fields, 0, choose, COUNTS)
            found.append((api, version, False, response_bytes(api, version, 7, fields)))
    return found


def mutant(frame, other, choose):
    """Return a frame after one to three mutations; half of them get their size made right."""
    changed = bytearray(frame)
    for _ in range(choose.choice((1, 1, 2, 3))):
        if len(changed) < 8:
            break
        kind = choose.randrange(6)
        at = choose.randrange(len(changed))
        if kind == 0:
            changed[at] ^= 1 << choose.randrange(8)
        elif kind == 1:
            changed[at] = choose.choice(EXTREMES)
        elif kind == 2 and at > 8:
            changed[at:] = b""
        elif kind == 3:
            changed[at : at + choose.randrange(3)] = choose.randbytes(choose.randrange(4))
        elif kind == 4:
            changed[at : at + choose.randrange(6)] = choose.choice(HUGE)
        else:
            start = choose.randrange(len(other))
            changed[at : at + choose.randrange(40)] = other[start : start + choose.randrange(40)]
    if choose.random() < 0.9:
        changed[:4] = max(0, len(changed) - 4).to_bytes(4, "big")
    return bytes(changed)


def read_or_refuse(api, version, is_request, frame):
    """Return what became of a frame: `read`, `waits`, or the name of the error."""
    buffer = FrameBuffer(LIMIT)
    buffer.receive_data(frame)
    payload = None
    try:
        payload = next(buffer.frames(), None)
        if payload is None:
            return "waits"
        if is_request:
            read_request(payload)
        else:
            read_response(api, version, payload)
    except CorruptRecordError as error:
        refusal = error
    else:
        return "read"
    line = str(refusal)
    assert line.isprintable(), f"not one line of text: {line!r}"
    assert refusal.position is not None, f"no place: {line}"
    assert 0 <= refusal.position <= len(frame), f"a place outside of the input: {line}"
    name = type(refusal).__name__
    if payload is not None and name == "UnsupportedVersionError":
        answer_to_unsupported(payload)
    return name


def fuzz(count):
    """Return how many of `count` mutants ended how, the slowest, and the peak memory in bytes."""
    choose = random.Random(SEED)
    frames = originals()
    outcomes = {}
    slowest = 0.0
    for number in range(count):
        api, version, is_request, frame = frames[number % len(frames)]
        changed = mutant(frame, choose.choice(frames)[3], choose)
        began = time.process_time()
        outcome = read_or_refuse(api, version, is_request, changed)
        slowest = max(slowest, time.process_time() - began)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes | {"slowest": slowest, "peak bytes": peak_bytes()}


def assert_all_are_read_or_refused(count):
    module = "tests.kraft.wire.test_wire_fuzz"
    code = f"import json; from {module} import fuzz; print(json.dumps(fuzz({count})))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    assert outcomes.pop("peak bytes") < MEMORY_BYTES
    assert outcomes.pop("slowest") < SLOWEST_SECONDS
    assert sum(outcomes.values()) == count
    assert set(outcomes) == {
        "read",
        "waits",
        "CorruptMessageError",
        "UnsupportedVersionError",
        "LimitExceededError",
    }
    assert outcomes["read"] > count // 20
    assert outcomes["CorruptMessageError"] > count // 2


def test_mutated_frames_are_read_or_refused_with_a_typed_error():
    assert_all_are_read_or_refused(BY_DAY)
    assert len(originals()) == 228


@pytest.mark.nightly
def test_many_mutated_frames_are_read_or_refused_with_a_typed_error():
    assert_all_are_read_or_refused(AT_NIGHT)


def test_every_prefix_of_a_frame_is_refused():
    for api, version, is_request, frame in originals()[::7]:
        payload = frame[4:]
        for length in range(0, len(payload), max(1, len(payload) // 20)):
            cut = length.to_bytes(4, "big") + payload[:length]
            outcome = read_or_refuse(api, version, is_request, cut)
            assert outcome == "CorruptMessageError", (api.name, version, length)
