"""A replica's log, snapshots and quorum state on its disk, in Kafka's files.

A method returns when its work is done, and says what it flushes. The operations are ordered so that
`open` can start from the files after a crash between any two, and nothing that was flushed is lost:
docs/internals/log-storage.md has the table.

Kafka: KafkaMetadataLog, UnifiedLog, FileQuorumStateStore, FileRawSnapshotWriter.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from kraft.ids import METADATA_DIRECTORY, OffsetAndEpoch
from kraft.log.examination import SegmentIndex
from kraft.log.names import (
    PART_SUFFIX,
    PARTITION_METADATA,
    companions,
    deleted_name,
    in_log,
    part_name,
    snapshot_ids,
    snapshot_name,
)
from kraft.log.recovery import epochs_from, examine
from kraft.log.text_file_writer import (
    leader_epochs_text,
    partition_metadata_text,
    quorum_state_text,
    replace_file,
)
from kraft.log.text_files import LEADER_EPOCH_CHECKPOINT, META_PROPERTIES, QUORUM_STATE, EpochStart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.ids import DirectoryId, NodeId, ReplicaKey
    from kraft.log.batches import LogBatch
    from kraft.log.recovery import Recovered
    from kraft.log.storage_files import Files

SEGMENT_BYTES: Final = 1024 * 1024 * 1024
"""Kafka's default of `metadata.log.segment.bytes`."""
_RELATIVE_OFFSETS: Final = 2**31
"""How far a segment may reach: Kafka's index has 31 bits for an offset in it."""


