"""What a replica starts from: its files are judged together before any of them is changed.

A crash may leave a torn last segment, epochs of lost records, a snapshot with which the log was to
begin anew, and files that were being written or removed. Everything else that does not fit together
is refused, because what is on the disk may be the last copy.

Kafka: KafkaMetadataLog.apply, KafkaMetadataLog.recoverSnapshots, LogLoader.load.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.ids import METADATA_DIRECTORY, OffsetAndEpoch
from kraft.log.examination import (
    SegmentIndex,
    SegmentsRead,
    check_partition_metadata,
    read_leader_epochs_of,
    read_quorum_state_of,
    read_segments_of,
    read_snapshot_of,
)
from kraft.log.findings import Finding, FindingKind
from kraft.log.identity import check_identity
from kraft.log.image import LogImage
from kraft.log.names import in_log, is_unfinished, segment_offsets, snapshot_ids, snapshot_name
from kraft.log.text_files import LEADER_EPOCH_CHECKPOINT, EpochStart
from kraft.log.unusable import UnusableLogError, unusable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.ids import DirectoryId, NodeId
    from kraft.log.storage_files import Files
    from kraft.log.text_files import QuorumState

_NOTHING: Final = OffsetAndEpoch(0, 0)
"""The end before the first record; the bootstrap snapshot of a new cluster has this id, too."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a replica starts from; `findings` are the repairs, in order.

    `quorum_state` is None if it was never written.
    """

    quorum_state: QuorumState | None
    log: LogImage
    directory_id: DirectoryId
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Recovery:
    """The files as they were read, and the repairs to make before the log is used.

    The last of `segments` is cut to its size if `is_torn`. `doomed` are the files to remove.
    `epochs` are the entries for the leader-epoch-checkpoint. If `begin_at` is a snapshot, the log
    begins anew at its end, and `segments` are those to remove.
    """

    recovered: Recovered
    segments: tuple[SegmentIndex, ...]
    is_torn: bool
    epochs: tuple[EpochStart, ...]
    epochs_on_disk: tuple[EpochStart, ...]
    doomed: tuple[str, ...]
    begin_at: OffsetAndEpoch | None


def examine(
    files: Files, cluster_id: str, node_id: NodeId | None, directory_id: DirectoryId | None
) -> Recovery:
    """Return what to start from; no file is changed.

    Raises UnusableLogError, with the place and the remedy, for files that no crash can leave.
    """
    try:
        own = check_identity(files, cluster_id, node_id, directory_id)
        return _examine(files, own)
    except UnusableLogError:
        raise
    except CorruptRecordError as error:
        raise unusable(error) from None
    except UnreadableFileError as error:
        raise UnusableLogError(error.reason, path=error.path) from None


def _examine(files: Files, directory_id: DirectoryId) -> Recovery:
    names = files.names(METADATA_DIRECTORY)
    check_partition_metadata(files, names)
    quorum_state = read_quorum_state_of(files, names)
    epochs = read_leader_epochs_of(files, names)
    ids = snapshot_ids(names)
    _check_order(files, ids)
    offsets = segment_offsets(names)
    unfinished = [name for name in names if is_unfinished(name)]
    if not offsets:
        _check_absent_segments(files, quorum_state, epochs, ids)
    newest = ids[-1] if ids else None
    # The first epoch is never before the start of the log.
    start = epochs[0].start_offset if epochs else 0
    read = _segments_behind(files, offsets, newest) or read_segments_of(files, offsets, start)
    begins = newest is not None and _is_ahead(newest, read)
    if begins:
        assert newest is not None
        image = LogImage().begin_at(read_snapshot_of(files, newest))
        kept: tuple[EpochStart, ...] = ()
        read.findings = [_behind(files, newest, read)]
    else:
        image = _image(files, read, epochs, ids)
        kept = _check_epochs(files, image, epochs)
        if kept != epochs:
            place = files.place(in_log(LEADER_EPOCH_CHECKPOINT))
            stale = f"{len(epochs)} entries, {len({*epochs} & {*kept})} of them in the log"
            read.findings.append(Finding(FindingKind.STALE_EPOCHS, place, stale))
    old = [snapshot_name(each) for each in ids if each.end_offset < image.start_offset]
    read.findings += [
        Finding(FindingKind.IGNORED_FILE, files.place(name), "removed") for name in unfinished
    ]
    segments = [SegmentIndex(offset, offset) for offset in offsets] if begins else read.segments
    return Recovery(
        Recovered(quorum_state, image, directory_id, tuple(read.findings)),
        tuple(segments),
        read.is_torn,
        kept,
        epochs,
        tuple(unfinished) if begins else (*unfinished, *old),
        newest if begins else None,
    )


def _check_order(files: Files, ids: Sequence[OffsetAndEpoch]) -> None:
    """Raise UnusableLogError if a snapshot of more is of an older epoch, or two are of as much."""
    for first, second in pairwise((_NOTHING, *ids)):
        if second == _NOTHING:
            continue
        if second.epoch < first.epoch or second.end_offset == first.end_offset:
            raise UnusableLogError(
                f"a snapshot of all before offset {second.end_offset} in epoch {second.epoch}"
                f" cannot be of one log with that before {first.end_offset} in {first.epoch}",
                path=files.place(snapshot_name(second)),
            )


def _check_absent_segments(
    files: Files,
    quorum_state: QuorumState | None,
    epochs: Sequence[EpochStart],
    ids: Sequence[OffsetAndEpoch],
) -> None:
    """Raise UnusableLogError if a log that has been used has no segment.

    A crash leaves none only while the log begins anew from a snapshot, and then its epochs are gone
    before its segments are.
    """
    begins = bool(ids) and ids[-1].end_offset > 0
    if epochs or (quorum_state is not None and not begins):
        raise UnusableLogError(
            "the log has been used, and no segment is there", path=files.place(METADATA_DIRECTORY)
        )


def _segments_behind(
    files: Files, offsets: Sequence[int], newest: OffsetAndEpoch | None
) -> SegmentsRead | None:
    """Return the older segments if Kafka has crashed while the log began anew, else None.

    It makes the new segment before it removes the last of the old ones.
    Kafka: LocalLog.truncateFullyAndStartAt.
    """
    if newest is None or len(offsets) < 2 or offsets[-1] != newest.end_offset:
        return None
    if files.read(SegmentIndex(offsets[-1], offsets[-1]).name):
        return None
    older = read_segments_of(files, offsets[:-1])
    return older if _is_ahead(newest, older) else None


def _is_ahead(newest: OffsetAndEpoch, read: SegmentsRead) -> bool:
    """Return whether the log must begin anew at its newest snapshot.

    Kafka: KafkaMetadataLog.truncateToLatestSnapshot.
    """
    base = read.segments[0].base_offset if read.segments else 0
    if newest.end_offset <= base:
        return False
    return newest.epoch > read.last_epoch or (
        newest.epoch == read.last_epoch and newest.end_offset > read.end_offset
    )


def _behind(files: Files, newest: OffsetAndEpoch, read: SegmentsRead) -> Finding:
    detail = f"it ended at offset {read.end_offset} in epoch {read.last_epoch}, and begins anew"
    return Finding(FindingKind.BEHIND_SNAPSHOT, files.place(snapshot_name(newest)), detail)


def _image(
    files: Files,
    read: SegmentsRead,
    epochs: Sequence[EpochStart],
    ids: Sequence[OffsetAndEpoch],
) -> LogImage:
    """Return the log from its start on, with the snapshots from there on.

    Kafka forgets how far within its first segment the log began; the leader-epoch-checkpoint tells,
    since its first entry is never before the start.
    """
    base, end = (read.segments[0].base_offset if read.segments else 0), read.end_offset
    for each in ids:
        if each.end_offset > end:
            raise UnusableLogError(
                f"the snapshot ends after the log, which ends at offset {end} in epoch"
                f" {read.last_epoch}",
                path=files.place(snapshot_name(each)),
            )
    first = epochs[0].start_offset if epochs and epochs[0].start_offset <= end else 0
    lowest = max(base, first)
    start = next((each for each in ids if each.end_offset >= lowest), None)
    if lowest > 0 and start is None:
        raise UnusableLogError(
            f"the log begins at offset {lowest}, and no snapshot holds what was before",
            path=files.place(SegmentIndex(base, base).name),
            offset=lowest,
        )
    at_base = next((each.epoch for each in ids if each.end_offset == base), 0)
    try:
        image = LogImage(base, at_base, base).append(tuple(read.batches))
    except ValueError as error:
        place = files.place(snapshot_name(OffsetAndEpoch(base, at_base)))
        raise UnusableLogError(f"the log does not go on from it: {error}", path=place) from None
    for each in ids:
        known = image.epoch_before(each.end_offset)
        if each.end_offset > base and known != each.epoch:
            raise UnusableLogError(
                f"the snapshot is of epoch {each.epoch}, the log has epoch {known} before offset"
                f" {each.end_offset}",
                path=files.place(snapshot_name(each)),
            )
        if each.end_offset >= lowest:
            image = image.with_snapshot(read_snapshot_of(files, each))
    if lowest > 0 and start is not None and start.end_offset > base:
        image = image.clean_to(start)
    return image


def _check_epochs(
    files: Files, image: LogImage, epochs: Sequence[EpochStart]
) -> tuple[EpochStart, ...]:
    """Return the entries that belong to records of the log, after comparing them with the log.

    Raises UnusableLogError where they disagree. Entries after the end are of records that a crash
    took. A log that is empty after a snapshot has one entry, which says where it begins: its
    segment may begin before. Kafka: LeaderEpochFileCache.truncateFromEndAsyncFlush.
    """
    start, end = image.start_offset, image.end_offset
    if start == end > 0:
        return (EpochStart(image.start_epoch, start),) if epochs else ()
    kept = epochs_from([entry for entry in epochs if entry.start_offset < end], start)
    written = [(entry.epoch, entry.start_offset) for entry in kept]
    if written != list(image.epochs):
        raise UnusableLogError(
            f"its epochs and starts in the log are {_shown(written)}, but the log has"
            f" {_shown(image.epochs)}",
            path=files.place(in_log(LEADER_EPOCH_CHECKPOINT)),
        )
    return kept


def epochs_from(entries: Sequence[EpochStart], start_offset: int) -> tuple[EpochStart, ...]:
    """Return the entries of a log that begins at an offset: the first one not before it.

    Kafka: LeaderEpochFileCache.truncateFromStartAsyncFlush.
    """
    before = [entry for entry in entries if entry.start_offset <= start_offset]
    after = tuple(entry for entry in entries if entry.start_offset > start_offset)
    return (EpochStart(before[-1].epoch, start_offset), *after) if before else after


def _shown(entries: Sequence[tuple[int, int]]) -> str:
    shown = ", ".join(f"{epoch} at {offset}" for epoch, offset in entries[:8])
    return (shown or "none") + (", ..." if len(entries) > 8 else "")
