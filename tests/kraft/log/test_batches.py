"""Batches as the Raft layer holds them: what was made is what is read, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft.errors import CorruptRecordError
from kraft.log.batches import controls_batch, data_batch, read_batches
from kraft.records.builder import encode_batch, with_crc
from kraft.records.compression import Compression
from kraft.records.control_schemas import LEADER_CHANGE

LEADER = (LEADER_CHANGE.api_key, {"version": 0, "leaderId": 1, "voters": (), "grantingVoters": ()})
VALUES = st.lists(st.binary(max_size=200), min_size=1, max_size=70)
LOGS = st.lists(st.tuples(st.booleans(), st.integers(0, 3), VALUES), max_size=5)


def batches_of(log, first=0):
    made, epoch, offset = [], 1, first
    for is_control, later, values in log:
        epoch += later
        make = controls_batch if is_control else data_batch
        made.append(make(offset, epoch, 7, [LEADER] * len(values) if is_control else values))
        offset = made[-1].end_offset
    return made


def parts(batch):
    return batch.base_offset, batch.epoch, batch.count, batch.values, batch.controls, batch.raw


@given(LOGS)
def test_batches_are_read_as_they_were_made(log):
    made = batches_of(log, first=3)
    read = read_batches(b"".join(batch.raw for batch in made))
    assert [parts(batch) for batch in read] == [parts(batch) for batch in made]


def test_many_bytes_are_read_as_few_are():
    large = data_batch(0, 1, 0, [bytes(100_000)])
    assert [parts(batch) for batch in read_batches(large.raw)] == [parts(large)]


def test_values_are_read_from_compressed_records():
    raw = encode_batch(4, 2, 0, [b"a" * 500, b""], compression=Compression.GZIP)
    (batch,) = read_batches(raw)
    assert (batch.base_offset, batch.end_offset) == (4, 6)
    assert batch.values == (b"a" * 500, b"")
    assert batch.raw == raw


@given(LOGS.filter(len), st.data())
def test_a_log_that_is_cut_short_is_refused_or_is_whole_batches(log, data):
    made = batches_of(log)
    whole = b"".join(batch.raw for batch in made)
    end = data.draw(st.integers(1, len(whole) - 1))
    ends, position = {}, 0
    for count, batch in enumerate(made, 1):
        position += len(batch.raw)
        ends[position] = count
    if end in ends:
        assert [b.raw for b in read_batches(whole[:end])] == [b.raw for b in made[: ends[end]]]
    else:
        with pytest.raises(CorruptRecordError):
            read_batches(whole[:end])


@given(VALUES, st.data())
def test_a_bit_that_flips_in_what_the_crc_covers_is_noticed(values, data):
    raw = bytearray(data_batch(5, 2, 0, values).raw)
    position = data.draw(st.integers(21, len(raw) - 1))
    raw[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(CorruptRecordError):
        read_batches(bytes(raw))


@pytest.mark.parametrize("length", [-1, 0, 48, 2**31 - 1])
def test_a_length_that_no_batch_has_is_refused(length):
    raw = data_batch(5, 2, 0, [b"x"]).raw
    with pytest.raises(CorruptRecordError):
        read_batches(raw[:8] + length.to_bytes(4, "big", signed=True) + raw[12:])


def test_a_record_with_a_key_in_a_batch_of_data_is_refused_with_its_place():
    raw = bytearray(encode_batch(9, 1, 0, [b"value"], keys=[b"key"]))
    raw[22] &= ~0x20
    good = data_batch(8, 1, 0, [b"before"]).raw
    with pytest.raises(CorruptRecordError, match="not just a value") as refused:
        read_batches(good + with_crc(bytes(raw)))
    assert refused.value.position == len(good) + 61
    assert refused.value.base_offset == 9


def test_bytes_after_the_last_record_are_refused():
    raw = data_batch(0, 1, 0, [b"value"]).raw + b"\0"
    longer = raw[:8] + (len(raw) - 12).to_bytes(4, "big") + raw[12:]
    with pytest.raises(CorruptRecordError, match="1 bytes after the last record"):
        read_batches(with_crc(longer))


def test_a_batch_counts_its_records_and_ends_after_the_last():
    batch = data_batch(10, 3, 0, [b"a", b"b", b"c"])
    assert (batch.base_offset, batch.count, batch.end_offset, batch.epoch) == (10, 3, 13, 3)
    with pytest.raises(ValueError, match="at least one record"):
        data_batch(10, 3, 0, [])


def test_short_batches_are_decoded_once_and_long_ones_are_not_kept():
    short = data_batch(0, 1, 0, [b"value"]).raw
    assert read_batches(short) is read_batches(bytes(bytearray(short)))
    long = data_batch(0, 1, 0, [bytes(1024)]).raw
    assert read_batches(long) is not read_batches(long)