class RaftStorage:
    """The files of one replica; `open` comes first.

    A new segment begins at `segment_bytes`. `voters` are the static voters, whose ids stand in a
    quorum-state file of version 0.
    """

    def __init__(
        self, files: Files, *, segment_bytes: int = SEGMENT_BYTES, voters: Sequence[NodeId] = ()
    ) -> None:
        self._files = files
        self._segment_bytes = segment_bytes
        self._voters = tuple(voters)
        self._segments: list[SegmentIndex] = []
        self._epochs: tuple[EpochStart, ...] = ()
        self._start = OffsetAndEpoch(0, 0)
        self._must_flush = False
        self._has_new_name = False

    @property
    def end_offset(self) -> int:
        """The offset after the last record that was appended."""
        return self._segments[-1].end_offset

    def open(
        self,
        cluster_id: str,
        node_id: NodeId | None,
        directory_id: DirectoryId | None = None,
    ) -> Recovered:
        """Repair what a crash may leave, and return the state to start from.

        A `node_id` or `directory_id` of None is not compared with the directory's. Raises
        UnusableLogError, with the place and the remedy, for files that no crash can leave; then
        nothing is changed. Kafka: KafkaMetadataLog.apply.
        """
        files = self._files
        recovery = examine(files, cluster_id, node_id, directory_id)
        temporary = META_PROPERTIES + ".tmp"
        if temporary in files.names(""):
            files.remove(temporary)
        self._segments = list(recovery.segments)
        log = recovery.recovered.log
        self._start = OffsetAndEpoch(log.start_offset, log.start_epoch)
        if self._segments:
            self._segments[0].forget_before(log.start_offset)
        if recovery.is_torn:
            last = self._segments[-1]
            files.truncate(last.name, last.size)
            files.flush(last.name)
        for name in recovery.doomed:
            files.remove(name)
        if recovery.doomed:
            files.flush_directory(METADATA_DIRECTORY)
        self._epochs = recovery.epochs
        if recovery.begin_at is not None:
            self.truncate_to_snapshot(recovery.begin_at)
        elif recovery.epochs != recovery.epochs_on_disk:
            self._write_epochs(recovery.epochs)
        self._complete()
        # A killed process left records unflushed, and the next fetch would acknowledge them.
        self._must_flush = self._has_new_name = True
        self.flush()
        return recovery.recovered

    def write_quorum_state(
        self, epoch: int, leader_id: NodeId | None, voted: ReplicaKey | None, version: int
    ) -> None:
        """Write the quorum-state file, and flush it and its name.

        `version` is that of the data: 0 with kraft.version 0, else 1. Raises ValueError for
        another. Kafka: FileQuorumStateStore.writeElectionState.
        """
        text = quorum_state_text(epoch, leader_id, voted, version, self._voters)
        replace_file(self._files, in_log(QUORUM_STATE), text)

    def append(self, batches: Sequence[LogBatch]) -> None:
        """Write batches at the end of the log; not flushed, but for new epochs and full segments.

        A new segment begins if the batches would make this one larger than `segment_bytes`; where
        they are larger than that by themselves, between them. Raises ValueError if they do not
        follow the log. Kafka: UnifiedLog.appendAsLeader, UnifiedLog.appendAsFollower.
        """
        end = self.end_offset
        for batch in batches:
            if batch.base_offset != end:
                raise ValueError(f"a batch at offset {batch.base_offset}, the log ends at {end}")
            end = batch.end_offset
        self._assign_epochs(batches)
        if sum(len(batch.raw) for batch in batches) <= self._segment_bytes:
            self._append_together(batches)
        else:
            for batch in batches:
                self._append_together((batch,))

    def flush(self) -> None:
        """Return when everything that was appended survives a crash. Kafka: UnifiedLog.flush."""
        if self._must_flush:
            self._files.flush(self._segments[-1].name)
            self._must_flush = False
        if self._has_new_name:
            self._files.flush_directory(METADATA_DIRECTORY)
            self._has_new_name = False

    def truncate(self, end_offset: int) -> None:
        """Cut the log before the batch with this offset, and flush that.

        Later segments go first, from the last one back: a crash in between leaves a log that ends
        where one of them ended. Raises ValueError if the offset is not in the log.
        Kafka: UnifiedLog.truncateTo.
        """
        self._check_offset(end_offset)
        if end_offset == self.end_offset:
            return
        while len(self._segments) > 1 and self._segments[-1].base_offset > end_offset:
            self._remove_segment(self._segments.pop())
            self._must_flush = True
        last = self._segments[-1]
        index = bisect_right(last.offsets, end_offset) - 1
        if end_offset < last.end_offset:
            last.end_offset, last.size = last.offsets[index], last.positions[index]
            del last.offsets[index:], last.positions[index:]
            self._files.truncate(last.name, last.size)
            self._must_flush = True
        self.flush()
        kept = tuple(entry for entry in self._epochs if entry.start_offset < last.end_offset)
        if last.end_offset == self._start.end_offset > 0:
            kept = (EpochStart(self._start.epoch, last.end_offset),)
        if kept != self._epochs:
            self._write_epochs(kept)

    def write_snapshot(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """Write a whole snapshot, and flush it and its name.

        One that is there already stays as it is. Kafka: KafkaMetadataLog.createNewSnapshot.
        """
        names = self._files.names(METADATA_DIRECTORY)
        if snapshot_name(snapshot_id) in names:
            return
        # Another one may be on its way from the leader: its pieces stay.
        if part_name(snapshot_id) in names:
            self._files.remove(part_name(snapshot_id))
        self._files.append(part_name(snapshot_id), data)
        self.freeze_snapshot(snapshot_id)

    def write_snapshot_part(self, snapshot_id: OffsetAndEpoch, position: int, data: bytes) -> None:
        """Write a piece of a snapshot; position 0 begins it and abandons any other.

        Raises ValueError if the piece does not follow the last one.
        Kafka: FileRawSnapshotWriter.append.
        """
        name = part_name(snapshot_id)
        parts = [n for n in self._files.names(METADATA_DIRECTORY) if n.endswith(PART_SUFFIX)]
        if position == 0:
            for part in parts:
                self._files.remove(part)
        else:
            size = len(self._files.read(name)) if name in parts else 0
            if size != position:
                raise ValueError(f"a piece at byte {position} of a snapshot with {size} bytes")
        self._files.append(name, data)

    def freeze_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        """Make the written pieces the snapshot, and flush it and its name.

        Raises ValueError if nothing was written. Kafka: FileRawSnapshotWriter.freeze.
        """
        name = part_name(snapshot_id)
        if name not in self._files.names(METADATA_DIRECTORY):
            raise ValueError(f"nothing is written of the snapshot {snapshot_id}")
        self._files.flush(name)
        self._files.rename(name, snapshot_name(snapshot_id))
        self._files.flush_directory(METADATA_DIRECTORY)

    def truncate_to_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        """Make the log an empty one that begins at the end of a snapshot; flushed.

        Older snapshots go. After a crash in between, `open` does the rest.
        Kafka: KafkaMetadataLog.truncateToLatestSnapshot, LocalLog.truncateFullyAndStartAt.
        """
        self._write_epochs(())
        while self._segments:
            self._remove_segment(self._segments.pop())
        self._start = snapshot_id
        self._must_flush = False
        self._complete()
        self._remove_snapshots_before(snapshot_id)

    def clean(self, snapshot_id: OffsetAndEpoch) -> None:
        """Make the log begin at the end of a snapshot; segments and snapshots before it go.

        The first of the epochs says where the log begins, as soon as it is written. Raises
        ValueError if the offset is not in the log. Kafka: KafkaMetadataLog.deleteBeforeSnapshot.
        """
        start = snapshot_id.end_offset
        self._check_offset(start)
        self._start = snapshot_id
        self._write_epochs(epochs_from(self._epochs, start))
        while len(self._segments) > 1 and self._segments[1].base_offset <= start:
            self._remove_segment(self._segments.pop(0))
        self._segments[0].forget_before(start)
        self._remove_snapshots_before(snapshot_id)

    def _check_offset(self, offset: int) -> None:
        start = self._start.end_offset
        if not start <= offset <= self.end_offset:
            raise ValueError(f"offset {offset} is not in {start} .. {self.end_offset}")

    def _append_together(self, batches: Sequence[LogBatch]) -> None:
        if not batches:
            return
        last = self._segments[-1]
        size = sum(len(batch.raw) for batch in batches)
        reach = batches[-1].end_offset - last.base_offset
        if last.size > 0 and (last.size + size > self._segment_bytes or reach > _RELATIVE_OFFSETS):
            last = self._roll()
        self._files.append(last.name, b"".join(batch.raw for batch in batches))
        self._must_flush = True
        for batch in batches:
            last.add(batch, len(batch.raw))

    def _roll(self) -> SegmentIndex:
        """Begin a segment, once the one before is flushed: only the last may be torn.

        Kafka flushes it soon afterwards, and cuts the log at a torn one. Kafka: UnifiedLog.roll.
        """
        self.flush()
        segment = SegmentIndex(self.end_offset, self.end_offset)
        self._segments.append(segment)
        self._has_new_name = True
        return segment

    def _assign_epochs(self, batches: Sequence[LogBatch]) -> None:
        """Write new epochs before their records: the file never lacks one that is in the log.

        Kafka: LeaderEpochFileCache.assign.
        """
        epochs = self._epochs
        for batch in batches:
            if not epochs or epochs[-1].epoch != batch.epoch:
                kept = (e for e in epochs if e.start_offset < batch.base_offset)
                epochs = (*kept, EpochStart(batch.epoch, batch.base_offset))
        if epochs != self._epochs:
            self._write_epochs(epochs)

    def _write_epochs(self, epochs: tuple[EpochStart, ...]) -> None:
        self._epochs = epochs
        replace_file(self._files, in_log(LEADER_EPOCH_CHECKPOINT), leader_epochs_text(epochs))

    def _remove_segment(self, segment: SegmentIndex) -> None:
        """Remove a segment, and flush that: the next removal must not overtake this one."""
        names = self._files.names(METADATA_DIRECTORY)
        for name in (segment.name, *companions(segment.base_offset)):
            if name in names:
                self._files.rename(name, deleted_name(name))
        self._files.flush_directory(METADATA_DIRECTORY)
        for name in (segment.name, *companions(segment.base_offset)):
            if name in names:
                self._files.remove(deleted_name(name))

    def _remove_snapshots_before(self, snapshot_id: OffsetAndEpoch) -> None:
        names = self._files.names(METADATA_DIRECTORY)
        old = [snapshot_name(each) for each in snapshot_ids(names) if each < snapshot_id]
        for name in old:
            self._files.rename(name, deleted_name(name))
        self._files.flush_directory(METADATA_DIRECTORY)
        for name in old:
            self._files.remove(deleted_name(name))

    def _complete(self) -> None:
        """Make what every log has: a segment, its topic's id, and the file of its epochs."""
        names = self._files.names(METADATA_DIRECTORY)
        if in_log(PARTITION_METADATA) not in names:
            replace_file(self._files, in_log(PARTITION_METADATA), partition_metadata_text())
        if in_log(LEADER_EPOCH_CHECKPOINT) not in names:
            self._write_epochs(self._epochs)
        if not self._segments:
            segment = SegmentIndex(self._start.end_offset, self._start.end_offset)
            self._segments.append(segment)
            self._files.append(segment.name, b"")
            self._files.flush(segment.name)
            self._files.flush_directory(METADATA_DIRECTORY)
