"""PartitionChangeRecords in the bytes of a batch, found without decoding each of them.

Nearly every record of a large log changes a partition, and its neighbours have the same form. So a
record that was read in full is taken as the form of those after it, which are compared with it
many at a time. Nothing is assumed: a record that differs is read in full again.

Kafka: BatchBuilder.writeRecord.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kraft.records.metadata_schemas import PARTITION_CHANGE
from kraft.records.shape import ordinary_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KEY_START: Final = 3
KEY_END: Final = 23
"""Bytes of partition id and topic id in a PartitionChangeRecord's value: a partition's key."""
MEMO_SIZE: Final = 65536
CHANGE_START: Final = bytes((1, PARTITION_CHANGE.api_key))
_TWO_BYTE_VARINT: Final = 1 << 14
_BLOCK: Final = 64
"""How many changes are taken apart at once."""
_FEW: Final = 32
"""So many records that are no changes may stand in a batch that is replayed quickly."""
_SAME_START: Final = (1 << 6, 1 << 13, 1 << 20, 1 << 27, 1 << 34)
"""Up to each of these indexes the ordinary starts of records have the same length."""
_FIRST_RUN, _LONGEST_RUN = 32, 4096
"""How many records are first compared at once, twice as many each time that all are alike."""

Change: TypeAlias = tuple[int, bytes, bytes]
"""A PartitionChangeRecord: its index in the batch, its partition's key, and the bytes after that.

