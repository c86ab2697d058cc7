"""Reading the files of a metadata log, each judged by itself. Nothing is changed.

Kafka: LogLoader, KafkaMetadataLog.recoverSnapshots.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError
from kraft.log.batches import LogBatch, log_batch
from kraft.log.checkpoint import checkpoint_batches
from kraft.log.files import FileBytes, utf8_text
from kraft.log.findings import Finding, FindingKind
from kraft.log.image import Snapshot
from kraft.log.names import PARTITION_METADATA, in_log, segment_name, snapshot_name
from kraft.log.segment import batches_of, check_follows
from kraft.log.text_file_writer import partition_metadata_text
from kraft.log.text_files import (
    LEADER_EPOCH_CHECKPOINT,
    QUORUM_STATE,
    parse_leader_epochs,
    parse_quorum_state,
)
from kraft.log.unusable import WRONG_DIRECTORY, UnusableLogError
from kraft.records.batch import HEADER, HEADER_BYTES, LOG_OVERHEAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kraft.ids import OffsetAndEpoch
    from kraft.log.storage_files import Files
    from kraft.log.text_files import EpochStart, QuorumState
    from kraft.records.batch import RecordBatch

SECTOR: Final = 512
"""Bytes that a disk writes whole or not at all; a page is a whole number of them."""
HOLE: Final = 32
"""As many zeros are a hole: more than a UUID of zeros has, with what may be beside it."""
SHORT_HOLE: Final = 8
"""Bytes of a base offset: in a batch most of them are zeros, but never all of them."""
_SMALL_TAILS = (FindingKind.TORN_TAIL, FindingKind.ZERO_TAIL)


@dataclass(slots=True)
class SegmentIndex:
    """One segment on disk: the base offset and the byte position of each batch, and where it ends.

    Batches that the log no longer has may be missing: nothing is cut there.
    `size` are the bytes of whole batches; the file is longer if its tail was torn.
    """

    base_offset: int
    end_offset: int
    size: int = 0
    offsets: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the file."""
        return segment_name(self.base_offset)

    def add(self, batch: LogBatch, size: int) -> None:
        """Note a batch of `size` bytes at the end of the file."""
        self.offsets.append(batch.base_offset)
        self.positions.append(self.size)
        self.size += size
        self.end_offset = batch.end_offset

    def forget_before(self, offset: int) -> None:
        """Forget the batches before the one with this offset; the file stays as it is."""
        index = bisect_right(self.offsets, offset) - 1
        del self.offsets[:index], self.positions[:index]


