"""The bytes of a snapshot's file: header, kraft.version and voters, the records, footer.

A snapshot is a log of its own, with offsets from 0, all in the epoch of its id.

Kafka: RecordsSnapshotWriter, RecordsSnapshotReader.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError
from kraft.log.batches import LogBatch, controls_batch, data_batch, read_batches
from kraft.raft.voter_records import (
    kraft_version_of,
    snapshot_footer_record,
    snapshot_header_record,
    version_record,
    voters_of,
    voters_record,
)
from kraft.records.control_schemas import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
)
from kraft.records.limits import MAX_BATCH_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kraft.ids import OffsetAndEpoch
    from kraft.raft.voters import VoterSet

_RECORD_OVERHEAD: Final = 21
"""The most bytes of a record apart from its value: three varints of 5, length, marks."""


@dataclass(frozen=True, slots=True)
class SnapshotContent:
    """The content of a snapshot's file.

    `voters` is None and `version` is 0 if the file has none. `values` are the bytes of each
    record's value. `last_timestamp`, in milliseconds, is that of the last record of the log that
    the snapshot stands for.
    """

    voters: VoterSet | None
    version: int
    values: tuple[bytes, ...]
    last_timestamp: int


def snapshot_bytes(
    snapshot_id: OffsetAndEpoch,
    values: Sequence[bytes],
    voters: VoterSet | None,
    version: int,
    last_timestamp: int,
    timestamp: int | None = None,
    maximum_batch_bytes: int = MAX_BATCH_BYTES,
) -> bytes:
    """Return the bytes of the snapshot's file with these record values.

    The voters are written with kraft.version 1 only: before it they are nowhere but in the
    configuration. `timestamp`, in milliseconds, is when it is written; as a default,
    `last_timestamp`.

    Kafka: RecordsSnapshotWriter.Builder.build, RecordsSnapshotWriter.freeze.
    """
    written = last_timestamp if timestamp is None else timestamp
    controls = [snapshot_header_record(last_timestamp)]
    if version > 0:
        controls.append(version_record(version))
        if voters is not None:
            controls.append(voters_record(voters))
    batches = [controls_batch(0, snapshot_id.epoch, written, controls)]
    for part in _parts(values, maximum_batch_bytes):
        batches.append(data_batch(batches[-1].end_offset, snapshot_id.epoch, written, part))
    end = batches[-1].end_offset
    batches.append(controls_batch(end, snapshot_id.epoch, written, [snapshot_footer_record()]))
    return b"".join(batch.raw for batch in batches)


def read_snapshot(data: bytes) -> SnapshotContent:
    """Return the content of a snapshot's file, given as bytes.

    Raises CorruptRecordError if header or footer is missing, misplaced or there twice, if there are
    two voter sets or versions, or as `read_batches`. Kafka: RecordsSnapshotReader.
    """
    return _read_known(data) if len(data) <= _KNOWN_BYTES else _read(data)


def _read(data: bytes) -> SnapshotContent:
    batches = read_batches(data)
    _check_frame(batches)
    voters: VoterSet | None = None
    version: int | None = None
    for batch in batches:
        for kind, fields in batch.controls:
            if kind == KRAFT_VERSION.api_key:
                if version is not None:
                    raise _misplaced(batch, "a second KRaftVersion in a snapshot")
                version = kraft_version_of(fields)
            elif kind == KRAFT_VOTERS.api_key:
                if voters is not None:
                    raise _misplaced(batch, "a second KRaftVoters in a snapshot")
                voters = voters_of(fields)
    values = tuple(value for batch in batches for value in batch.values)
    last_timestamp = batches[0].controls[0][1]["lastContainedLogTimestamp"]
    return SnapshotContent(voters, version or 0, values, last_timestamp)


_KNOWN_BYTES: Final = 4 * 1024
"""Files up to this size are decoded once and remembered; a large snapshot would stay in memory."""
_read_known = lru_cache(maxsize=256)(_read)


def _check_frame(batches: tuple[LogBatch, ...]) -> None:
    """Raise unless offsets run from 0 and header and footer are the first and last record."""
    next_offset = 0
    kinds: list[int] = []
    for batch in batches:
        if batch.base_offset != next_offset:
            reason = (
                f"a batch of a snapshot starts at offset {batch.base_offset}, not {next_offset}"
            )
            raise _misplaced(batch, reason)
        next_offset = batch.end_offset
        kinds.extend(kind for kind, _ in batch.controls)
    if not batches:
        raise CorruptRecordError("the snapshot is empty", position=0)
    first, last = batches[0], batches[-1]
    if not first.controls or kinds[0] != SNAPSHOT_HEADER.api_key:
        raise _misplaced(first, "the snapshot does not start with a SnapshotHeader")
    if not last.controls or kinds[-1] != SNAPSHOT_FOOTER.api_key:
        raise _misplaced(last, "the snapshot has no SnapshotFooter at its end")
    if kinds.count(SNAPSHOT_HEADER.api_key) + kinds.count(SNAPSHOT_FOOTER.api_key) != 2:
        raise _misplaced(last, "a second SnapshotHeader or SnapshotFooter before the last batch")


def _misplaced(batch: LogBatch, reason: str) -> CorruptRecordError:
    return CorruptRecordError(reason, base_offset=batch.base_offset)


def _parts(values: Sequence[bytes], maximum_bytes: int) -> Iterator[list[bytes]]:
    """Yield the values in their order, in parts that fit a batch; a larger value goes alone."""
    part: list[bytes] = []
    size = 0
    for value in values:
        cost = len(value) + _RECORD_OVERHEAD
        if part and size + cost > maximum_bytes:
            yield part
            part, size = [], 0
        part.append(value)
        size += cost
    if part:
        yield part
