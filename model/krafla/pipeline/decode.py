"""The bytes of a file as rows of the tables. Nothing here knows of Spark or of a path.

Files are untrusted: sizes are capped before anything is allocated, and whatever is wrong is a
typed error of the reader, with its place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.redact import redacted
from krafla.audit.server_logs.events import UnintelligibleLineError, event_of
from krafla.audit.server_logs.lines import LOGGERS, LogLine
from krafla.pipeline.columns import columns_of, control_columns_of
from krafla.pipeline.pieces import INT64_MAX, PieceStream
from krafla.pipeline.sources import FileKind
from krafla.pipeline.tables import BATCHES, EVENTS, RECORDS
from krafla.traces.changes import step_changes
from krafla.traces.ndjson import loads
from krafla.values import fmt
from kraft.errors import CorruptRecordError, LimitExceededError, printable
from kraft.log.checkpoint import checkpoint_batches
from kraft.log.files import bytes_of_stream, small_bytes_of, utf8_text
from kraft.log.segment import batches_of
from kraft.log.text_files import (
    META_PROPERTIES,
    QUORUM_STATE,
    parse_leader_epochs,
    parse_meta_properties,
    parse_quorum_state,
)
from kraft.records.control_schemas import CONTROL_SCHEMAS
from kraft.records.json_text import fields_json
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from krafla.pipeline.pieces import Before, Piece
    from krafla.testing import Trace
    from kraft.log.files import FileBytes
    from kraft.log.findings import Finding
    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = [
    "ALL_RECORDS",
    "RecordChoice",
    "Row",
    "batch_rows",
    "rows_of_pieces",
    "trace_in",
]

Row = tuple[str, tuple[Any, ...]]
"""A table's name, and a value for each of its columns."""

_LINE_BYTES: Final = 256 * 1024
_TRACE_BYTES: Final = 64 * 1024 * 1024
_DETAIL_CHARACTERS: Final = 8_192
_UNFINISHED: Final = "unfinished or being removed: not read"
_LOG_LINE: Final = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (.*)"
)
_LOGGER: Final = re.compile(r" \(([\w.$]+)\)$", re.ASCII)


@dataclass(frozen=True, slots=True)
class RecordChoice:
    """Which records become rows: those of `types`, None: all. `secrets`: nothing is withheld."""

    types: frozenset[str] | None = None
    secrets: bool = False

    @property
    def api_keys(self) -> frozenset[int] | None:
        """The types of metadata records as numbers."""
        if self.types is None:
            return None
        return frozenset(k for k, schema in METADATA_SCHEMAS.items() if schema.name in self.types)


ALL_RECORDS: Final = RecordChoice()
"""All records, with their secrets withheld."""


def rows_of_pieces(
    name: str,
    kind: FileKind,
    file_id: str | None,
    pieces: Iterable[Piece],
    limits: Limits,
    notes: list[str],
    choice: RecordChoice = ALL_RECORDS,
) -> Iterator[Row]:
    """Yield the rows of a file, or of some of its pieces, in their order.

    The pieces are whole runs that follow one another, and are taken one at a time; `name` is the
    file's, without folders. The rows of all runs are those of the whole file, up to the first run
    with a fault, whose fault is the file's. Appends oddities that are no errors to ``notes``.

    Raises ``UnreadableFileError``, ``CorruptRecordError`` or a subclass, or ``KraflaError`` (an
    invalid trace): then the rows before it belong to a file that is not whole.
    """
    stream, path = PieceStream(pieces), Path(name)
    first = stream.first
    if first is not None and first.number != first.run:
        raise AssertionError(f"piece {first.number} cannot be decoded without piece {first.run}")
    before = None if first is None else first.before
    file = bytes_of_stream(path, stream, limits, 0 if first is None else first.position)
    if kind is FileKind.SEGMENT:
        findings: list[Finding] = []
        place = None if before is None else before.batch
        batches = batches_of(file, limits=limits, findings=findings, before=place)
        yield from batch_rows(batches, file_id, choice)
        notes += [f"{finding.kind.value}: {finding.detail}" for finding in findings]
    elif kind is FileKind.CHECKPOINT:
        batches = _checkpoint(file, before, stream.goes_on, limits)
        yield from batch_rows(batches, file_id, choice)
    else:
        yield from _text_rows(file, kind, file_id, notes)


def _checkpoint(
    file: FileBytes, before: Before | None, goes_on: Callable[[], bool], limits: Limits
) -> Iterator[RecordBatch]:
    if before is None:
        return checkpoint_batches(file, limits=limits, goes_on=goes_on)
    return checkpoint_batches(
        file, limits=limits, before=before.batch, last_kind=before.last_kind, goes_on=goes_on
    )


def _text_rows(
    file: FileBytes, kind: FileKind, file_id: str | None, notes: list[str]
) -> Iterator[Row]:
    if kind is FileKind.NODE_STATE:
        _check_state(file)
    elif kind is FileKind.SERVER_LOG:
        yield from _lines(file, file_id)
    elif kind is FileKind.TRACE:
        yield from _steps(file, file_id)
    elif kind is FileKind.SETTINGS:
        return
    elif kind is FileKind.UNFINISHED:
        notes.append(_UNFINISHED)
    else:
        raise CorruptRecordError("no reader is for a file of this name", path=file.path)


def _check_state(file: FileBytes) -> None:
    path = file.path
    parsers = {META_PROPERTIES: parse_meta_properties, QUORUM_STATE: parse_quorum_state}
    parse = parsers.get(path.name, parse_leader_epochs)
    parse(utf8_text(small_bytes_of(file), path), path)


