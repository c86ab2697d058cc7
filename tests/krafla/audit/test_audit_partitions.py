"""The quick reader of partition changes agrees with the reference decoder, or defers to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.audit.editing import CHANGE_PARTITION, LOG, METADATA, NO_OP
from tests.kraft.records.lengths import with_length

from krafla.audit.change_reader import ChangeReader
from krafla.audit.partition_state import PartitionChange, PartitionState
from krafla.audit.partitions import Partitions, key_of
from kraft.errors import CorruptRecordError
from kraft.ids import uuid_text
from kraft.log.segment import iter_batches
from kraft.records.batch import parse_batch
from kraft.records.builder import encode_batch, metadata_batch
from kraft.records.compression import Compression
from kraft.records.primitives import encode_varint
from kraft.records.value import encode_value

TOPIC = uuid_text(bytes(range(16)))
TIME = 1_700_000_000_000

brokers = st.lists(st.integers(-1, 9), max_size=4).map(tuple)
change_fields = st.fixed_dictionaries(
    {
        "partitionId": st.integers(-(2**31), 2**31 - 1),
        "topicId": st.binary(min_size=16, max_size=16).map(uuid_text),
    },
    optional={
        "isr": brokers,
        "leader": st.integers(-2, 9),
        "replicas": brokers,
        "removingReplicas": brokers,
        "leaderRecoveryState": st.integers(-1, 1),
    },
)
changes = st.tuples(st.just(CHANGE_PARTITION), st.integers(0, 2), change_fields)
no_ops = st.just((NO_OP, 0, {}))


def understood(reader, batch):
    """Return (index, key, change) as the audit reads them."""
    _, found = reader.read(batch, frozenset())
    return [(index, key, reader.meaning[tail]) for index, key, tail in found]


FIELDS = (
    "leader", "isr", "replicas", "addingReplicas", "removingReplicas", "leaderRecoveryState",
    "directories", "eligibleLeaderReplicas", "lastKnownElr",
)  # fmt: skip


def decoded(batch):
    """Return the same with the reference decoder."""
    return [
        (
            record.offset - batch.base_offset,
            key_of(record.fields),
            PartitionChange(*(record.fields.get(name) for name in FIELDS)),
        )
        for record in batch.metadata_records(frozenset({CHANGE_PARTITION}))
    ]


@given(
    st.lists(st.one_of(changes, changes, no_ops), min_size=1, max_size=80),
    st.sampled_from(Compression),
)
def test_every_batch_reads_as_with_the_reference_decoder(records, compression):  # fmt: skip
    batch = parse_batch(metadata_batch(5, 1, TIME, records, compression=compression))
    assert understood(ChangeReader(), batch) == decoded(batch)


@pytest.mark.parametrize("cluster", ["crash/n3000", "combined/n1"])
def test_every_batch_of_a_real_log_reads_as_with_the_reference_decoder(real_logs, cluster):
    reader = ChangeReader()
    for batch in iter_batches(real_logs / cluster / METADATA / LOG):
        if not batch.is_control:
            assert understood(reader, batch) == decoded(batch)


def change_value(version=2, **fields):
    return encode_value(
        CHANGE_PARTITION, version, {"partitionId": 3, "topicId": TOPIC, "leader": 1, **fields}
    )


def raw_record(index, value, *, attributes=b"\x00", delta=0, overlong=False):
    """Return the bytes of a record in a form that Kafka does not write."""
    length = encode_varint(len(value))
    if overlong:
        length = bytes((length[0] | 0x80, 0)) if len(length) == 1 else length
    body = (
        attributes
        + encode_varint(delta)
        + encode_varint(index)
        + b"\x01"
        + length
        + value
        + b"\x00"
    )
    return encode_varint(len(body)) + body


def batch_of(*records):
    """Return a batch with exactly these bytes of records."""
    from kraft.records.batch import HEADER_BYTES
    from kraft.records.builder import with_crc

    shell = encode_batch(0, 1, TIME, [b"\x01\x14\x00\x00"] * len(records))
    return parse_batch(with_crc(with_length(shell[:HEADER_BYTES] + b"".join(records))))


@pytest.mark.parametrize(
    "oddity",
    [{"attributes": b"\x07"}, {"delta": 70}, {"delta": -1}, {"overlong": True}],
    ids=str,
)
def test_a_record_in_an_unusual_form_is_left_to_the_reference_decoder(oddity):
    short, long = change_value(), change_value(replicas=tuple(range(40)))
    for odd in (0, 1, 2):
        values = [short, long, short]
        records = [
            raw_record(index, value, **(oddity if index == odd else {}))
            for index, value in enumerate(values)
        ]
        batch = batch_of(*records)
        assert understood(ChangeReader(), batch) == decoded(batch)
        assert len(decoded(batch)) == 3


def test_a_value_with_an_overlong_api_key_is_left_to_the_reference_decoder():
    value = change_value()
    odd = value[:1] + b"\x85\x00" + value[2:]
    batch = batch_of(raw_record(0, value), raw_record(1, odd))
    assert understood(ChangeReader(), batch) == decoded(batch)
    assert len(decoded(batch)) == 2


def test_changes_of_several_versions_in_one_batch_are_read():
    batch = batch_of(*(raw_record(i, change_value(version)) for i, version in enumerate((2, 0, 1))))
    assert understood(ChangeReader(), batch) == decoded(batch)


@pytest.mark.parametrize(
    "tail", [b"", b"\x01", b"\x01\x01\x04\x00", b"\x02\x01\x04\x00\x00\x00\x01"]
)
def test_a_malformed_tail_is_rejected_at_its_record(tail):
    batch = batch_of(raw_record(0, change_value()), raw_record(1, change_value()[:23] + tail))
    with pytest.raises(CorruptRecordError) as caught:
        ChangeReader().read(batch, frozenset())
    assert caught.value.offset == 1


def test_a_tail_that_is_well_formed_in_one_version_is_checked_again_in_another():
    # Version 0 does not know tag 8, so its bytes may be anything; version 1 has directories there.
    tail = b"\x01\x08\x02\x77\x77"
    old = change_value(0)[:23] + tail
    new = change_value(1)[:23] + tail
    reader = ChangeReader()
    assert len(understood(reader, batch_of(raw_record(0, old)))) == 1
    with pytest.raises(CorruptRecordError):
        reader.read(batch_of(raw_record(0, new)), frozenset())


def test_a_state_is_forgotten_when_no_partition_has_it():
    reader = ChangeReader()
    partitions = Partitions(reader)
    first, second = PartitionState(1, (1,), (1,)), PartitionState(2, (1,), (1,))
    partitions.put(b"a" * 20, first)
    partitions.settle()
    partitions.put(b"a" * 20, second)
    assert partitions.settle() == {second}
    assert partitions.present() == {first, second}
    assert partitions.holder(first) is None
    assert partitions.holder(second) == b"a" * 20
    assert partitions.present() == {second}
