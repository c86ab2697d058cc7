"""Mutated batches: every one is read or refused by one typed error, in bounded time and memory.

The mutants run in a process of their own so that its peak memory is theirs. Mutations know the
structure: truncation, flipped bits, lengths and counts driven to extremes; in half of them the CRC
is made right again, so that the mutant gets past it.
"""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from pathlib import Path

from tests.kraft.records.lengths import with_length
from tests.kraft.records.samples import every_record, leader_change, no_ops

from kraft.errors import CorruptRecordError
from kraft.records.batch import HEADER_BYTES, parse_batch
from kraft.records.builder import control_batch, metadata_batch, with_crc
from kraft.records.compression import Compression
from kraft.records.limits import Limits

MUTANTS = 100_000
SEED = 20_240_631
MEMORY_BYTES = 256 * 1024 * 1024
LIMITS = Limits(batch_bytes=1024 * 1024, decompressed_bytes=1024 * 1024)
EXTREMES = (0, 1, 0x7F, 0x80, 0xFF)
INTEGERS = (0, 1, -1, -2, 2**31 - 1, -(2**31), 2**16, 60)
HEADER_INTEGERS = (8, 23, 57)


def originals() -> list[bytes]:
    """Return small batches of every kind: each record type, controls, each compression."""
    batches = [metadata_batch(9, 1, 1, [record]) for record in every_record(SEED)]
    batches += [metadata_batch(9, 1, 1, every_record(2)[i : i + 3]) for i in range(0, 33, 3)]
    batches += [
        metadata_batch(9, 1, 1, every_record(3)[20:26], compression=kind) for kind in Compression
    ]
    voters = {"version": 0, "voters": ({"voterId": 1, "endpoints": ({"name": "C"},)},)}
    voters["voters"][0]["kRaftVersionFeature"] = {}
    batches += [leader_change(), no_ops(9, 4), control_batch(0, 1, 1, [(6, voters)])]
    batches += [control_batch(0, 1, 1, [(3, {}), (5, {}), (4, {})])]
    return [raw for raw in batches if len(raw) < 1500]


def mutant(raw: bytes, choose: random.Random) -> bytes:
    """Return `raw` after one to three mutations."""
    changed = bytearray(raw)
    for _ in range(choose.choice((1, 1, 2, 3))):
        kind = choose.randrange(6)
        at = choose.randrange(len(changed))
        if kind == 0:
            changed[at] ^= 1 << choose.randrange(8)
        elif kind == 1:
            changed[at] = choose.choice(EXTREMES)
        elif kind == 2 and len(changed) > HEADER_BYTES:
            struct.pack_into(">i", changed, choose.choice(HEADER_INTEGERS), choose.choice(INTEGERS))
        elif kind == 3 and at > HEADER_BYTES:
            changed[at:] = b""
        elif kind == 4 and at >= HEADER_BYTES:
            changed[at : at + 1] = choose.randbytes(choose.randrange(4))
        elif at + 5 < len(changed) and at >= HEADER_BYTES:
            changed[at : at + 5] = b"\xff\xff\xff\xff" + choose.choice((b"\x07", b"\x0f", b"\x7f"))
    if len(changed) >= HEADER_BYTES and choose.random() < 0.5:
        return with_crc(with_length(bytes(changed)))
    return bytes(changed)


def read_or_refuse(raw: bytes) -> str:
    """Return what became of a batch: `read`, or the name of the error it was refused with."""
    try:
        batch = parse_batch(raw, limits=LIMITS)
        batch.metadata_records()
        batch.control_records()
    except CorruptRecordError as error:
        refusal = error
    else:
        return "read"
    line = str(refusal)
    assert line, "an error without a word"
    assert line.isprintable(), f"not one line of text: {line!r}"
    assert refusal.position is not None, f"no place: {line}"
    assert 0 <= refusal.position <= len(raw), f"a place outside of the input: {line}"
    return type(refusal).__name__


def fuzz(count: int) -> dict[str, int]:
    """Return how many of `count` mutants ended how, and the peak memory in bytes."""
    choose = random.Random(SEED)
    batches = originals()
    outcomes: dict[str, int] = {}
    for _ in range(count):
        outcome = read_or_refuse(mutant(choose.choice(batches), choose))
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    outcomes["peak bytes"] = peak_bytes()
    return outcomes


def peak_bytes() -> int:
    """Return the most memory this process ever held.

    Linux lets a new process inherit the peak that getrusage reports from the one that started it;
    its own stands in /proc.
    """
    import resource

    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [one for one in status.read_text().splitlines() if one.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_mutated_batches_are_read_or_refused_with_a_typed_error():
    code = (
        "import json; from tests.kraft.records.test_records_fuzz import fuzz, MUTANTS;"
        "print(json.dumps(fuzz(MUTANTS)))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    assert outcomes.pop("peak bytes") < MEMORY_BYTES
    assert sum(outcomes.values()) == MUTANTS
    assert set(outcomes) == {
        "read",
        "CorruptRecordError",
        "UnsupportedVersionError",
        "LimitExceededError",
    }
    assert outcomes["read"] > MUTANTS // 50
    assert outcomes["CorruptRecordError"] > MUTANTS // 2


def test_every_prefix_of_a_batch_is_refused():
    raw = metadata_batch(0, 1, 0, every_record(4)[:6])
    outcomes = {read_or_refuse(raw[:length]) for length in range(len(raw))}
    assert outcomes == {"CorruptRecordError"}


def test_every_prefix_of_the_records_is_refused_with_a_right_crc():
    raw = metadata_batch(0, 1, 0, every_record(4)[:6])
    for length in range(HEADER_BYTES, len(raw)):
        outcome = read_or_refuse(with_crc(with_length(raw[:length])))
        assert outcome == "CorruptRecordError"
