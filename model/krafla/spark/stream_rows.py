"""The rows of a stretch of a file, batch by batch: the same however a file is cut in stretches."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.decode import rows_of_pieces
from krafla.pipeline.faults import fault_of, sentence
from krafla.pipeline.pieces import cut
from krafla.pipeline.sources import Source, kind_of
from krafla.pipeline.storage import MissingFileError
from krafla.pipeline.tables import CONTENT, QUARANTINE
from krafla.spark.growth import grows, has_batch
from krafla.spark.source_tables import (
    LOG_SCHEMAS,
    Share,
    as_batches,
    file_batches,
    piece_row,
)
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.pipeline.faults import Fault
    from krafla.pipeline.pieces import Before, Piece
    from krafla.pipeline.storage import Storage, StoredFile
    from krafla.spark.source_tables import TableQuestion

__all__ = ["Stretch", "stretch_batches"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some bytes of a file, from the end of a batch on; `before` is that batch.

    `last` is the last batch in it, as `FileProgress` has it. `cluster_id` is that of the file's
    node, if it was asked for and is known.
    """

    path: str
    position: int
    end: int
    generation: int
    before: Before | None
    last: tuple[int, int, int, int, int] | None = None
    cluster_id: str | None = None

    @property
    def source(self) -> Source:
        """The file."""
        return Source(self.path, kind_of(self.name), self.end, 0)

    @property
    def name(self) -> str:
        """The name of the file, without folders."""
        return PurePosixPath(self.path).name


def stretch_batches(
    storage: Storage, stretch: Stretch, question: TableQuestion
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one table in a stretch, with the `generation` of the file.

    A batch with a fault has a row in ``quarantine`` and no other; those after it have theirs.
    Raises `KraflaError` for a fault if `question.fails`, and if the file was cut back meanwhile.
    The table ``content`` then has no rows of it for now: another look reads it from its beginning.
    """
    if grows(stretch.source):
        found = _grown(storage, stretch, question)
    else:
        found = file_batches(storage, Share(stretch.source), question)
    known = {"generation": stretch.generation, "cluster_id": stretch.cluster_id}
    for batch in found:
        for name in known.keys() & set(batch.schema.names):
            place = batch.schema.get_field_index(name)
            field = batch.schema.field(place)
            values = pa.array([known[name]] * batch.num_rows, field.type)
            batch = batch.set_column(place, field, values)
        yield batch


def _grown(storage: Storage, stretch: Stretch, question: TableQuestion) -> Iterator[pa.RecordBatch]:
    schema, place = LOG_SCHEMAS[question.table], printable(stretch.path)
    try:
        if not _is_there(storage, stretch):
            if question.fails or question.table != CONTENT:
                raise KraflaError("the file was cut back since it was listed", place)
            return
        with storage.open(stretch.path, stretch.position, stretch.end) as file:
            yield from as_batches(_rows(file, stretch, question), schema)
        if not _is_there(storage, stretch):
            # Some of the bytes may be of the one log, some of the other.
            raise KraflaError("the file was cut back while it was read", place)
    except UnreadableFileError as error:
        # Kafka removes old segments. Other bytes that are passed over now would never come again.
        is_lost = question.table == CONTENT and not isinstance(error, MissingFileError)
        if question.table == QUARANTINE:
            yield from as_batches(iter([_fault_row(stretch, fault_of(error, "open"))]), schema)
        elif question.fails or is_lost:
            raise KraflaError(error.reason, place) from None


def _is_there(storage: Storage, stretch: Stretch) -> bool:
    """Return whether a file still has the bytes of a stretch: where its last batch is, all are."""
    with storage.open(stretch.path, stretch.position) as file:
        if file.end < stretch.end:
            return False
    return stretch.last is None or has_batch(storage, stretch.path, stretch.last)


def _rows(file: StoredFile, stretch: Stretch, question: TableQuestion) -> Iterator[tuple[Any, ...]]:
    pieces = cut(
        file, stretch.name, stretch.source.kind, question.limits,
        position=stretch.position, before=stretch.before, each_batch=True,
    )  # fmt: skip
    if question.table == CONTENT:
        for piece in pieces:
            row = piece_row(piece, stretch.source)
            yield tuple(row.get(name) for name in LOG_SCHEMAS[CONTENT].names)
        return
    for _, run in groupby(pieces, lambda piece: piece.run):
        yield from _run_rows(run, stretch, question)


def _run_rows(
    run: Iterable[Piece], stretch: Stretch, question: TableQuestion
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one batch, or of the rest of a file that is no batch."""
    try:
        rows = rows_of_pieces(
            stretch.name, stretch.source.kind, None, run, question.limits, [], question.choice
        )
        found = [row for table, row in rows if table == question.table]
    except CorruptRecordError as error:
        fault = fault_of(error, "decode")
        if question.table == QUARANTINE:
            yield _fault_row(stretch, fault)
        elif question.fails:
            raise KraflaError(
                sentence(fault.reason, fault.place), printable(stretch.path)
            ) from None
        return
    for row in found:
        yield (*row, stretch.path, None)


def _fault_row(stretch: Stretch, fault: Fault) -> tuple[Any, ...]:
    # How many bytes the file has is another matter at each look.
    known = {"path": stretch.path, "kind": stretch.source.kind.value}
    row = known | asdict(fault)
    return tuple(row.get(name) for name in LOG_SCHEMAS[QUARANTINE].names)
