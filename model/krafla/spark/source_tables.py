"""One table of the files of a storage, as Arrow's batches: what a data source hands to Spark."""

from __future__ import annotations

import io
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, groupby
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.decode import ALL_RECORDS, RecordChoice, rows_of_pieces
from krafla.pipeline.faults import Fault, fault_of, sentence
from krafla.pipeline.file_copy import CHANGED, copied
from krafla.pipeline.pieces import PIECE_BYTES, Piece, cut, file_id_of, piece_values
from krafla.pipeline.sources import AUDITED, FileKind
from krafla.pipeline.tables import BATCHES, CONTENT, EVENTS, FILES, QUARANTINE, RECORDS, SCHEMAS
from krafla.verdict import KraflaError
from kraft.errors import (
    CorruptRecordError,
    UnreadableFileError,
    printable,
)
from kraft.records.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krafla.pipeline.sources import Source
    from krafla.pipeline.storage import Storage

__all__ = [
    *("LOG_SCHEMAS", "TableQuestion", "Share", "Told"),
    *("as_batches", "file_batches", "piece_row", "told_copy"),
]

_DECODED: Final = (BATCHES, RECORDS, EVENTS)
_BATCH_ROWS: Final = 4_096
_IN_MEMORY: Final = 32 * 1024 * 1024
PART_PIECE_BYTES: Final = 512 * 1024


def _placed(table: str) -> pa.Schema:
    schema = SCHEMAS[table]
    if "path" not in schema.names:
        schema = schema.append(pa.field("path", pa.string()))
    schema = schema.append(pa.field("generation", pa.int32()))
    return schema.append(pa.field("cluster_id", pa.string())) if table == CONTENT else schema


LOG_SCHEMAS: Final[dict[str, pa.Schema]] = {
    name: _placed(name) for name in (RECORDS, BATCHES, EVENTS, QUARANTINE, FILES, CONTENT)
}
"""The columns of each table: those of a store's, the path, and what a stream has: ``generation``,
how often the file of this path turned out to be another one than before, and of the bytes of logs
``cluster_id``, by which what is kept of a cluster can be found."""


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """What is asked of each file: one table.

    `fails`: a file with a fault is an error. Else it has no rows but in the tables ``quarantine``,
    ``files`` and ``content``.
    """

    table: str
    fails: bool = False
    choice: RecordChoice = ALL_RECORDS
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Share:
    """A file, or the n-th of so many parts of it, cut at the ends of pieces."""

    source: Source
    part: int = 0
    parts: int = 1

    @property
    def piece_bytes(self) -> int:
        """How large the pieces of the file are: small ones make parts of about equal size."""
        return PIECE_BYTES if self.parts == 1 else PART_PIECE_BYTES

    def has(self, piece: Piece) -> bool:
        """Return whether a run that begins with this piece belongs to the part."""
        part = piece.position * self.parts // max(self.source.bytes, 1)
        return min(part, self.parts - 1) == self.part


@dataclass(slots=True)
class Told:
    """What is known of a file when all of it has been decoded."""

    size: int = 0
    sha256: str | None = None
    file_id: str | None = None
    notes: list[str] = field(default_factory=list)
    fault: Fault | None = None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_DECODED, 0))


def file_batches(
    storage: Storage, share: Share, question: TableQuestion
) -> Iterator[pa.RecordBatch]:
    """Yield the rows that a file has in one table, never many at a time.

    Raises `KraflaError` for a fault if `question.fails`.
    """
    source, told, started = share.source, Told(), time.monotonic()
    try:
        _check_name(source)
        if source.kind is FileKind.UNFINISHED:
            told.notes.append("unfinished or being removed: not read")
        else:
            with told_copy(storage, share, question.limits, told) as copy:
                yield from _table_of_copy(copy, share, question, told)
    except (CorruptRecordError, UnreadableFileError) as error:
        told.fault = fault_of(error, "open" if _is_utf8(source.path) else "name")
    if told.fault is not None and question.fails and question.table not in (QUARANTINE, FILES):
        raise KraflaError(sentence(told.fault.reason, told.fault.place), printable(source.path))
    milliseconds = round(1000 * (time.monotonic() - started))
    yield from _rows_about(source, told, question.table, milliseconds)


def _table_of_copy(
    copy: IO[bytes], share: Share, question: TableQuestion, told: Told
) -> Iterator[pa.RecordBatch]:
    source, table = share.source, question.table
    name = _name(source)
    pieces = cut(copy, name, source.kind, question.limits, share.piece_bytes)
    if table == CONTENT:
        if source.kind in AUDITED:
            yield from _content(pieces, source, told)
        return
    rows = _rows(pieces, share, question, told)
    if table not in _DECODED:
        for _ in rows:
            pass
    elif share.parts > 1 and not question.fails and not _is_whole(copy, share, question, told):
        return
    elif question.fails or share.parts > 1:
        yield from as_batches(rows, LOG_SCHEMAS[table])
        if told.fault is not None:
            raise KraflaError(sentence(told.fault.reason, told.fault.place), printable(source.path))
    else:
        # Whether the file is whole is known at its end.
        with tempfile.TemporaryFile() if source.bytes > _IN_MEMORY else io.BytesIO() as kept:
            with pa.ipc.new_stream(kept, LOG_SCHEMAS[table]) as writer:
                for batch in as_batches(rows, LOG_SCHEMAS[table]):
                    writer.write_batch(batch)
            kept.seek(0)
            if told.fault is None:
                with pa.ipc.open_stream(kept) as reader:
                    yield from reader