def batch_rows(
    batches: Iterable[RecordBatch], file_id: str | None, choice: RecordChoice = ALL_RECORDS
) -> Iterator[Row]:
    """Yield the rows of these batches and of the chosen records; raises as their readers.

    All records are checked.
    """
    for batch in batches:
        _check_numbers(batch)
        yield BATCHES, _batch_row(batch, file_id)
        at = batch.position
        for record in batch.metadata_records(choice.api_keys):
            key, version = record.api_key, record.version
            schema, fields = METADATA_SCHEMAS[key], record.fields
            shown = fields if choice.secrets else redacted(key, fields)
            text = fields_json(schema.fields, version, shown)
            row = (
                file_id,
                record.offset,
                at,
                _long(record.timestamp),
                False,
                schema.name,
                key,
                version,
            )
            yield RECORDS, (*row, *columns_of(key, shown), text)
        for control in batch.control_records():
            key, version = control.control_type, control.version
            schema = CONTROL_SCHEMAS[key]
            if choice.types is not None and schema.name not in choice.types:
                continue
            text = fields_json(schema.fields, version, control.fields)
            row = (
                file_id,
                control.offset,
                at,
                _long(control.timestamp),
                True,
                schema.name,
                key,
                version,
            )
            yield RECORDS, (*row, *control_columns_of(key, control.fields), text)


def _check_numbers(batch: RecordBatch) -> None:
    """Raise CorruptRecordError for an offset that no signed number of 64 bits holds."""
    if batch.last_offset > INT64_MAX:
        raise CorruptRecordError(
            f"last offset {batch.last_offset}",
            path=batch.path,
            position=batch.position,
            base_offset=batch.base_offset,
        )


def _long(value: int) -> int:
    """Return a sum as Java's long has it: it wraps around."""
    return (value + INT64_MAX + 1) % 2**64 - INT64_MAX - 1


def _batch_row(batch: RecordBatch, file_id: str | None) -> tuple[Any, ...]:
    return (
        file_id,
        batch.position,
        batch.size,
        batch.base_offset,
        batch.last_offset,
        batch.leader_epoch,
        batch.count,
        batch.is_control,
        batch.compression.name.lower(),
        batch.base_timestamp,
        batch.max_timestamp,
        batch.crc,
    )


def _lines(file: FileBytes, file_id: str | None) -> Iterator[Row]:
    """Yield a row for each entry of a log4j file; a line that begins none belongs to the last."""
    entry: tuple[int, str, str, str] | None = None
    for number, line in enumerate(_text_lines(file), 1):
        match = _LOG_LINE.fullmatch(line)
        if match is None and entry is not None:
            begun, time, level, text = entry
            entry = begun, time, level, f"{text}\n{line}"[: 2 * _DETAIL_CHARACTERS]
            continue
        if entry is not None:
            yield _entry(file_id, entry)
        entry = (number, *match.groups()) if match else (number, "", "", line)  # type: ignore[assignment]  # three groups
    if entry is not None:
        yield _entry(file_id, entry)


def _entry(file_id: str | None, entry: tuple[int, str, str, str]) -> Row:
    number, time, level, text = entry
    first, _, rest = text.partition("\n")
    logger = _LOGGER.search(first)
    if logger is not None:
        first = first[: logger.start()]
    detail = f"{first}\n{rest}" if rest else first
    source = "" if logger is None else logger[1]
    action = _said(LogLine(Path(), number, 0, level, first, source)) if source in LOGGERS else None
    row = (file_id, number, "server log", time, level, source, action)
    return EVENTS, (*row, detail[:_DETAIL_CHARACTERS])


def _said(line: LogLine) -> str | None:
    """Return the meaning of a line about the lease in the terms of the audit, if it has one."""
    try:
        event = event_of(line)
    except UnintelligibleLineError as error:
        return f"not understood: {error}"
    return None if event is None else event.kind.value


def _steps(file: FileBytes, file_id: str | None) -> Iterator[Row]:
    """Yield a row for each step of a trace: its action, and its changes."""
    trace = trace_in(file)
    for index, step in enumerate(trace.steps):
        known = None if step.parameters is None else [fmt(value) for value in step.parameters]
        changes = [str(change) for change in step_changes(trace, index)] if index else []
        detail = json.dumps({"parameters": known, "changes": changes}, ensure_ascii=False)
        row = (file_id, index + 2, "trace", "", "", trace.spec, step.action)
        yield EVENTS, (*row, detail)


def trace_in(file: FileBytes) -> Trace:
    """Return the trace that a file has.

    Raises ``CorruptRecordError`` or a subclass, or ``KraflaError``.
    """
    path, raw = file.path, file.read(_TRACE_BYTES + 1)
    if len(raw) > _TRACE_BYTES:
        raise LimitExceededError(f"the trace has more than {_TRACE_BYTES} bytes", path=path)
    return loads(_decoded(raw, path), path.name)


def _text_lines(file: FileBytes) -> Iterator[str]:
    """Yield the lines of a text file that may be gzipped, in which no line is too long."""
    left, number = b"", 0
    while block := file.read(_LINE_BYTES):
        *lines, left = (left + block).split(b"\n")
        for line in lines:
            number += 1
            yield _line(line, file.path, number)
        if len(left) > _LINE_BYTES:
            raise LimitExceededError(
                f"line {number + 1} has more than {_LINE_BYTES} bytes", path=file.path
            )
    if left:
        yield _line(left, file.path, number + 1)


def _line(line: bytes, path: Path, number: int) -> str:
    try:
        text = line.rstrip(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptRecordError(f"line {number} is not UTF-8: {error.reason}", path=path) from None
    return printable(text)


def _decoded(raw: bytes, path: Path) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptRecordError(f"not UTF-8: {error.reason}", path=path,
                                 position=error.start) from None  # fmt: skip
