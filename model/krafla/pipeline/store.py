"""Tables at a URI: rows become visible when their load is committed, and not before.

A load is what one command adds. Its rows lie in ``URI/TABLE/load=<id>/``, written by Spark in any
way that its storage has. One row in ``URI/commits/load=<id>/``, written last, makes them visible.
So nothing relies on a rename: whatever a killed command left is not read, and the next try with the
same load writes over it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["COMMITS", "FORMAT", "Commit", "Store", "load_id"]

COMMITS: Final = "commits"
FORMAT: Final = 1
"""The version of the tables. A store of a newer krafla is refused; of an older one, columns that it
lacks are null."""
_LOAD: Final = "load"
_COMMIT_COLUMNS: Final = "kind string, format int, tables array<string>, facts string"
_NOT_THERE: Final = "PATH_NOT_FOUND"
_NO_ROWS: Final = "UNABLE_TO_INFER_SCHEMA"


@dataclass(frozen=True, slots=True)
class Commit:
    """A load that is whole: its id, what kind of command made it, its tables, facts about it."""

    load: str
    kind: str
    tables: tuple[str, ...]
    facts: dict[str, Any]


def load_id(*parts: object) -> str:
    """Return the id of a load that these values decide: the same for the same values."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Store:
    """The tables below a URI, which any storage of the Spark session may hold.

    ``schemas`` gives the columns of each table. A path without a scheme is a folder of the machine
    where Spark's driver runs.
    """

    def __init__(self, spark: SparkSession, uri: str, schemas: Mapping[str, StructType]) -> None:
        self.spark = spark
        self.uri = uri.rstrip("/") or "/"
        self._schemas = schemas
        self._known: list[Commit] | None = None
        self._written: dict[str, set[str]] = {}

    def commits(self, *kinds: str) -> list[Commit]:
        """Return the committed loads of these kinds, or of all, in order of their ids.

        ``KraflaError`` if the store is of a newer krafla, or is none.
        """
        if self._known is None:
            self._known = self._read_commits()
        return [one for one in self._known if not kinds or one.kind in kinds]

    def refresh(self) -> None:
        """Forget the commits that were seen: others may have come."""
        self._known = None

    def refuse_others(self, *kinds: str) -> None:
        """Raise ``KraflaError`` if the store has loads of other kinds than these.

        Logs and campaigns have tables of equal names with other columns.
        """
        others = sorted({one.kind for one in self.commits()} - {*kinds})
        if others:
            raise KraflaError(
                f"this has the tables of another command ({', '.join(others)}): choose another OUT",
                printable(self.uri),
            )

    def is_committed(self, load: str) -> bool:
        """Return whether a load is whole."""
        return any(one.load == load for one in self.commits())

    def committed(self, *kinds: str) -> DataFrame:
        """Return a row for each committed load of these kinds: ``load``, ``kind``, ``facts``.

        ``committed_ms`` is when its storage says that the commit was written.
        """
        loads = [one.load for one in self.commits(*kinds)]
        rows = self.spark.read.schema(f"{_COMMIT_COLUMNS}, {_LOAD} string").parquet(
            f"{self.uri}/{COMMITS}"
        )
        at = "unix_millis(_metadata.file_modification_time) AS committed_ms"
        return rows.selectExpr(_LOAD, "kind", "facts", at).where(rows[_LOAD].isin(loads))

    def read(self, table: str, *kinds: str) -> DataFrame:
        """Return the rows of a table in the committed loads of these kinds, or of all.

        The column ``load`` is added. A table that no load has written is empty.
        """
        loads = [one.load for one in self.commits(*kinds) if table in one.tables]
        return self._rows(table, loads)

    def written(self, table: str, load: str) -> DataFrame:
        """Return the rows that a load, committed or not, has written into a table."""
        return self.spark.read.schema(self._schemas[table]).parquet(self._at(table, load))

    def count_written(self, tables: Sequence[str], load: str) -> dict[str, int]:
        """Return how many rows a load, committed or not, has in each of these tables."""
        if not tables:
            return {}
        counts = [
            self.written(table, load).selectExpr(f"'{table}' AS name", "count(*) AS rows")
            for table in tables
        ]
        return {
            row["name"]: row["rows"]
            for row in reduce(lambda one, other: one.union(other), counts).collect()
        }

    def write(
        self, table: str, load: str, frame: DataFrame, *, group_rows: int | None = None
    ) -> None:
        """Write the rows of a load in a table, over what an earlier try has left there.

        A task that reads them holds at most ``group_rows`` at once, or else 4,096: large rows want
        few. ``KraflaError`` if the load is committed: its rows never change.
        """
        if load not in self._written:
            # The same command may have run elsewhere since.
            self.refresh()
        if self.is_committed(load):
            raise KraflaError(f"the load {load} is committed: it is not written again", self.uri)
        names = self._schemas[table].fieldNames()
        writer = frame.select(*names).write.mode("overwrite").option("compression", "zstd")
        if group_rows is not None:
            # Spark's reader takes no batch of rows across the end of a Parquet row group.
            writer = writer.option("parquet.block.row.count.limit", group_rows)
        writer.parquet(self._at(table, load))
        self._written.setdefault(load, set()).add(table)

    def commit(self, load: str, kind: str, facts: dict[str, Any]) -> Commit:
        """Make the rows that were written for a load visible, and return the commit."""
        tables = tuple(sorted(self._written.pop(load, ())))
        row = (kind, FORMAT, list(tables), json.dumps(facts, sort_keys=True))
        frame = self.spark.createDataFrame([row], _COMMIT_COLUMNS)
        frame.coalesce(1).write.mode("overwrite").parquet(self._at(COMMITS, load))
        made = Commit(load, kind, tables, facts)
        self._known = sorted([*self.commits(), made], key=lambda one: one.load)
        return made

    def _at(self, table: str, load: str) -> str:
        return f"{self.uri}/{table}/{_LOAD}={load}"

    def _rows(self, table: str, loads: list[str]) -> DataFrame:
        from pyspark.sql.functions import col
        from pyspark.sql.types import StringType, StructField, StructType

        load = StructField(_LOAD, StringType())
        schema = StructType([*self._schemas[table].fields, load])
        if not loads:
            return self.spark.createDataFrame([], schema)
        return (
            self.spark.read.schema(schema)
            .parquet(f"{self.uri}/{table}")
            .where(col(_LOAD).isin(loads))
        )

    def _read_commits(self) -> list[Commit]:
        from pyspark.errors import AnalysisException

        frame = self.spark.read.schema(f"{_COMMIT_COLUMNS}, {_LOAD} string")
        try:
            rows = frame.parquet(f"{self.uri}/{COMMITS}").collect()
        except AnalysisException as error:
            if error.getCondition() in {_NOT_THERE, _NO_ROWS}:
                return []
            raise
        newer = max((row["format"] for row in rows), default=FORMAT)
        if newer > FORMAT:
            raise KraflaError(
                f"these tables have format {newer}, this krafla reads {FORMAT}: use the newer one",
                self.uri,
            )
        found = [
            Commit(row[_LOAD], row["kind"], tuple(row["tables"]), json.loads(row["facts"]))
            for row in rows
        ]
        return sorted(found, key=lambda one: one.load)
