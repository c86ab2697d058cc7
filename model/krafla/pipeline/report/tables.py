"""The tables of a report: each asked once, by SQL; every form of the report shows these rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.arrow import as_spark
from krafla.pipeline.listing import absolute
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ROWS_MAX", "ReportTables", "Row", "check_apart"]

ROWS_MAX: Final = 1_000
"""The most rows of a table that lists single things; the store has all of them."""


Row = dict[str, Any]
"""A row of a table: the value of each column."""


@dataclass(slots=True)
class ReportTables:
    """The tables of a report, by name, with the frames of the store that queries name.

    A query names a frame in braces: ``{files}``.
    """

    spark: SparkSession
    frames: dict[str, DataFrame] = field(default_factory=dict)
    _kept: dict[str, pa.Table] = field(default_factory=dict)
    _rows: dict[str, list[Row]] = field(default_factory=dict)

    def ask(self, queries: Mapping[str, str], **values: Any) -> None:
        """Ask queries, each for a table of this name; ``:name`` in one is a value, or a list."""
        from pyspark.sql.functions import array, lit

        given = {
            name: array(*map(lit, value)) if isinstance(value, list) else value
            for name, value in values.items()
        }
        for name, query in queries.items():
            self.keep(name, self.spark.sql(query, args=given, **self.frames))

    def keep(self, name: str, frame: DataFrame) -> None:
        """Make a small frame a table."""
        self._kept[name] = frame.toArrow()
        self._rows[name] = self._kept[name].to_pylist()

    def give(self, name: str, columns: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Make rows a frame that queries can name; ``columns`` has names and types as DDL."""
        self.frames[name] = self.spark.createDataFrame(list(rows), columns)

    def __getitem__(self, name: str) -> list[Row]:
        """Return the rows of a table, in order."""
        return self._rows[name]

    def __contains__(self, name: str) -> bool:
        """Return whether there is such a table."""
        return name in self._rows

    def write(self, uri: str) -> list[str]:
        """Write each table as Parquet to ``URI/NAME``, over an older one; return their names."""
        for name, table in self._kept.items():
            # Spark Connect takes no table without rows.
            rows = table if table.num_rows else []
            frame = self.spark.createDataFrame(rows, as_spark(table.schema))
            frame.coalesce(1).write.mode("overwrite").parquet(f"{uri}/{name}")
        return [*self._kept]


def check_apart(uri: str, store: str) -> str:
    """Return where tables go, in full; ``KraflaError`` if that would overwrite the store's."""
    place = absolute(uri)
    if place == store or place.startswith(f"{store}/") or store.startswith(f"{place}/"):
        raise KraflaError(
            "the report's tables must lie outside the store, whose tables have the same names:"
            " give --tables another place",
            printable(place),
        )
    return place
