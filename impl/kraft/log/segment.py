"""Segments of the metadata log: batches in order, read one at a time.

A log is read as a stream: one batch in memory, each checked against the one before it. A file that
ends inside a batch has a torn tail (a crash leaves that behind), a file that ends in zeros was
preallocated; neither is corruption, and both are told apart from it: a damaged length that only
looks like a torn tail is corrupt.

Kafka: FileRecords, FileLogInputStream, UnifiedLog.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError, DiscontinuityError, EpochFallsError, TornTailError
from kraft.log.files import open_regular
from kraft.log.findings import Finding, FindingKind
from kraft.log.tail import judge_tail
from kraft.records.batch import (
    HEADER,
    HEADER_BYTES,
    LOG_OVERHEAD,
    BatchHeader,
    RecordBatch,
    check_framing,
    parse_batch,
)
from kraft.records.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kraft.log.files import FileBytes

SEGMENT_NAME: Final = re.compile(r"(\d{20})\.log(\.gz)?", re.ASCII)
_FRAMING_BYTES: Final = 17
_ZERO_STEP: Final = 64 * 1024


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """A segment file and the offset in its name, which its first batch starts with."""

    base_offset: int
    path: Path


@dataclass(frozen=True, slots=True)
class BatchBefore:
    """The batch right before a part of a log file: its offsets, and the epoch of its leader."""

    base_offset: int
    last_offset: int
    leader_epoch: int

    @property
    def next_offset(self) -> int:
        """The offset the next batch starts with."""
        return self.last_offset + 1


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A place between two batches of a log: a file, a byte of it, and the batch before that byte.

    In a compressed file, bytes are counted as they are decompressed.
    """

    path: Path
    position: int
    before: BatchBefore


def segment_at(path: Path) -> Segment | None:
    """Return the segment a file name stands for, None if it is not a segment's name."""
    match = SEGMENT_NAME.fullmatch(path.name)
    return Segment(int(match[1]), path) if match else None


def iter_batches(
    path: Path,
    *,
    limits: Limits = DEFAULT_LIMITS,
    findings: list[Finding] | None = None,
    start: LogPlace | None = None,
) -> Iterator[RecordBatch]:
    """Yield the batches of one log file (`.log`, `.checkpoint`, either gzipped), in order.

    With `start`, a place in this file, those from there on.

    A torn tail ends the iteration with TornTailError, or, when `findings` is given, with a finding
    appended to it; a zero tail or an empty file is a finding. Within the file, offsets must be
    contiguous and epochs must not decrease: DiscontinuityError. Raises UnreadableFileError and
    CorruptRecordError and its kinds. Records are checked when they are asked for.
    """
    with open_regular(path, limits) as file:
        before = None
        if start is not None and start.position:
            file.skip_to(start.position)
            before = start.before
        yield from batches_of(file, limits=limits, findings=findings, before=before)


def batches_of(
    file: FileBytes,
    *,
    limits: Limits = DEFAULT_LIMITS,
    findings: list[Finding] | None = None,
    before: BatchBefore | None = None,
) -> Iterator[RecordBatch]:
    """Yield the batches of one log file that is open; else as `iter_batches`.

    Of a part of a file that begins in its middle, `before` is the batch that it must follow.
    """
    notes: list[Finding] = [] if findings is None else findings
    previous: RecordBatch | BatchBefore | None = before
    try:
        while (batch := _next_batch(file, limits, notes)) is not None:
            check_follows(previous, batch)
            yield batch
            previous = batch
    except TornTailError as error:
        if findings is None:
            raise
        findings.append(Finding(FindingKind.TORN_TAIL, file.path, error.reason, error.position))
    if change := file.changed():
        notes.append(Finding(FindingKind.FILE_CHANGED, file.path, change))
    if previous is None and not notes:
        notes.append(Finding(FindingKind.EMPTY_SEGMENT, file.path, "0 batches"))