def _is_whole(copy: IO[bytes], share: Share, question: TableQuestion, told: Told) -> bool:
    """Return whether a file has no fault: that costs a tenth of its rows."""
    pieces = cut(copy, _name(share.source), share.source.kind, question.limits)
    for _ in _rows(pieces, Share(share.source), replace(question, table=QUARANTINE), told):
        pass
    copy.seek(0)
    return told.fault is None


def _rows(
    pieces: Iterable[Piece], share: Share, question: TableQuestion, told: Told
) -> Iterator[tuple[Any, ...]]:
    """Yield the file's rows of the table that is asked for; count all, and keep the fault."""
    source, table = share.source, question.table
    types = question.choice.types if table == RECORDS else frozenset[str]()
    choice = RecordChoice(types, question.choice.secrets)
    assert told.file_id is not None
    try:
        for group in _runs(pieces, share):
            found = rows_of_pieces(
                _name(source), source.kind, told.file_id, group, question.limits, told.notes, choice
            )
            for name, row in found:
                told.counts[name] += 1
                if name == BATCHES and table != RECORDS:
                    told.counts[RECORDS] += row[_RECORDS_AT]
                if name == table:
                    yield (*row, source.path, None)
    except (CorruptRecordError, UnreadableFileError, KraflaError) as error:
        told.fault = fault_of(error, "decode")


_RECORDS_AT: Final = SCHEMAS[BATCHES].names.index("records")


def _runs(pieces: Iterable[Piece], share: Share) -> Iterator[Iterable[Piece]]:
    """Yield the pieces of the file at once, or those of each run in the part."""
    if share.parts == 1:
        yield pieces
        return
    for _, run in groupby(pieces, lambda piece: piece.run):
        first = next(run)
        if share.has(first):
            yield chain([first], run)  # noqa: B031 - the group is read before the next


def _content(pieces: Iterable[Piece], source: Source, told: Told) -> Iterator[pa.RecordBatch]:
    for piece in pieces:
        row = piece_row(piece, source) | {"file_id": told.file_id}
        yield pa.RecordBatch.from_pylist([row], LOG_SCHEMAS[CONTENT])


def piece_row(piece: Piece, source: Source) -> dict[str, Any]:
    """Return the row of a piece in the table ``content``, by the names of its columns."""
    return piece_values(piece) | {
        "name": _name(source),
        "kind": source.kind.value,
        "path": source.path,
    }


def _rows_about(
    source: Source, told: Told, table: str, milliseconds: int
) -> Iterator[pa.RecordBatch]:
    """Yield the row of a file in the tables of files."""
    known = {
        "path": printable(source.path) if told.fault and told.fault.stage == "name"
        else source.path,
        "file_id": told.file_id, "kind": source.kind.value,
        "bytes": told.size if told.sha256 is not None else source.bytes,
    }  # fmt: skip
    if table == QUARANTINE and told.fault is not None:
        row = known | asdict(told.fault)
    elif table == FILES:
        counts = told.counts if told.fault is None else dict.fromkeys(_DECODED, 0)
        row = known | counts | {
            "sha256": told.sha256, "status": "quarantined" if told.fault else "good",
            "note": "; ".join(told.notes), "listed_bytes": source.bytes,
            "changed_ns": source.changed_ns, "milliseconds": milliseconds,
        }  # fmt: skip
    else:
        return
    yield pa.RecordBatch.from_pylist([row], LOG_SCHEMAS[table])


def as_batches(rows: Iterable[tuple[Any, ...]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows as Arrow's batches of these columns."""
    waiting: list[tuple[Any, ...]] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) >= _BATCH_ROWS:
            yield _as_batch(waiting, schema)
            waiting = []
    if waiting:
        yield _as_batch(waiting, schema)


def _as_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(one, kind.type) for one, kind in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@contextmanager
def told_copy(storage: Storage, share: Share, limits: Limits, told: Told) -> Iterator[IO[bytes]]:
    """Yield a private copy of a file, and tell its size, digest and key.

    All parts of a file see the bytes that it had when it was listed.
    """
    source = share.source
    end = source.bytes if share.parts > 1 else None
    with storage.open(source.path, end=end) as file, copied(file, limits) as copy:
        told.size = copy.size
        if copy.has_changed:
            told.notes.append(CHANGED)
        if share.parts > 1 and told.size != source.bytes:
            # Its other parts may have seen more.
            raise KraflaError("the file has become shorter since it was listed", source.path)
        told.sha256 = copy.sha256
        told.file_id = file_id_of(_name(source), told.sha256)
        yield copy.stream


def _name(source: Source) -> str:
    return PurePosixPath(source.path).name


def _check_name(source: Source) -> None:
    if not _is_utf8(source.path):
        raise CorruptRecordError("the name of the file is not UTF-8")


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
