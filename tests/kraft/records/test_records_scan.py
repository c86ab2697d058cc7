"""The fast scan must say what reading each record by the book says, about good and bad bytes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.kraft.records.samples import ALL_TYPES, every_record

from kraft.errors import CorruptRecordError
from kraft.records.batch import HEADER_BYTES
from kraft.records.builder import encode_batch, metadata_batch
from kraft.records.metadata_records import typed_record
from kraft.records.primitives import Reader
from kraft.records.record import MetadataRecord, encode_record, read_metadata_record
from kraft.records.scan import scan_metadata_records, scan_typed_records
from kraft.records.schema import UNKNOWN_TAGGED_FIELDS
from kraft.records.shape import MAX_SHAPES, MAX_SHAPES_PER_KIND, ShapeMemo, ordinary_start, shape_of
from kraft.records.topics import ClearElrRecord
from kraft.records.value import encode_value

if TYPE_CHECKING:
    from kraft.records.typed_record import TypedRecord

MUTANTS = 6_000


def by_the_book(data: bytes, count: int) -> list[MetadataRecord]:
    reader = Reader(data)
    records = [read_metadata_record(reader, index, 5, 1000) for index in range(count)]
    if reader.position != reader.end:
        raise reader.corrupt(
            f"{reader.end - reader.position} bytes left over after the last record"
        )
    return records


def outcome(read, data: bytes, count: int):
    try:
        return repr(read(data, count))
    except CorruptRecordError as error:
        return (type(error), error.reason, error.position, error.offset, error.field)


def fast(data: bytes, count: int) -> list[MetadataRecord]:
    return scan_metadata_records(data, 0, count, 5, 1000)


def typed(data: bytes, count: int) -> list[TypedRecord]:
    return scan_typed_records(data, 0, count, 5)


def typed_by_the_book(data: bytes, count: int) -> list[TypedRecord]:
    return [typed_record(one.api_key, one.fields) for one in by_the_book(data, count)]


def records_of(seed: int) -> tuple[bytes, int]:
    records = every_record(seed)
    return metadata_batch(5, 1, 1000, records)[HEADER_BYTES:], len(records)


def test_good_records_read_the_same_whether_their_shape_is_known_or_not():
    for seed in (1, 2, 1):
        data, count = records_of(seed)
        assert fast(data, count) == by_the_book(data, count)
        assert typed(data, count) == typed_by_the_book(data, count)


def test_unwanted_records_of_known_shapes_are_checked_all_the_same():
    data, count = records_of(1)
    assert scan_metadata_records(data, 0, count, 5, 1000, wanted=frozenset()) == []
    choose = random.Random(3)
    refused = 0
    for _ in range(600):
        mutant = mutated(data, choose)
        expected = outcome(by_the_book, mutant, count)
        if isinstance(expected, tuple):
            refused += 1
            with pytest.raises(expected[0]) as caught:
                scan_metadata_records(mutant, 0, count, 5, 1000, wanted=frozenset())
            assert (caught.value.reason, caught.value.position) == expected[1:3]
        else:
            assert scan_metadata_records(mutant, 0, count, 5, 1000, wanted=frozenset()) == []
    assert refused > 60


def test_mutated_records_have_the_outcome_of_reading_by_the_book():
    choose = random.Random(11)
    batches = [encode_batch(5, 1, 1000, [value] * 3)[HEADER_BYTES:] for value in values()]
    for data in batches:
        assert len(fast(data, 3)) == len(typed(data, 3)) == 3
    refused = 0
    for _ in range(MUTANTS):
        data = mutated(choose.choice(batches), choose)
        expected = outcome(by_the_book, data, 3)
        assert outcome(fast, data, 3) == expected
        assert outcome(typed, data, 3) == outcome(typed_by_the_book, data, 3)
        refused += isinstance(expected, tuple)
    assert MUTANTS // 10 < refused < MUTANTS


def values() -> list[bytes]:
    return [encode_value(*record) for record in every_record(8)]


def mutated(data: bytes, choose: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.choice((1, 1, 2))):
        at = choose.randrange(len(changed))
        changed[at] = choose.choice((0, 1, 2, 0x7F, 0x80, 0xFF, changed[at] ^ 4))
    return bytes(changed[: choose.choice((len(changed), len(changed), at + 1))])


@pytest.mark.parametrize("place", range(len(ALL_TYPES)))
def test_whatever_matches_a_shape_is_well_formed(place):
    choose = random.Random(place)
    value = values()[place]
    record = encode_record(0, value)
    body = record[1 if len(record) < 0x42 else 2 :]
    start = ordinary_start(0)
    assert body.startswith(start)
    shape = shape_of(body, len(start))
    width = len(body)
    content = ~shape.mask & ((1 << 8 * (width - len(start))) - 1)
    for _ in range(100):
        number = shape.expected | (choose.getrandbits(8 * width) & content)
        other = start + number.to_bytes(width, "big")[len(start) :]
        (read,) = by_the_book(record[: len(record) - width] + other, 1)
        assert (read.api_key, read.version) == shape.type
        assert read.value == other[shape.value_start : -1]
        assert repr(shape.read(other, 0)) == repr(typed_record(read.api_key, read.fields))


def test_a_record_with_a_tag_that_no_schema_names_is_read_by_the_book_each_time():
    fields = {"topicName": "t", UNKNOWN_TAGGED_FIELDS: ((5, b"kept"),)}
    data = encode_batch(5, 1, 1000, [encode_value(28, 0, fields)] * 3)[HEADER_BYTES:]

    assert fast(data, 3) == fast(data, 3) == by_the_book(data, 3)
    assert typed(data, 3) == typed(data, 3) == [ClearElrRecord("t")] * 3


def test_the_memo_of_shapes_is_bounded():
    memo = ShapeMemo()
    for size in range(3 * MAX_SHAPES_PER_KIND):
        names = ["x" * size, "y" * (100 - size)]
        fields = {"resourceName": names[0], "name": names[1], "value": ""}
        memo.learn(encode_record(0, encode_value(4, 0, fields))[2:], 0)
    assert [len(shapes) for shapes in memo.by_kind.values()] == [MAX_SHAPES_PER_KIND]
    memo.learn(encode_record(0, encode_value(28, 0, {"topicName": "x" * 5000}))[2:], 0)
    assert len(memo.by_kind) == 1
    for size in range(100, 500):
        for other in range(4):
            fields = {"resourceName": "x" * other, "name": "y" * (size - other)}
            memo.learn(encode_record(0, encode_value(4, 0, fields))[2:], 0)
    assert sum(map(len, memo.by_kind.values())) == MAX_SHAPES
