"""One task of an ingest: a list of files in, parts of the tables and a ledger out."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.pipeline.capture import Captured, capture
from krafla.pipeline.decode import rows_of
from krafla.pipeline.folders import write_whole
from krafla.pipeline.parts import FileRows, Part
from krafla.pipeline.sources import AUDITED, FileKind, Source
from krafla.pipeline.tables import BATCHES, CONTENT, EVENTS, RECORDS
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError, printable

if TYPE_CHECKING:
    from kraft.records.limits import Limits

__all__ = ["GOOD", "QUARANTINED", "Slice", "ledger_at", "read_slice"]

GOOD = "good"
QUARANTINED = "quarantined"
_TABLES = (BATCHES, RECORDS, EVENTS)


@dataclass(frozen=True, slots=True)
class Slice:
    """One task: its number, its files, its output folder, and its limits on memory."""

    number: int
    sources: tuple[Source, ...]
    folder: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a file is in quarantine: at which stage, for which reason, at which place in it."""

    stage: str
    reason: str
    place: str


def ledger_at(folder: Path, number: int) -> Path:
    """Return where a task says what became of its files, which it does last."""
    return folder / "slices" / f"{number:06}.json"


def read_slice(work: Slice) -> int:
    """Read the files of a slice; return how many milliseconds it took.

    A slice that was read before, by a task or a driver that has died since, is not read again.
    """
    folder = Path(work.folder)
    done = ledger_at(folder, work.number)
    if done.exists():
        return 0
    started = time.monotonic()
    parts = {name: Part(folder, name, f"{work.number:06}") for name in (*_TABLES, CONTENT)}
    with scratch_folder("ingest") as scratch:
        lines = [_read(source, parts, scratch, work.limits) for source in work.sources]
    for part in parts.values():
        part.close()
    milliseconds = round(1000 * (time.monotonic() - started))
    ledger = {"files": lines, "milliseconds": milliseconds}
    write_whole(done, json.dumps(ledger).encode())
    return milliseconds


def _read(source: Source, parts: dict[str, Part], scratch: Path, limits: Limits) -> dict[str, Any]:
    """Read one file into the parts; return its line of the ledger."""
    rows = {name: FileRows(parts[name], source.id) for name in _TABLES}
    content = FileRows(parts[CONTENT], source.id)
    captured: Captured | None = None
    notes: list[str] = []
    try:
        path = _utf8(source)
        if source.kind is not FileKind.UNFINISHED:
            captured = capture(path, scratch, limits, _keeper(source, content))
        at = path if captured is None else captured.path
        for table, row in rows_of(at, source.kind, source.id, limits, notes):
            rows[table].add(row)
        fault = None
    except (CorruptRecordError, UnreadableFileError, KraflaError) as error:
        stage = "decode" if captured is not None else "open"
        fault = _fault(error, stage if _is_utf8(source.path) else "name")
    if captured is not None:
        captured.path.unlink()
        if captured.changed:
            notes.append("the file changed while it was read: this is its beginning")
    for kept in rows.values():
        if fault is None:
            kept.keep()
        else:
            kept.drop()
    # Also of a broken file: an audit must see its fault.
    content.keep()
    return {
        "file_id": source.id,
        "path": source.path if fault is None or fault.stage != "name" else printable(source.path),
        "kind": source.kind.value,
        "bytes": source.bytes if captured is None else captured.bytes,
        "sha256": None if captured is None else captured.sha256,
        "note": "; ".join(notes),
        "fault": None if fault is None else [fault.stage, fault.reason, fault.place],
        **{name: rows[name].count if fault is None else 0 for name in _TABLES},
    }


def _utf8(source: Source) -> Path:
    if not _is_utf8(source.path):
        raise CorruptRecordError("the name of the file is not UTF-8")
    return Path(source.path)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _keeper(source: Source, content: FileRows) -> Any:
    if source.kind not in AUDITED:
        return lambda _piece, _block: None
    return lambda piece, block: content.add((source.id, piece, block), len(block))


def _fault(error: Exception, stage: str) -> _Fault:
    """Return the message of a reader, without the path of its private copy."""
    if isinstance(error, KraflaError):
        return _Fault(stage, printable(error.message), printable(error.place or ""))
    if isinstance(error, UnreadableFileError):
        return _Fault(stage, printable(error.reason), "")
    assert isinstance(error, CorruptRecordError)
    numbers = [
        f"{name} {number}"
        for name, number in (
            ("byte", error.position),
            ("batch at offset", error.base_offset),
            ("record at offset", error.offset),
            ("field", error.field),
        )
        if number is not None
    ]
    return _Fault(stage, printable(error.reason), printable(", ".join(numbers)))
