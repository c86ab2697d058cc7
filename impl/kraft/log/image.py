"""The metadata log of a replica as a value, which handlers may read.

Old values stay valid. An append shares the list of batches with the value before it, which reads
only up to its own end. A truncation shares the list, too, and the next append copies it. What a
snapshot covers leaves the list when the log is cleaned.

Kafka: KafkaMetadataLog, LeaderEpochFileCache.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from kraft.ids import OffsetAndEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraft.log.batches import LogBatch


class EpochAt(NamedTuple):
    """An epoch and the offset of its first record in this log."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot: all before `snapshot_id.end_offset`, as the bytes of its file."""

    snapshot_id: OffsetAndEpoch
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class LogImage:
    """Batches from `start_offset` up to `end_offset`, and the snapshots, oldest first.

    `start_epoch` is the epoch of the record before the start (0 at offset 0). `epochs` are those of
    the records in the log, ascending.

    Spec: KRaftState!log, log_start, snapshots.
    """

    start_offset: int = 0
    start_epoch: int = 0
    end_offset: int = 0
    epochs: tuple[EpochAt, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    _cells: list[LogBatch] = field(default_factory=list, repr=False)
    _last: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LogImage):
            return NotImplemented
        return (
            self.start_offset == other.start_offset
            and self.start_epoch == other.start_epoch
            and self.end_offset == other.end_offset
            and self.epochs == other.epochs
            and self.snapshots == other.snapshots
            and self._cells[: self._last] == other._cells[: other._last]
        )

    def __hash__(self) -> int:
        return hash((self.start_offset, self.end_offset, self.epochs))

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, or of the record before the start of an empty log."""
        return self.epochs[-1].epoch if self.epochs else self.start_epoch

    @property
    def end(self) -> OffsetAndEpoch:
        """The end of the log and the epoch before it. Spec: KRaftState!LogEnd, LastEpoch."""
        return OffsetAndEpoch(self.end_offset, self.last_epoch)

    @property
    def earliest_snapshot(self) -> Snapshot | None:
        """The oldest snapshot, None if there is none. Spec: KRaftState!EarliestSnapshot."""
        return self.snapshots[0] if self.snapshots else None

    @property
    def latest_snapshot(self) -> Snapshot | None:
        """The newest snapshot, None if there is none. Spec: KRaftState!LatestSnapshot."""
        return self.snapshots[-1] if self.snapshots else None

    def snapshot(self, snapshot_id: OffsetAndEpoch) -> Snapshot | None:
        """Return the snapshot with this id, if it is there."""
        for snapshot in self.snapshots:
            if snapshot.snapshot_id == snapshot_id:
                return snapshot
        return None

    def batches(self) -> Iterator[LogBatch]:
        """Yield all batches, in order."""
        for index in range(self._last):
            yield self._cells[index]

    def read(self, offset: int, maximum_bytes: int, end: int | None = None) -> tuple[LogBatch, ...]:
        """Return whole batches from the one with `offset` on, up to `end` (None: the log's end).

        The first batch is always returned, later ones as long as they fit into `maximum_bytes`.
        """
        limit = self.end_offset if end is None else min(end, self.end_offset)
        index = self._index(offset)
        found: list[LogBatch] = []
        size = 0
        while index < self._last and self._cells[index].base_offset < limit:
            batch = self._cells[index]
            size += len(batch.raw)
            if found and size > maximum_bytes:
                break
            found.append(batch)
            index += 1
        return tuple(found)

    def epoch_before(self, offset: int) -> int:
        """Return the epoch of the record before an offset from the start on.

        Spec: KRaftState!EpochBefore.
        """
        index = bisect_right(self.epochs, offset - 1, key=lambda entry: entry.start_offset)
        return self.epochs[index - 1].epoch if index else self.start_epoch

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Return the largest epoch in the log up to this one, and its end offset.

        Without one, epoch 0 and the start of the log. Spec: KRaftState!EndOffsetForEpoch.
        Kafka: KafkaMetadataLog.endOffsetForEpoch.
        """
        index = bisect_right(self.epochs, epoch, key=lambda entry: entry.epoch)
        end = self.epochs[index].start_offset if index < len(self.epochs) else self.end_offset
        if index:
            return OffsetAndEpoch(end, self.epochs[index - 1].epoch)
        if self.start_offset > 0 and self.start_epoch <= epoch:
            return OffsetAndEpoch(self.start_offset, self.start_epoch)
        return OffsetAndEpoch(self.start_offset, 0)

    def append(self, batches: tuple[LogBatch, ...]) -> LogImage:
        """Return the log with these batches at its end.

        Raises ValueError if they leave a gap, overlap, or go back to an older epoch.
        """
        end, epochs = self.end_offset, self.epochs
        for batch in batches:
            last = epochs[-1].epoch if epochs else self.start_epoch
            if batch.base_offset != end:
                raise ValueError(f"a batch at offset {batch.base_offset}, the log ends at {end}")
            if batch.epoch < last:
                raise ValueError(f"a batch of epoch {batch.epoch} after epoch {last}")
            if batch.epoch > last or not epochs:
                epochs = (*epochs, EpochAt(batch.epoch, end))
            end = batch.end_offset
        cells, last_index = self._cells, self._last
        if len(cells) != last_index:
            cells = cells[:last_index]
        cells.extend(batches)
        return LogImage(
            self.start_offset,
            self.start_epoch,
            end,
            epochs,
            self.snapshots,
            cells,
            last_index + len(batches),
        )

    def truncate(self, end_offset: int) -> LogImage:
        """Return the log cut at an offset that a batch begins at, or that is the end.

        A batch that holds the offset goes whole: batches are atomic. Raises ValueError if the
        offset is not in the log.
        """
        if not self.start_offset <= end_offset <= self.end_offset:
            raise ValueError(
                f"offset {end_offset} is not in {self.start_offset} .. {self.end_offset}"
            )
        if end_offset == self.end_offset:
            return self
        index = self._index(end_offset)
        cut = self._cells[index].base_offset
        return replace(
            self,
            end_offset=cut,
            epochs=tuple(entry for entry in self.epochs if entry.start_offset < cut),
            _last=index,
        )

    def with_snapshot(self, snapshot: Snapshot) -> LogImage:
        """Return the log with one more snapshot."""
        snapshots = sorted((*self.snapshots, snapshot), key=lambda each: each.snapshot_id)
        return replace(self, snapshots=tuple(snapshots))

    def clean_to(self, snapshot_id: OffsetAndEpoch) -> LogImage:
        """Return the log that begins at the end of this snapshot; older snapshots are gone.

        Raises ValueError if that is not in the log. Spec: KRaft!CleanLog.
        Kafka: KafkaMetadataLog.deleteBeforeSnapshot.
        """
        start = snapshot_id.end_offset
        if not self.start_offset <= start <= self.end_offset:
            raise ValueError(f"offset {start} is not in {self.start_offset} .. {self.end_offset}")
        epochs = [entry for entry in self.epochs if entry.start_offset > start]
        if self.end_offset > start:
            at_start = self.epoch_before(start + 1)
            if not epochs or epochs[0].epoch != at_start:
                epochs.insert(0, EpochAt(at_start, start))
        # A list of its own: what is gone from the log leaves the memory with the older values.
        cells = self._cells[self._index(start) : self._last]
        return replace(
            self,
            start_offset=start,
            start_epoch=snapshot_id.epoch,
            epochs=tuple(epochs),
            snapshots=tuple(s for s in self.snapshots if s.snapshot_id >= snapshot_id),
            _cells=cells,
            _last=len(cells),
        )

    def begin_at(self, snapshot: Snapshot) -> LogImage:
        """Return the empty log that begins at the end of a snapshot.

        Kafka: KafkaMetadataLog.truncateToLatestSnapshot.
        """
        offset, epoch = snapshot.snapshot_id
        return LogImage(offset, epoch, offset, (), (snapshot,))

    def _index(self, offset: int) -> int:
        """Return the index of the cell that holds an offset, or of the end."""
        if offset >= self.end_offset:
            return self._last
        last = self._last - 1
        if self._cells[last].base_offset <= offset:  # Nearly every read is of the last batch.
            return last
        found = bisect_right(
            self._cells, offset, 0, self._last, key=lambda batch: batch.base_offset
        )
        return max(found - 1, 0)