`ChangeReader.meaning` decodes the last, the tail. This is a plain tuple because a log has hundreds
of thousands.
"""


class UnusualError(ValueError):
    """A record is not in the form that Kafka writes."""


def ordinary_changes(data: bytes, count: int) -> tuple[list[Change], dict[bytes, bytes], bytes]:
    """Return the changes in a batch, a key for each distinct tail, and the common head.

    The head of a change is its frame, api key and version. Raises UnusualError or IndexError unless
    every record is in the form that Kafka writes: its length, an ordinary start (no attributes,
    timestamp delta 0, its index, no key), the length of its value, the value, no headers. The head
    and the tail of a change decide whether it is well-formed; the partition's key between them may
    be any bytes. The values of other records are not checked here.
    """
    changes: list[Change] = []
    tails: dict[bytes, bytes] = {}
    head = CHANGE_START
    position = index = 0
    run = _FIRST_RUN
    starts = _starts(count)
    while index < count:
        begin = starts[index] if index < len(starts) else ordinary_start(index)
        end, value, start = _whole_record(data, position, begin)
        if data.startswith(head, start):
            if not changes:
                head = data[start : start + KEY_START]
            key, tail = data[start + KEY_START : start + KEY_END], data[start + KEY_END : end]
            changes.append((index, key, tail))
            tails[tail] = key
            layout = _layout(value - position - len(begin), len(begin), start - value, len(tail))
            example = data[position : end + 1]
            position, index = end + 1, index + 1
            keys, ends = _alike(data, position, layout, example, starts[index : index + run])
            changes += zip(range(index, index + len(keys)), keys, ends, strict=True)
            tails.update(zip(ends, keys, strict=True))
            position, index = position + len(keys) * layout.size, index + len(keys)
            run = min(2 * run, _LONGEST_RUN) if len(keys) == run else _FIRST_RUN
        else:
            position, index = end + 1, index + 1
    if position != len(data):
        raise UnusualError
    return changes, tails, head


class ChangeRun(NamedTuple):
    """Changes that follow each other in a batch, from the record at `begin` on: keys and tails.

    `head` is their frame, api key and version.
    """

    begin: int
    head: bytes
    keys: list[bytes]
    tails: list[bytes]


class OtherPlace(NamedTuple):
    """A record that is no change: its place in the batch, and where its bytes begin there."""

    number: int
    place: int


def change_runs(data: bytes, count: int) -> list[ChangeRun | OtherPlace] | None:
    """Return the records of a batch, nearly all changes, without the checks of their frames.

    None if some are not in the form that Kafka writes, as far as lengths and heads show, or if many
    are no changes. All else is for `ordinary_changes` to see.
    """
    found: list[ChangeRun | OtherPlace] = []
    position = index = others = 0
    run = _FIRST_RUN
    while index < count:
        try:
            end, value, start = _whole_record(data, position, ordinary_start(index))
        except (IndexError, UnusualError):
            return None
        if not data.startswith(CHANGE_START, start):
            found.append(OtherPlace(index, position))
            position, index, others = end + 1, index + 1, others + 1
            if others > _FEW:
                return None
            continue
        size = end + 1 - position
        last = next(limit for limit in _SAME_START if index < limit)
        most = min(run, count - index, last - index, (len(data) - position) // size)
        heads = (position, position + 1, value, *range(start - 1, start + KEY_START))
        like = _like_first(data, heads, size, most)
        head = data[start : start + KEY_START]
        current = found[-1] if found else None
        if not isinstance(current, ChangeRun) or current.head != head:
            current = ChangeRun(index, head, [], [])
            found.append(current)
        keys, tails = current.keys, current.tails
        one = (start + KEY_START - position, end - start - KEY_END)
        many = like // _BLOCK * _BLOCK
        for block, first, past in ((_BLOCK, 0, many), (1, many, like)):
            part = data[position + first * size : position + past * size]
            for row in _columns(*one, block).iter_unpack(part):
                keys += row[::2]
                tails += row[1::2]
        position, index = position + like * size, index + like
        run = min(2 * run, _LONGEST_RUN) if like == run else _FIRST_RUN
    return found if position == len(data) else None


def _like_first(data: bytes, heads: Iterable[int], size: int, most: int) -> int:
    """Return how many records of a size have the same bytes at these places as the first."""
    for head in heads:
        column = data[head : head + (most - 1) * size + 1 : size]
        most = len(column) - len(column.lstrip(column[:1]))
    return most


@lru_cache(maxsize=256)
def _columns(before: int, tail: int, times: int) -> struct.Struct:
    """Return the layout of changes of one size, of which only key and tail are wanted."""
    return struct.Struct(f"{before}x{KEY_END - KEY_START}s{tail}sx" * times)


def _whole_record(data: bytes, position: int, begin: bytes) -> tuple[int, int, int]:
    """Return where a record's last byte is, where its value's length is, and where its value."""
    size = data[position]
    body = position + 1
    if size >= 0x80:
        size = size & 0x7F | data[body] << 7
        body += 1
    value = body + len(begin)
    length = data[value]
    start = value + 1
    if length >= 0x80:
        length = length & 0x7F | data[start] << 7
        start += 1
    end = start + (length >> 1)
    if (
        (size | length) & 1
        or size >= _TWO_BYTE_VARINT
        or end + 1 - body != size >> 1
        or data[end]
        or not data.startswith(begin, body)
    ):
        raise UnusualError
    return end, value, start


@lru_cache(maxsize=256)
def _layout(length: int, begin: int, value_length: int, tail: int) -> struct.Struct:
    """Return the layout of a change by the sizes of its parts.

    Its parts are the length, the ordinary start, the value's length with the head, the key, the
    tail, and the number of headers.
    """
    head = value_length + KEY_START
    return struct.Struct(f"{length}s{begin}s{head}s{KEY_END - KEY_START}s{tail}s1s")


def _alike(
    data: bytes, position: int, layout: struct.Struct, example: bytes, starts: list[bytes]
) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Return the keys and the tails of the changes from a position on that are like an example.

    They have its length, its head and no headers, and the ordinary starts given.
    """
    count = min(len(starts), (len(data) - position) // layout.size)
    if not count:
        return (), ()
    length, _, head, _, _, headers = layout.unpack(example)
    rows = [*layout.iter_unpack(data[position : position + count * layout.size])]
    lengths, begins, heads, keys, tails, ends = zip(*rows, strict=True)
    if (
        lengths.count(length) == heads.count(head) == ends.count(headers) == count
        and [*begins] == starts[:count]
    ):
        return keys, tails
    like = 0
    for row, begin in zip(rows, starts, strict=False):
        if row[0] != length or row[1] != begin or row[2] != head or row[5] != headers:
            break
        like += 1
    return keys[:like], tails[:like]


@lru_cache(maxsize=4)
def _starts_up_to(count: int) -> list[bytes]:
    return [ordinary_start(index) for index in range(count)]


def _starts(count: int) -> list[bytes]:
    """Return the ordinary starts of the first records of a batch, at least of as many as it has.

    Beyond `MEMO_SIZE` there are none.
    """
    return _starts_up_to(min(1 << (count - 1).bit_length(), MEMO_SIZE))