def read_segments(
    segments: Iterable[Segment],
    *,
    limits: Limits = DEFAULT_LIMITS,
    findings: list[Finding] | None = None,
    start: LogPlace | None = None,
) -> Iterator[RecordBatch]:
    """Yield the batches of several segments as one log, in order of their names.

    With `start`, those from a place on: files before its own need not be there.

    Raises as `iter_batches`, DiscontinuityError where one segment does not continue the other, and
    CorruptRecordError for a segment in two files.
    Only the last segment may have a torn tail; in another one it is corrupt.
    """
    previous: RecordBatch | BatchBefore | None = None if start is None else start.before
    ordered = sorted(segments)
    _refuse_twice(ordered)
    if start is not None:
        ordered = ordered[[one.path for one in ordered].index(start.path) :]
    for segment in ordered:
        here = start if start is not None and segment.path == start.path else None
        fresh = here is None or not here.position
        is_last = segment is ordered[-1]
        notes: list[Finding] | None = findings if is_last else []
        for batch in iter_batches(segment.path, limits=limits, findings=notes, start=here):
            if fresh and batch.base_offset != segment.base_offset:
                raise DiscontinuityError(
                    f"the segment is named {segment.base_offset} and starts with offset"
                    f" {batch.base_offset}",
                    path=segment.path,
                    position=0,
                    base_offset=batch.base_offset,
                )
            fresh = False
            check_follows(previous, batch)
            yield batch
            previous = batch
        if notes is not None and not is_last:
            _refuse_torn(notes)
            if findings is not None:
                findings.extend(notes)


def _refuse_twice(ordered: Sequence[Segment]) -> None:
    """Raise CorruptRecordError if a segment is there twice, as one that is also gzipped."""
    for one, other in pairwise(ordered):
        if one.base_offset == other.base_offset:
            raise CorruptRecordError(f"{one.path.name} is the same segment", path=other.path)


def _refuse_torn(notes: list[Finding]) -> None:
    for note in notes:
        if note.kind is FindingKind.TORN_TAIL:
            raise CorruptRecordError(
                f"{note.detail}, but another segment follows",
                path=note.path,
                position=note.position,
            )


def check_follows(previous: RecordBatch | BatchBefore | None, batch: RecordBatch) -> None:
    """Raise DiscontinuityError unless `batch` continues the log right after `previous`."""
    if previous is None:
        return
    if batch.base_offset != previous.next_offset:
        what = "gap" if batch.base_offset > previous.next_offset else "overlap"
        raise DiscontinuityError(
            f"offset {what}: a batch starts at {batch.base_offset}, the one before it ends at"
            f" {previous.last_offset}",
            path=batch.path,
            position=batch.position,
            base_offset=batch.base_offset,
        )
    if batch.leader_epoch < previous.leader_epoch:
        raise EpochFallsError(
            f"epoch {batch.leader_epoch} at offset {batch.base_offset} after epoch"
            f" {previous.leader_epoch} at offset {previous.base_offset}",
            path=batch.path,
            position=batch.position + LOG_OVERHEAD,
            base_offset=batch.base_offset,
        )


def _next_batch(file: FileBytes, limits: Limits, notes: list[Finding]) -> RecordBatch | None:
    position = file.position
    start = file.read(HEADER_BYTES)
    if not start:
        return None
    if len(start) < _FRAMING_BYTES:
        what = f"{len(start)} bytes of a batch header"
        raise judge_tail(start, what, position=position, path=file.path, limits=limits)
    if not any(start) and _only_zeros_left(file):
        length = file.position - position
        notes.append(Finding(FindingKind.ZERO_TAIL, file.path, f"{length} zero bytes", position))
        return None
    header = BatchHeader._make(HEADER.unpack(start.ljust(HEADER_BYTES, b"\x00")))
    try:
        check_framing(header.base_offset, header.length, header.magic, limits)
    except CorruptRecordError as error:
        raise error.located(
            path=file.path, shift=position, base_offset=header.base_offset
        ) from None
    size = header.length + LOG_OVERHEAD
    rest = file.read(size - len(start)) if len(start) == HEADER_BYTES else b""
    raw = start + rest
    if len(raw) < size:
        what = f"{len(raw)} of {size} bytes of a batch"
        raise judge_tail(raw, what, position=position, path=file.path, limits=limits)
    return parse_batch(raw, position=position, path=file.path, limits=limits)


def _only_zeros_left(file: FileBytes) -> bool:
    while part := file.read(_ZERO_STEP):
        if any(part):
            return False
    return True
