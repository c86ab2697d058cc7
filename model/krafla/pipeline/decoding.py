"""Stored pieces as rows of the tables, in tasks: each run of pieces is decoded by itself.

Whether a file is whole is known only when all its runs are decoded. Until then its rows wait, as
blocks of Arrow's own format, beside the fault or the notes of their run.
"""

from __future__ import annotations

import time
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.collector import gc_paused
from krafla.pipeline.arrow import as_spark
from krafla.pipeline.decode import rows_of_pieces
from krafla.pipeline.faults import fault_of
from krafla.pipeline.pieces import piece_of
from krafla.pipeline.sources import FileKind
from krafla.pipeline.tables import BATCHES, EVENTS, RECORDS, SCHEMAS
from krafla.verdict import KraflaError
from kraft.errors import CorruptRecordError, UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from kraft.records.limits import Limits

__all__ = ["DECODED", "DECODED_TABLES", "END", "decoded", "rows_in"]

DECODED_TABLES: Final = (BATCHES, RECORDS, EVENTS)
END: Final = "end"
DECODED: Final = pa.schema(
    [
        ("file_id", pa.string()), ("run", pa.int32()), ("table", pa.string()),
        ("block", pa.binary()), ("rows", pa.int64()), ("stage", pa.string()),
        ("reason", pa.string()), ("place", pa.string()), ("notes", pa.list_(pa.string())),
        ("milliseconds", pa.int64()),
    ]
)  # fmt: skip
"""Blocks of rows, each of one table; and for each run one row of the table ``end``, with its fault
if it has one, what was noticed, and how long it took."""
_BLOCK_ROWS: Final = 16_384


def decoded(content: DataFrame, limits: Limits, parts: int) -> DataFrame:
    """Return what the pieces of the table ``content`` hold, as ``DECODED`` says.

    The runs of pieces are spread over so many tasks.
    """
    spread = content.repartition(parts, "file_id", "run")
    ordered = spread.sortWithinPartitions("file_id", "run", "number")
    return ordered.mapInArrow(_decoder(limits), as_spark(DECODED))


def _decoder(limits: Limits) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (
            batch.slice(index, 1).to_pylist()[0]
            for batch in batches
            for index in range(batch.num_rows)
        )
        with gc_paused():
            for (file_id, run), pieces in groupby(rows, lambda row: (row["file_id"], row["run"])):
                for row in _run_rows(file_id, pieces, limits):
                    yield pa.RecordBatch.from_pylist(
                        [{"file_id": file_id, "run": run} | row], DECODED
                    )

    return decode


def _run_rows(
    file_id: str, rows: Iterator[dict[str, Any]], limits: Limits
) -> Iterator[dict[str, Any]]:
    """Yield the blocks of one run of pieces, and its end."""
    started = time.monotonic()
    first = next(rows)
    waiting: dict[str, list[tuple[Any, ...]]] = {name: [] for name in DECODED_TABLES}
    end: dict[str, Any] = {"table": END, "rows": 0}
    notes: list[str] = []

    def pieces() -> Iterator[Any]:
        yield piece_of(first)
        yield from map(piece_of, rows)

    try:
        found = rows_of_pieces(
            first["name"], FileKind(first["kind"]), file_id, pieces(), limits, notes
        )
        for table, row in found:
            kept = waiting[table]
            kept.append(row)
            if len(kept) >= _BLOCK_ROWS:
                yield _block(table, kept)
                waiting[table] = []
    except (CorruptRecordError, UnreadableFileError, KraflaError) as error:
        fault = fault_of(error, "decode")
        end |= {"stage": fault.stage, "reason": fault.reason, "place": fault.place}
        for _ in rows:
            # The rest of the run is passed over: the next run begins after it.
            pass
    for table, kept in waiting.items():
        if kept:
            yield _block(table, kept)
    yield end | {"notes": notes, "milliseconds": round(1000 * (time.monotonic() - started))}


def _block(table: str, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    schema = SCHEMAS[table]
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return {"table": table, "block": sink.getvalue().to_pybytes(), "rows": len(rows)}


def rows_in(frame: DataFrame, table: str, schema: StructType) -> DataFrame:
    """Return the rows of one table in the blocks of a frame of ``DECODED``."""
    return frame.where(f"table = '{table}'").select("block").mapInArrow(_unpack, schema)


def _unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for block in batch.column("block"):
            with pa.ipc.open_stream(block.as_buffer()) as reader:
                yield from reader
