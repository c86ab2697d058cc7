"""What every batch of a cluster looked like: two of one offset and one epoch must be equal.

Raft's log matching holds for committed batches and for others, and forever: a leader writes an
offset once in its epoch.

Spec: KRaftProperties!LogMatchingInv.
"""

from __future__ import annotations

from enum import Enum
from struct import Struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from krafla.pipeline.watch.cells import Cells
    from kraft.records.batch import RecordBatch

__all__ = ["Marks", "Sighting"]

_MARK: Final = Struct(">qiIqi")
_BLOCK_BITS: Final = 12
_BLOCKS: Final = 1024
"""How many blocks of 4,096 offsets are kept behind the newest: four million offsets."""


class Sighting(Enum):
    """Whether a batch of this offset and epoch has been seen before."""

    NEW = "new"
    SAME = "same"
    OTHER = "other"
    FORGOTTEN = "forgotten"


class Marks:
    """The CRC, the end and the first directory of each batch, by its offset and epoch."""

    def __init__(self, cells: Cells, newest: int) -> None:
        self._cells = cells
        self._blocks: dict[int, dict[tuple[int, int], tuple[int, int, int]]] = {}
        self._changed: set[int] = set()
        self._first = newest
        self.newest = newest

    def note(self, batch: RecordBatch, directory: int) -> tuple[Sighting, int]:
        """Note a batch; return whether it was seen before, and the directory where first."""
        number = batch.base_offset >> _BLOCK_BITS
        if number <= self.newest - _BLOCKS:
            return Sighting.FORGOTTEN, directory
        self.newest = max(self.newest, number)
        block = self._block(number)
        key, end = (batch.base_offset, batch.leader_epoch), batch.next_offset
        known = block.get(key)
        if known is None:
            block[key] = (batch.crc, end, directory)
            self._changed.add(number)
            return Sighting.NEW, directory
        is_same = known[:2] == (batch.crc, end)
        return (Sighting.SAME if is_same else Sighting.OTHER), known[2]

    def put(self) -> None:
        """Keep the marks for the next trigger, and forget those far behind."""
        for number in sorted(self._changed):
            marks = (_MARK.pack(*key, *value) for key, value in self._blocks[number].items())
            self._cells.put(_name(number), b"".join(marks))
        for number in range(max(0, self._first - _BLOCKS + 1), self.newest - _BLOCKS + 1):
            self._cells.drop(_name(number))

    def _block(self, number: int) -> dict[tuple[int, int], tuple[int, int, int]]:
        if number not in self._blocks:
            found = _MARK.iter_unpack(self._cells.get(_name(number)) or b"")
            self._blocks[number] = {
                (offset, epoch): (crc, end, directory)
                for offset, epoch, crc, end, directory in found
            }
        return self._blocks[number]


def _name(number: int) -> str:
    return f"marks/{number}"
