"""The stored bytes of files as rows, one for each piece: read once, in tasks, from any storage."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.audit.server_logs.settings import told_settings
from krafla.pipeline.arrow import as_spark
from krafla.pipeline.faults import Fault, fault_of
from krafla.pipeline.file_copy import CHANGED, copied
from krafla.pipeline.listing import binary_files, is_local
from krafla.pipeline.pieces import cut, file_id_of, piece_values
from krafla.pipeline.sources import FileKind, Source
from krafla.pipeline.storage import storage_of
from krafla.pipeline.tables import CONTENT, SCHEMAS
from kraft.errors import (
    CorruptRecordError,
    LimitExceededError,
    UnreadableFileError,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from kraft.records.limits import Limits

__all__ = ["PIECES", "pieces_of_files"]

PIECES: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("path", "sha256", "note", "stage", "reason", "place")),
        ("bytes", pa.int64()),
        *SCHEMAS[CONTENT],
    ]
)
"""One row for each piece, with what is known of its file. Of a file that cannot be opened there is
one row without content."""
_BATCH_BYTES: Final = 8 * 1024 * 1024
_BATCH_ROWS: Final = 1_000
_TOLD: Final = "only the settings that an audit reads are kept"
# Spark cannot hand on one value of 2 GiB, and needs room for the rest of the row.
BINARY_BYTES_MAX: Final = 2**31 - 2**26


def pieces_of_files(
    spark: SparkSession, sources: Sequence[Source], limits: Limits, parts: int
) -> DataFrame:
    """Return the pieces of these files, as ``PIECES`` says, read in about so many tasks."""
    local = [one for one in sources if is_local(one.path)]
    other = [one for one in sources if not is_local(one.path)]
    frames = []
    if local:
        rows = [(os.fsencode(one.path), one.kind.value) for one in local]
        asked = spark.createDataFrame(rows, "path binary, kind string")
        spread = asked.repartition(min(parts, len(rows)))
        frames.append(spread.mapInArrow(_reader(_local_rows, limits), as_spark(PIECES)))
    if other:
        kinds = {one.path: one.kind.value for one in other}
        whole = [one.path for one in other if one.bytes <= min(limits.file_bytes, BINARY_BYTES_MAX)]
        frames += [_from_binary(spark, whole, kinds, limits)] if whole else []
        large = [one for one in other if one.path not in set(whole)]
        frames += [_refused(spark, large, limits)] if large else []
    united = frames[0]
    for frame in frames[1:]:
        united = united.unionByName(frame)
    return united


def _from_binary(
    spark: SparkSession, paths: list[str], kinds: dict[str, str], limits: Limits
) -> DataFrame:
    named = spark.createDataFrame(list(kinds.items()), "path string, kind string")
    found = binary_files(spark, paths).select("path", "content").join(named, "path")
    return found.mapInArrow(_reader(_binary_rows, limits), as_spark(PIECES))


def _refused(spark: SparkSession, sources: Sequence[Source], limits: Limits) -> DataFrame:
    cap = min(limits.file_bytes, BINARY_BYTES_MAX)
    error = LimitExceededError(f"the file has more than {cap} bytes")
    rows = [_fault_row(_Named.of(one), fault_of(error, "open"), one.bytes) for one in sources]
    return spark.createDataFrame(
        [tuple(map(row.get, PIECES.names)) for row in rows], as_spark(PIECES)
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """A file as the tables name it: where it lies, its own name, its kind."""

    path: str
    name: str
    kind: FileKind

    @staticmethod
    def of(source: Source) -> _Named:
        return _Named(source.path, PurePosixPath(source.path).name, source.kind)


def _reader(
    rows_of: Callable[[dict[str, Any], Limits], Iterator[dict[str, Any]]], limits: Limits
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of a task: files in, their pieces out, a few at a time."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[dict[str, Any]] = []
        size = 0
        for batch in batches:
            for asked in _one_by_one(batch):
                for row in rows_of(asked, limits):
                    waiting.append(row)
                    size += len(row.get("content") or b"")
                    if size >= _BATCH_BYTES or len(waiting) >= _BATCH_ROWS:
                        yield pa.RecordBatch.from_pylist(waiting, PIECES)
                        waiting, size = [], 0
        if waiting:
            yield pa.RecordBatch.from_pylist(waiting, PIECES)

    return read


def _one_by_one(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch; only one of them is held as Python's own at a time."""
    for index in range(batch.num_rows):
        yield batch.slice(index, 1).to_pylist()[0]


def _local_rows(asked: dict[str, Any], limits: Limits) -> Iterator[dict[str, Any]]:
    """Yield the pieces of a local file; or the one row that says why there are none."""
    path = os.fsdecode(asked["path"])
    kind = FileKind(asked["kind"])
    try:
        path.encode()
    except UnicodeEncodeError:
        named = _Named(printable(path), printable(Path(path).name), kind)
        yield _fault_row(named, fault_of(CorruptRecordError(
            "the name of the file is not UTF-8"), "name"), 0)  # fmt: skip
        return
    named = _Named(path, Path(path).name, kind)
    if kind is FileKind.UNFINISHED:
        yield _fault_row(named, None, 0)
        return
    try:
        with storage_of(path, {}).open(path) as file, copied(file, limits) as copy:
            if kind is FileKind.SETTINGS:
                yield from _settings_rows(named, copy.stream.read(), limits)
                return
            note = CHANGED if copy.has_changed else ""
            yield from _piece_rows(named, copy.stream, copy.size, copy.sha256, note, limits)
    except (CorruptRecordError, UnreadableFileError) as error:
        yield _fault_row(named, fault_of(error, "open"), 0)


def _binary_rows(asked: dict[str, Any], limits: Limits) -> Iterator[dict[str, Any]]:
    """Yield the pieces of a file that Spark has read."""
    path, content = asked["path"], asked["content"]
    named = _Named(path, PurePosixPath(path).name, FileKind(asked["kind"]))
    if named.kind is FileKind.UNFINISHED:
        yield _fault_row(named, None, len(content))
        return
    if named.kind is FileKind.SETTINGS:
        yield from _settings_rows(named, content, limits)
        return
    sha256 = hashlib.sha256(content).hexdigest()
    yield from _piece_rows(named, io.BytesIO(content), len(content), sha256, "", limits)


def _settings_rows(named: _Named, content: bytes, limits: Limits) -> Iterator[dict[str, Any]]:
    """Yield what an audit reads of a properties file, as if the file had nothing else."""
    told = told_settings(content)
    sha256 = hashlib.sha256(told).hexdigest()
    yield from _piece_rows(named, io.BytesIO(told), len(told), sha256, _TOLD, limits)


def _piece_rows(
    named: _Named, stream: Any, size: int, sha256: str, note: str, limits: Limits
) -> Iterator[dict[str, Any]]:
    known = {
        "path": named.path, "name": named.name, "kind": named.kind.value, "bytes": size,
        "sha256": sha256, "file_id": file_id_of(named.name, sha256), "note": note,
    }  # fmt: skip
    for piece in cut(stream, named.name, named.kind, limits):
        yield known | piece_values(piece)


def _fault_row(named: _Named, fault: Fault | None, size: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": named.path, "name": named.name, "kind": named.kind.value, "bytes": size,
        "note": "", "number": 0,
    }  # fmt: skip
    if fault is not None:
        row |= {"stage": fault.stage, "reason": fault.reason, "place": fault.place}
    else:
        row["note"] = "unfinished or being removed: not read"
    return row
