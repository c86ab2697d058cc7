"""What a trigger has read of one cluster: batches, checkpoints, and places that are neither."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from krafla.pipeline.pieces import Before, Piece, PieceStream
from krafla.pipeline.sources import FileKind
from krafla.pipeline.watch.cells import label_of
from kraft.errors import CorruptRecordError, DiscontinuityError, UnreadableFileError
from kraft.log.files import GZIP_SUFFIX, bytes_of_stream
from kraft.log.findings import FindingKind
from kraft.log.segment import batches_of, segment_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kraft.log.findings import Finding as LogFinding
    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = ["Arrival", "BatchCame", "CheckpointCame", "FaultCame", "arrivals_of"]


@dataclass(frozen=True, slots=True)
class BatchCame:
    """A batch of a segment; `path` is that of its file."""

    path: str
    batch: RecordBatch


@dataclass(frozen=True, slots=True)
class CheckpointCame:
    """A whole checkpoint."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class FaultCame:
    """Bytes of a segment that are no batch there; `offset` is where one would begin."""

    path: str
    offset: int
    error: CorruptRecordError | UnreadableFileError


Arrival = BatchCame | CheckpointCame | FaultCame


def arrivals_of(rows: Iterable[dict[str, Any]], limits: Limits) -> Iterator[Arrival]:
    """Yield what the rows of one directory hold: checkpoints first, then files by their names.

    The rows are of the table ``content`` of the stream ``kraft-log``.
    """
    ordered = sorted(rows, key=_place)
    for (_, path, _), found in groupby(ordered, key=lambda row: _place(row)[:3]):
        pieces = list(found)
        if pieces[0]["kind"] == FileKind.CHECKPOINT.value:
            yield CheckpointCame(path, b"".join(piece["content"] for piece in pieces))
        else:
            yield from _of_segment(path, pieces, limits)


def _place(row: dict[str, Any]) -> tuple[bool, str, int, int]:
    is_log = row["kind"] != FileKind.CHECKPOINT.value
    return is_log, row["path"], row["generation"], row["position"]


def _of_segment(path: str, rows: list[dict[str, Any]], limits: Limits) -> Iterator[Arrival]:
    for _, found in groupby(rows, key=lambda row: row["run"]):
        run = list(found)
        before = None if run[0]["before"] is None else Before(**json.loads(run[0]["before"]))
        offset = _expected(path, before)
        notes: list[LogFinding] = []
        try:
            for batch in _batches(path, run, before, limits, notes):
                offset = batch.next_offset
                yield BatchCame(path, batch)
            _refuse_torn(path, notes)
        except (CorruptRecordError, UnreadableFileError) as error:
            yield FaultCame(path, offset, error)


def _batches(
    path: str,
    rows: list[dict[str, Any]],
    before: Before | None,
    limits: Limits,
    notes: list[LogFinding],
) -> Iterator[RecordBatch]:
    names = Piece.__slots__
    pieces = (Piece(**{name: row[name] for name in names} | {"before": None}) for row in rows)
    position = rows[0]["position"]
    file = bytes_of_stream(label_of(path), PieceStream(pieces), limits, position)
    place = None if before is None else before.batch
    for batch in batches_of(file, limits=limits, findings=notes, before=place):
        if batch.position == 0:
            _check_name(batch)
        yield batch


def _expected(path: str, before: Before | None) -> int:
    """Return the offset at which the next batch should begin."""
    if before is not None:
        return before.last_offset + 1
    segment = segment_at(label_of(path))
    return 0 if segment is None else segment.base_offset


def _check_name(batch: RecordBatch) -> None:
    assert batch.path is not None, "the batch was read from a file"
    segment = segment_at(batch.path)
    if segment is not None and batch.base_offset != segment.base_offset:
        raise DiscontinuityError(
            f"the segment is named {segment.base_offset} and starts with offset"
            f" {batch.base_offset}",
            path=batch.path,
            position=0,
            base_offset=batch.base_offset,
        )


def _refuse_torn(path: str, notes: list[LogFinding]) -> None:
    """Raise for the torn tail of a segment: the source keeps it back unless another follows."""
    if path.endswith(GZIP_SUFFIX):
        return
    for note in notes:
        if note.kind is FindingKind.TORN_TAIL:
            raise CorruptRecordError(
                f"{note.detail}, but another segment follows",
                path=note.path,
                position=note.position,
            )
