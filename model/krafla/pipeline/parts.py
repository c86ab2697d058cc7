"""Writing rows into Parquet, file by file: all rows of a file or none of them.

Rows of small files share a part. A file with many rows gets a part of its own, written as it goes,
so that memory does not grow with it; it is removed if the file turns out broken.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # pyarrow ships no types

from krafla.pipeline.tables import SCHEMAS

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FileRows", "Part", "count_rows", "write_table"]

_IN_MEMORY: Final = 50_000
"""Rows, each counted as one and for every KiB of bytes in it as one more."""
_COMPRESSION: Final = "zstd"


class Part:
    """The shared part of one table in one task: rows of whole files only."""

    def __init__(self, folder: Path, table: str, name: str) -> None:
        self.table = table
        self._folder = folder / table
        self._name = name
        self._waiting: list[pa.Table] = []
        self._weight = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, rows: list[tuple[Any, ...]], weight: int) -> None:
        """Add rows of a file that was read to its end."""
        if rows:
            self._waiting.append(as_table(self.table, rows))
            self._weight += weight
        if self._weight >= _IN_MEMORY:
            self._flush()

    def path(self, suffix: str = "") -> Path:
        """Return where a part of this table lies once it is whole."""
        return self._folder / f"part-{self._name}{suffix}.parquet"

    def draft(self, suffix: str = "") -> Path:
        """Return where this process writes it until then."""
        return self._folder / f".part-{self._name}{suffix}.{os.getpid()}.draft"

    def close(self) -> None:
        """Put the part in its place; without rows there is none."""
        self._flush()
        if self._writer is not None:
            self._writer.close()
            self.draft().replace(self.path())

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._writer is None:
            self._writer = writer(self.table, self.draft())
        self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting, self._weight = [], 0


class FileRows:
    """The rows of one file for one table, until it is known whether the file is whole."""

    def __init__(self, part: Part, file_id: str) -> None:
        self.count = 0
        self._part = part
        self._suffix = f"-{file_id}"
        self._rows: list[tuple[Any, ...]] = []
        self._weight = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, row: tuple[Any, ...], size: int = 0) -> None:
        """Add one row that holds this many bytes."""
        self._rows.append(row)
        self._weight += 1 + size // 1024
        self.count += 1
        if self._weight >= _IN_MEMORY:
            self._spill()

    def keep(self) -> None:
        """Make the rows part of the table."""
        if self._writer is None:
            self._part.add(self._rows, self._weight)
            return
        self._spill()
        self._writer.close()
        self._part.draft(self._suffix).replace(self._part.path(self._suffix))

    def drop(self) -> None:
        """Forget the rows."""
        self._rows = []
        if self._writer is not None:
            self._writer.close()
            self._part.draft(self._suffix).unlink()

    def _spill(self) -> None:
        if self._writer is None:
            self._writer = writer(self._part.table, self._part.draft(self._suffix))
        if self._rows:
            self._writer.write_table(as_table(self._part.table, self._rows))
        self._rows, self._weight = [], 0


def write_table(folder: Path, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Write a whole table as one part; with no rows, one that has only columns."""
    path = folder / table / "part-0.parquet"
    with writer(table, path) as file:
        file.write_table(as_table(table, rows))


def count_rows(folder: Path) -> int:
    """Return how many rows the parts of a table hold, by Parquet's own count."""
    return sum(pq.read_metadata(part).num_rows for part in sorted(folder.glob("part-*.parquet")))


def as_table(table: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Return rows as an Arrow table with the documented columns."""
    schema = SCHEMAS[table]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    return pa.Table.from_arrays(
        [pa.array(column, f.type) for column, f in zip(columns, schema, strict=True)],
        schema=schema,
    )


def writer(table: str, path: Path) -> pq.ParquetWriter:
    """Return a writer of one Parquet file of a table."""
    return pq.ParquetWriter(path, SCHEMAS[table], compression=_COMPRESSION)
