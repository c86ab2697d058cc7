"""Batches that have come before their predecessor: a directory keeps them until that has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.pipeline.watch.cells import Chunk, chunk_batches

if TYPE_CHECKING:
    from krafla.pipeline.watch.cells import Cells, DirectoryState
    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = ["WAITING_BYTES", "Waiting", "WaitingBatch"]

WAITING_BYTES: Final = 64 * 1024 * 1024
"""How many bytes of batches may wait in one directory."""


class WaitingBatch(NamedTuple):
    """A batch that waits, and the path of its file.

    `is_again` says that it came again in this trigger, `is_kept` that it came in one before.
    """

    path: str
    batch: RecordBatch
    is_again: bool = False
    is_kept: bool = False

    @property
    def offset(self) -> int:
        """The offset with which it begins."""
        return self.batch.base_offset


class Waiting:
    """The batches of one directory that wait, by offset, the latest epoch first.

    Their order does not depend on that in which they came. `bytes` is their size.
    """

    def __init__(self, state: DirectoryState, cells: Cells, limits: Limits) -> None:
        self._state, self._cells = state, cells
        self._batches = [
            WaitingBatch(chunk.path, batch, is_kept=True)
            for chunk in state.waiting
            for batch in chunk_batches(chunk, cells, limits)
        ]
        self._kept = len(self._batches)
        self._in_order = False
        self.bytes = sum(one.batch.size for one in self._batches)

    def __len__(self) -> int:
        return len(self._batches)

    @property
    def first(self) -> int:
        """The lowest offset that waits."""
        return self._ordered()[-1].offset

    def add(self, path: str, batch: RecordBatch, *, is_again: bool) -> None:
        """Let a batch wait."""
        self._batches.append(WaitingBatch(path, batch, is_again))
        self._in_order = False
        self.bytes += batch.size

    def forget(self, path: str | None = None) -> int:
        """Forget the batches of a file, or all; return how many."""
        kept = [] if path is None else [one for one in self._batches if one.path != path]
        gone = len(self._batches) - len(kept)
        if gone:
            self._batches = kept
            self.bytes = sum(one.batch.size for one in kept)
        return gone

    def stretch(self) -> tuple[int, int]:
        """Return the first offset that waits, and the end of what follows it without a gap."""
        first = end = self.first
        for one in reversed(self._ordered()):
            if one.offset > end:
                break
            end = max(end, one.batch.next_offset)
        return first, end

    def ending_at(self, offset: int) -> RecordBatch | None:
        """Return a waiting batch that ends at an offset, of the latest epoch."""
        ending = (one.batch for one in self._batches if one.batch.next_offset == offset)
        return max(ending, key=lambda batch: batch.leader_epoch, default=None)

    def take(self, reached: int) -> WaitingBatch | None:
        """Return the first batch if it begins at an offset or before: it waits no longer."""
        if not self._batches or self.first > reached:
            return None
        first = self._ordered().pop()
        self.bytes -= first.batch.size
        return first

    def put(self) -> None:
        """Keep what waits for the next trigger, in chunks of batches that follow one another."""
        if self._kept == len(self._batches) and all(one.is_kept for one in self._batches):
            return
        for old in self._state.waiting:
            self._cells.drop(old.name)
        self._state.waiting = []
        contents: dict[str, bytearray] = {}
        for one in sorted(self._batches, key=_place):
            batch = one.batch
            chunk = self._state.waiting[-1] if self._state.waiting else None
            end = None if chunk is None else (chunk.path, chunk.position + chunk.bytes, chunk.end)
            if chunk is None or end != (one.path, batch.position, one.offset):
                name = self._state.cell("waiting")
                chunk = Chunk(name, one.path, batch.position, one.offset, one.offset, 0)
                self._state.waiting.append(chunk)
            chunk.end, chunk.bytes = batch.next_offset, chunk.bytes + batch.size
            contents.setdefault(chunk.name, bytearray()).extend(batch.raw)
        for name, content in contents.items():
            self._cells.put(name, bytes(content))

    def _ordered(self) -> list[WaitingBatch]:
        """Return the batches, the first at the end."""
        if not self._in_order:
            self._batches.sort(key=_turn, reverse=True)
            self._in_order = True
        return self._batches


def _turn(one: WaitingBatch) -> tuple[int, int, str, int]:
    return one.offset, -one.batch.leader_epoch, *_place(one)


def _place(one: WaitingBatch) -> tuple[str, int]:
    return one.path, one.batch.position
