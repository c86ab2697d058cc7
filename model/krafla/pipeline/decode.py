"""One file as rows of the tables. Nothing here knows of Spark, and no row names a path.

Files are untrusted: sizes are capped before anything is allocated, and whatever is wrong is a
typed error of the reader, with its place.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.redact import redacted
from krafla.audit.server_logs.events import UnintelligibleLineError, event_of
from krafla.audit.server_logs.lines import LOGGERS, LogLine
from krafla.pipeline.sources import FileKind
from krafla.pipeline.tables import BATCHES, EVENTS, RECORDS
from krafla.traces import loads, step_changes
from krafla.values import fmt
from kraft.errors import CorruptRecordError, LimitExceededError, printable
from kraft.log.checkpoint import read_checkpoint
from kraft.log.files import open_regular
from kraft.log.segment import iter_batches
from kraft.log.text_files import (
    META_PROPERTIES,
    QUORUM_STATE,
    read_leader_epochs,
    read_meta_properties,
    read_quorum_state,
)
from kraft.records.control_schemas import CONTROL_SCHEMAS
from kraft.records.json_text import fields_json
from kraft.records.metadata_schemas import METADATA_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kraft.log.findings import Finding
    from kraft.records.batch import RecordBatch
    from kraft.records.limits import Limits

__all__ = ["Row", "rows_of"]

Row = tuple[str, tuple[Any, ...]]
"""A table's name, and a value for each of its columns."""

_LINE_BYTES: Final = 256 * 1024
_TRACE_BYTES: Final = 64 * 1024 * 1024
_DETAIL_CHARACTERS: Final = 8_192
_LOG_LINE: Final = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (.*)"
)
_LOGGER: Final = re.compile(r" \(([\w.$]+)\)$", re.ASCII)


def rows_of(
    path: Path, kind: FileKind, file_id: str, limits: Limits, notes: list[str]
) -> Iterator[Row]:
    """Yield the rows of a file in their order; append oddities that are no errors to ``notes``.

    Raises ``UnreadableFileError``, ``CorruptRecordError`` or a subclass, or ``KraflaError`` (an
    invalid trace): then the rows before it belong to a file that is not whole.
    """
    if kind is FileKind.SEGMENT:
        findings: list[Finding] = []
        yield from _batches(iter_batches(path, limits=limits, findings=findings), file_id)
        notes += [f"{finding.kind.value}: {finding.detail}" for finding in findings]
    elif kind is FileKind.CHECKPOINT:
        yield from _batches(read_checkpoint(path, limits=limits), file_id)
    elif kind is FileKind.NODE_STATE:
        _check_state(path)
    elif kind is FileKind.SERVER_LOG:
        yield from _lines(path, file_id, limits)
    elif kind is FileKind.TRACE:
        yield from _steps(path, file_id, limits)
    elif kind is FileKind.UNFINISHED:
        notes.append("unfinished or being removed: not read")
    else:
        raise CorruptRecordError("no reader is for a file of this name", path=path)


def _check_state(path: Path) -> None:
    readers = {META_PROPERTIES: read_meta_properties, QUORUM_STATE: read_quorum_state}
    readers.get(path.name, read_leader_epochs)(path)


def _batches(batches: Iterable[RecordBatch], file_id: str) -> Iterator[Row]:
    for batch in batches:
        yield (
            BATCHES,
            (
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
            ),
        )
        at = batch.position
        for record in batch.metadata_records():
            key, version = record.api_key, record.version
            schema = METADATA_SCHEMAS[key]
            text = fields_json(schema.fields, version, redacted(key, record.fields))
            row = (file_id, record.offset, at, record.timestamp, False, schema.name, key, version)
            yield RECORDS, (*row, text)
        for control in batch.control_records():
            key, version = control.control_type, control.version
            schema = CONTROL_SCHEMAS[key]
            text = fields_json(schema.fields, version, control.fields)
            row = (file_id, control.offset, at, control.timestamp, True, schema.name, key, version)
            yield RECORDS, (*row, text)


def _lines(path: Path, file_id: str, limits: Limits) -> Iterator[Row]:
    """Yield a row for each entry of a log4j file; a line that begins none belongs to the last."""
    entry: tuple[int, str, str, str] | None = None
    for number, line in enumerate(_text_lines(path, limits), 1):
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


def _entry(file_id: str, entry: tuple[int, str, str, str]) -> Row:
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


def _steps(path: Path, file_id: str, limits: Limits) -> Iterator[Row]:
    """Yield a row for each step of a trace: its action, and its changes."""
    with open_regular(path, limits) as file:
        raw = file.read(_TRACE_BYTES + 1)
    if len(raw) > _TRACE_BYTES:
        raise LimitExceededError(f"the trace has more than {_TRACE_BYTES} bytes", path=path)
    trace = loads(_decoded(raw, path), path.name)
    for index, step in enumerate(trace.steps):
        known = None if step.parameters is None else [fmt(value) for value in step.parameters]
        changes = [str(change) for change in step_changes(trace, index)] if index else []
        detail = json.dumps({"parameters": known, "changes": changes}, ensure_ascii=False)
        row = (file_id, index + 2, "trace", "", "", trace.spec, step.action)
        yield EVENTS, (*row, detail)


def _text_lines(path: Path, limits: Limits) -> Iterator[str]:
    """Yield the lines of a text file that may be gzipped, in which no line is too long."""
    left, number = b"", 0
    with open_regular(path, limits) as file:
        while block := file.read(_LINE_BYTES):
            *lines, left = (left + block).split(b"\n")
            for line in lines:
                number += 1
                yield _line(line, path, number)
            if len(left) > _LINE_BYTES:
                raise LimitExceededError(
                    f"line {number + 1} has more than {_LINE_BYTES} bytes", path=path
                )
    if left:
        yield _line(left, path, number + 1)


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
