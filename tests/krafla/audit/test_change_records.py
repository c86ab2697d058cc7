"""Changes found many at a time are those of a full decode, and what is unusual is refused."""

from __future__ import annotations

import random

import pytest
from tests.krafla.audit.breaking import NOTHING, TIME, TOPIC

from krafla.audit.change_records import KEY_END, KEY_START, UnusualError, ordinary_changes
from krafla.audit.partitions import key_of
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch

TAILS = (
    {"isr": (0, 1)},
    {"isr": (0, 2)},
    {"isr": (0, 1, 2)},
    {"leader": 1},
    {"isr": (2,), "leader": 2, "leaderRecoveryState": 1},
)


def change(number, fields):
    return (5, 2, {"partitionId": number, "topicId": TOPIC, **fields})


def mixed(count, seed):
    """Return records in runs of equal tails, with other records between them."""
    choose = random.Random(seed)
    records = []
    while len(records) < count:
        if choose.random() < 0.1:
            records.append(NOTHING)
        fields = choose.choice(TAILS)
        length = choose.choice((1, 2, 31, 33, 100))
        records += [change(len(records) + n, fields) for n in range(length)]
    return records[:count]


def batch_of(records, folder):
    path = folder / f"{0:020}.log"
    path.write_bytes(metadata_batch(0, 1, TIME, records))
    (batch,) = iter_batches(path)
    return batch


@pytest.mark.parametrize(("count", "seed"), [(1, 0), (64, 1), (65, 2), (700, 3), (8300, 4)])
def test_the_changes_of_a_batch_are_those_of_a_full_decode(tmp_path, count, seed):
    batch = batch_of(mixed(count, seed), tmp_path)
    changes, tails, head = ordinary_changes(batch.record_bytes(), batch.count)
    decoded = batch.metadata_records(frozenset({5}))
    assert changes == [(r.offset, key_of(r.fields), r.value[KEY_END:]) for r in decoded]
    assert tails.keys() == {r.value[KEY_END:] for r in decoded}
    assert not decoded or head == decoded[0].value[:KEY_START]


@pytest.mark.parametrize("at", [1, 40, 64, 99])
@pytest.mark.parametrize(
    "byte", [0, 1, 2, 3, -1], ids=["length", "attributes", "timestamp", "index", "headers"]
)
def test_a_record_among_like_ones_that_is_unusual_is_refused(tmp_path, at, byte):
    records = [change(n, TAILS[0]) for n in range(100)]
    batch = batch_of(records, tmp_path)
    data = bytearray(batch.record_bytes())
    starts = [r.position - batch.position - 61 for r in batch.metadata_records()] + [len(data)]
    data[starts[at + 1] - 1 if byte == -1 else starts[at] + byte] ^= 2
    with pytest.raises((UnusualError, IndexError)):
        ordinary_changes(bytes(data), batch.count)


def test_bytes_behind_the_last_record_are_refused(tmp_path):
    batch = batch_of([change(n, TAILS[0]) for n in range(50)], tmp_path)
    with pytest.raises(UnusualError):
        ordinary_changes(batch.record_bytes() + b"\x00", batch.count)
    with pytest.raises((UnusualError, IndexError)):
        ordinary_changes(batch.record_bytes(), batch.count + 1)