@dataclass(slots=True)
class SegmentsRead:
    """Segments that follow each other, the batches in them, and what their tail is like."""

    segments: list[SegmentIndex] = field(default_factory=list)
    batches: list[LogBatch] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, 0 without records."""
        return self.batches[-1].epoch if self.batches else 0

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.segments[-1].end_offset if self.segments else 0

    @property
    def is_torn(self) -> bool:
        """Whether the last file has bytes after its last whole batch."""
        return any(finding.kind in _SMALL_TAILS for finding in self.findings)


def read_segments_of(files: Files, base_offsets: Sequence[int], start: int = 0) -> SegmentsRead:
    """Return the content of these segments.

    A batch that ends at `start` or before is there without its bytes and records: they are never
    read again. Only the last segment may have a torn or zero tail, which is then a finding. Raises
    CorruptRecordError or a subclass for bytes that are no batch, and UnusableLogError where a
    segment is missing, superfluous, or does not begin at the offset in its name.
    """
    read = SegmentsRead()
    previous: RecordBatch | None = None
    for base_offset in base_offsets:
        place = files.place(segment_name(base_offset))
        _refuse_a_tail(read)
        if read.segments and base_offset != read.end_offset:
            kind = "missing before it" if base_offset > read.end_offset else "there without need"
            raise UnusableLogError(
                f"a segment is {kind}: the log before it ends at offset {read.end_offset}",
                path=place,
                offset=base_offset,
            )
        segment = SegmentIndex(base_offset, base_offset)
        read.segments.append(segment)
        read.findings = []
        data = files.read(segment.name)
        for batch in _batches(place, data, read.findings, is_last=base_offset == base_offsets[-1]):
            if not segment.offsets and batch.base_offset != base_offset:
                raise UnusableLogError(
                    f"the segment begins with offset {batch.base_offset}", path=place, position=0
                )
            check_follows(previous, batch)
            try:
                decoded = _forgotten(batch) if batch.next_offset <= start else log_batch(batch)
            except CorruptRecordError as error:
                raise error.located(path=place) from None
            segment.add(decoded, batch.size)
            read.batches.append(decoded)
            previous = batch
    read.findings = [finding for finding in read.findings if finding.kind in _SMALL_TAILS]
    return read


def _forgotten(batch: RecordBatch) -> LogBatch:
    return LogBatch(batch.base_offset, batch.leader_epoch, batch.count, (), (), b"")


def _batches(
    place: Path, data: bytes, findings: list[Finding], *, is_last: bool
) -> Iterator[RecordBatch]:
    """Yield the batches of a segment. A hole in the last one is where its tail is torn."""
    position = 0
    try:
        for batch in batches_of(FileBytes(place, BytesIO(data), None), findings=findings):
            position = batch.position + batch.size
            yield batch
    except CorruptRecordError as error:
        if not (is_last and has_hole(data, position)):
            raise
        detail = f"a hole, so that {error.reason}; {len(data) - position} bytes were not read"
        findings.append(Finding(FindingKind.TORN_TAIL, place, detail, position))


def has_hole(data: bytes, position: int) -> bool:
    """Return whether the batch at a position lacks a piece that never reached the disk.

    A disk writes whole sectors, in any order. A sector that a crash kept from being written is
    zeros: from the start of the batch or of a sector on, or up to the end of either. A batch that
    was written and has decayed has no such run of zeros. A short run of zeros between two such
    edges is a hole, too, if it is at least as long as a base offset (a small number has fewer
    zeros), or if it ends the file.
    """
    if not any(data[position : position + HEADER_BYTES]):
        return True
    end = len(data)
    if end - position >= LOG_OVERHEAD:
        length = HEADER.unpack_from(data[position:].ljust(HEADER_BYTES, b"\0"))[1]
        # The sector that the batch ends in may be gone with what follows in it.
        end = min(end, position + LOG_OVERHEAD + max(length, HEADER_BYTES))
        end = min(len(data), end + -end % SECTOR)
    first = position - position % SECTOR + SECTOR
    edges = [position, *range(first, end, SECTOR), end]
    pieces = [(a, b) for a, b in pairwise(edges) if a < b and not any(data[a:b])]
    if any(b - a >= SHORT_HOLE or b == len(data) for a, b in pieces):
        return True
    return any(
        not any(data[start : start + HOLE])
        for edge in edges
        for start in (edge, edge - HOLE)
        if position <= start and start + HOLE <= end
    )


def read_quorum_state_of(files: Files, names: Sequence[str]) -> QuorumState | None:
    """Return the content of the quorum-state file, None if there is none.

    Raises CorruptRecordError or a subclass. Kafka: FileQuorumStateStore.readElectionState.
    """
    name = in_log(QUORUM_STATE)
    if name not in names:
        return None
    place = files.place(name)
    return parse_quorum_state(utf8_text(files.read(name), place), place)


def read_leader_epochs_of(files: Files, names: Sequence[str]) -> tuple[EpochStart, ...]:
    """Return the entries of the leader-epoch-checkpoint; none if it is absent.

    Raises CorruptRecordError and its kinds. Kafka: LeaderEpochCheckpointFile.read.
    """
    name = in_log(LEADER_EPOCH_CHECKPOINT)
    if name not in names:
        return ()
    place = files.place(name)
    return parse_leader_epochs(utf8_text(files.read(name), place), place)


def check_partition_metadata(files: Files, names: Sequence[str]) -> None:
    """Raise UnusableLogError if a partition.metadata is that of another topic.

    Kafka: UnifiedLog.initializeTopicId.
    """
    name = in_log(PARTITION_METADATA)
    if name in names:
        found = utf8_text(files.read(name), files.place(name)).split()
        if found != partition_metadata_text().split():
            raise UnusableLogError(
                "not the partition.metadata of the metadata log",
                path=files.place(name),
                remedy=WRONG_DIRECTORY,
            )


def read_snapshot_of(files: Files, snapshot_id: OffsetAndEpoch) -> Snapshot:
    """Return a snapshot after checking its batches, header and footer.

    Raises CorruptRecordError or a subclass. Kafka: FileRawSnapshotReader.
    """
    name = snapshot_name(snapshot_id)
    data = files.read(name)
    for _ in checkpoint_batches(FileBytes(files.place(name), BytesIO(data), None)):
        pass
    return Snapshot(snapshot_id, data)


def _refuse_a_tail(read: SegmentsRead) -> None:
    for finding in read.findings:
        if finding.kind in _SMALL_TAILS:
            raise UnusableLogError(
                f"{finding.detail}, but another segment follows",
                path=finding.path,
                position=finding.position,
            )
