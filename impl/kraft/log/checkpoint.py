"""Checkpoints: snapshots of the metadata image, and the bootstrap checkpoint of a new node.

A checkpoint is a log file of its own: offsets from 0, a SnapshotHeader control record first, a
SnapshotFooter last, each exactly once. Its name says which log prefix it stands for: the offset it
ends before, and the epoch of the last record in it.

Kafka: Snapshots, RecordsSnapshotReader, BootstrapDirectory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError, TornTailError
from kraft.log.files import open_regular
from kraft.log.segment import batches_of
from kraft.records.control_schemas import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
)
from kraft.records.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kraft.log.files import FileBytes
    from kraft.log.segment import BatchBefore
    from kraft.records.batch import RecordBatch

CHECKPOINT_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint(\.gz)?", re.ASCII)
BOOTSTRAP_NAME: Final = "bootstrap.checkpoint"
_AFTER: Final = {
    KRAFT_VERSION.api_key: SNAPSHOT_HEADER.api_key,
    KRAFT_VOTERS.api_key: KRAFT_VERSION.api_key,
}
"""By control type, the one right before it. Kafka: RecordsSnapshotWriter.Builder.build."""


@dataclass(frozen=True, slots=True, order=True)
class Checkpoint:
    """A snapshot file: the log offset it ends before, and the epoch of its last record."""

    end_offset: int
    epoch: int
    path: Path


def checkpoint_at(path: Path) -> Checkpoint | None:
    """Return the checkpoint a file name stands for, None if it is not a checkpoint's name.

    Kafka: Snapshots.parse.
    """
    match = CHECKPOINT_NAME.fullmatch(path.name)
    return Checkpoint(int(match[1]), int(match[2]), path) if match else None


def read_checkpoint(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[RecordBatch]:
    """Yield the batches of a checkpoint after checking its name, its header and its footer.

    Works for `<end offset>-<epoch>.checkpoint` and `bootstrap.checkpoint`. Raises
    CorruptRecordError if the name is neither, if header or footer is missing, misplaced or there
    twice, if another control record is out of its place, or if a batch has another epoch than the
    name; else as `iter_batches`. A checkpoint that ends too early is corrupt, not torn: Kafka
    renames it into place only when it is complete.
    """
    with open_regular(path, limits) as file:
        yield from checkpoint_batches(file, limits=limits)


def checkpoint_batches(
    file: FileBytes,
    *,
    limits: Limits = DEFAULT_LIMITS,
    before: BatchBefore | None = None,
    last_kind: int | None = None,
    goes_on: Callable[[], bool] = lambda: False,
) -> Iterator[RecordBatch]:
    """Yield the batches of a checkpoint that is open; else as `read_checkpoint`.

    Of a part that begins in its middle, `before` is the batch that it must follow, and `last_kind`
    what `last_control_type` returns for that one. `goes_on` says, after the last batch, whether
    the checkpoint has more after this part.
    """
    path = file.path
    checkpoint = checkpoint_at(path)
    if checkpoint is None and path.name.removesuffix(".gz") != BOOTSTRAP_NAME:
        raise CorruptRecordError("not the name of a checkpoint", path=path)
    next_offset = 0 if before is None else before.next_offset
    try:
        for batch in batches_of(file, limits=limits, before=before):
            _check_place(batch, next_offset, checkpoint)
            next_offset = batch.next_offset
            last_kind = _check_controls(batch, last_kind)
            yield batch
    except TornTailError as error:
        raise CorruptRecordError(error.reason, path=path, position=error.position) from None
    if last_kind != SNAPSHOT_FOOTER.api_key and not goes_on():
        raise CorruptRecordError("the checkpoint has no SnapshotFooter at its end", path=path)


def last_control_type(batch: RecordBatch) -> int:
    """Return the control type of a batch's last record, 0 for a metadata record.

    Raises CorruptRecordError and its kinds.
    """
    return _control_types(batch)[-1]


def _check_place(batch: RecordBatch, expected: int, checkpoint: Checkpoint | None) -> None:
    if batch.base_offset != expected:
        raise CorruptRecordError(
            f"a batch of a checkpoint starts at offset {batch.base_offset}, not {expected}",
            path=batch.path,
            position=batch.position,
        )
    if checkpoint is not None and batch.leader_epoch != checkpoint.epoch:
        raise CorruptRecordError(
            f"a batch of epoch {batch.leader_epoch} in a checkpoint of epoch {checkpoint.epoch}",
            path=batch.path,
            position=batch.position,
        )


def _check_controls(batch: RecordBatch, last_kind: int | None) -> int | None:
    """Return the last record's control type (0: a metadata record) after checking the order."""
    for kind in _control_types(batch):
        if last_kind is None and kind != SNAPSHOT_HEADER.api_key:
            raise _misplaced(batch, "the checkpoint does not start with a SnapshotHeader")
        if last_kind is not None and kind == SNAPSHOT_HEADER.api_key:
            raise _misplaced(batch, "a second SnapshotHeader in the checkpoint")
        if last_kind == SNAPSHOT_FOOTER.api_key:
            raise _misplaced(batch, "a record after the SnapshotFooter of the checkpoint")
        if kind == LEADER_CHANGE.api_key:
            raise _misplaced(batch, "a LeaderChangeMessage in the checkpoint")
        if _AFTER.get(kind, last_kind) != last_kind:
            raise _misplaced(batch, "a control record out of its place in the checkpoint")
        last_kind = kind
    return last_kind


def _control_types(batch: RecordBatch) -> list[int]:
    return [record.control_type for record in batch.control_records()] or [0]


def _misplaced(batch: RecordBatch, reason: str) -> CorruptRecordError:
    return CorruptRecordError(
        reason, path=batch.path, position=batch.position, base_offset=batch.base_offset
    )
