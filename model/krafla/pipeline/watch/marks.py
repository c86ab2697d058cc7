"""What every batch of a cluster looked like: of one epoch, no two may hold one offset.

Raft's log matching holds for committed batches and for others, and forever: a leader writes an
offset once in its epoch. So batches of an epoch are equal, or have no offset in common.

Spec: KRaftProperties!LogMatchingInv.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.watch.cells import Cells
    from kraft.records.batch import RecordBatch

__all__ = ["Clash", "Marks", "Sighting"]

_BLOCK_BITS: Final = 12
_BLOCKS: Final = 1024
"""How many blocks of 4,096 offsets are kept behind the newest: four million offsets."""
_SPAN: Final = 4
"""In how many blocks a batch is marked: no controller writes more than 10,000 records in one.

Kafka: QuorumController.MAX_RECORDS_PER_BATCH.
"""
_WIDTH: Final = Struct(">H")


class Clash(NamedTuple):
    """A batch that cannot stand in one log with another: its offsets, and a directory with it."""

    first: int
    end: int
    directory: int


class Sighting(NamedTuple):
    """What the marks say of a batch: whether no directory had it, or its own had it before.

    `own` is a batch of its directory that it clashes with, `other` one of another directory.
    A batch that is forgotten lies too far behind to be compared.
    """

    is_new: bool = False
    is_again: bool = False
    is_forgotten: bool = False
    own: Clash | None = None
    other: Clash | None = None


@dataclass(slots=True)
class _Mark:
    """A batch that has come; bit N of `holders` says that directory N had it."""

    first: int
    epoch: int
    crc: int
    end: int
    holders: int = 0

    @property
    def key(self) -> tuple[int, int]:
        return self.first, self.epoch

    def clash(self, holders: int) -> Clash:
        """Return the batch as that of the first of some directories."""
        return Clash(self.first, self.end, (holders & -holders).bit_length() - 1)


class Marks:
    """The CRC and the end of each batch by offset and epoch, and the directories that had it."""

    def __init__(self, cells: Cells, newest: int) -> None:
        self._cells = cells
        self._blocks: dict[int, _Block] = {}
        self._changed: set[int] = set()
        self._first = newest
        self.newest = newest

    def note(self, batch: RecordBatch, directory: int) -> Sighting:
        """Note a batch of a directory; return what was known of it, and what it clashes with.

        Of two batches that clash, the later one tells it, in whatever order they come. It tells a
        clash with other directories once, and again of each directory that has other bytes than
        came first.
        """
        number, holder = batch.base_offset >> _BLOCK_BITS, 1 << directory
        if number <= self.newest - _BLOCKS:
            return Sighting(is_forgotten=True)
        self.newest = max(self.newest, number)
        mark = _Mark(batch.base_offset, batch.leader_epoch, batch.crc, batch.next_offset)
        mark.holders = self._block(number).holders(mark)
        if mark.holders & holder:
            return Sighting(is_again=True)
        last = min(batch.last_offset >> _BLOCK_BITS, number + _SPAN - 1)
        blocks = {each: self._block(each) for each in range(number, last + 1)}
        first, own, other = blocks[number].first(mark), None, None
        for one in (one for block in blocks.values() for one in block.clashing(mark)):
            others = one.holders & ~holder
            if own is None and one.holders & holder:
                own = one.clash(holder)
            if other is None and others and (one is first or not _is_told(mark, one)):
                other = one.clash(others)
        for each, block in blocks.items():
            block.hold(mark, holder)
            self._changed.add(each)
        return Sighting(not mark.holders, own=own, other=other)

    def put(self) -> None:
        """Keep the marks for the next trigger, and forget those far behind."""
        for number in sorted(self._changed):
            self._cells.put(_name(number), self._blocks[number].packed())
        for number in range(max(0, self._first - _BLOCKS + 1), self.newest - _BLOCKS + 1):
            self._cells.drop(_name(number))

    def _block(self, number: int) -> _Block:
        if number not in self._blocks:
            self._blocks[number] = _Block(self._cells.get(_name(number)))
        return self._blocks[number]


class _Block:
    """The marks of the batches with offsets in one block, those that came first before others."""

    def __init__(self, content: bytes | None) -> None:
        self._marks: dict[tuple[int, int], list[_Mark]] = {}
        self._starts: dict[int, list[int]] = {}
        for mark in () if content is None else _unpacked(content):
            self._add(mark)

    def holders(self, mark: _Mark) -> int:
        """Return the directories that had the batch of a mark."""
        found = self._same(mark)
        return 0 if found is None else found.holders

    def first(self, mark: _Mark) -> _Mark | None:
        """Return what came first at the offset and epoch of a mark."""
        same = self._marks.get(mark.key)
        return None if same is None else same[0]

    def hold(self, mark: _Mark, holder: int) -> None:
        """Note that another directory has the batch of a mark."""
        found = self._same(mark)
        if found is None:
            self._add(_Mark(mark.first, mark.epoch, mark.crc, mark.end, holder))
        else:
            found.holders |= holder

    def clashing(self, mark: _Mark) -> Iterator[_Mark]:
        """Yield batches that cannot stand in one log with that of a mark.

        Of those that begin elsewhere only the nearest on each side: without clashes before, there
        are no others.
        """
        for one in self._marks.get(mark.key, ()):
            if (one.crc, one.end) != (mark.crc, mark.end):
                yield one
        starts = self._starts.get(mark.epoch, [])
        at, after = bisect_left(starts, mark.first), bisect_right(starts, mark.first)
        for start in (*starts[max(0, at - 1) : at], *starts[after : after + 1]):
            for one in self._marks[start, mark.epoch]:
                if one.first < mark.end and mark.first < one.end:
                    yield one

    def packed(self) -> bytes:
        """Return the marks as bytes."""
        marks = [one for same in self._marks.values() for one in same]
        width = max((one.holders.bit_length() + 7) // 8 for one in marks)
        form = _form(width)
        return _WIDTH.pack(width) + b"".join(
            form.pack(one.first, one.epoch, one.crc, one.end, one.holders.to_bytes(width, "big"))
            for one in marks
        )

    def _same(self, mark: _Mark) -> _Mark | None:
        return next(
            (
                one
                for one in self._marks.get(mark.key, ())
                if (one.crc, one.end) == (mark.crc, mark.end)
            ),
            None,
        )

    def _add(self, mark: _Mark) -> None:
        same = self._marks.setdefault(mark.key, [])
        if not same:
            insort(self._starts.setdefault(mark.epoch, []), mark.first)
        same.append(mark)


def _is_told(left: _Mark, right: _Mark) -> bool:
    """Whether two directories had one each of two batches."""
    return bool(left.holders and right.holders) and (left.holders | right.holders).bit_count() > 1


def _unpacked(content: bytes) -> Iterator[_Mark]:
    (width,) = _WIDTH.unpack_from(content)
    for first, epoch, crc, end, holders in _form(width).iter_unpack(content[_WIDTH.size :]):
        yield _Mark(first, epoch, crc, end, int.from_bytes(holders, "big"))


def _form(width: int) -> Struct:
    """Return the form of a mark: offset, epoch, CRC, end, and the bytes of its holders."""
    return Struct(f">qiIq{width}s")


def _name(number: int) -> str:
    return f"marks/{number}"
