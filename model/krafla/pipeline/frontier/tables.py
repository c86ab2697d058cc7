"""Where a search keeps its tables, and the Spark that runs it.

The only place of a search that knows how loads become visible: a load is one set of files, and
counts from the moment its commit is written.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

__all__ = ["Commit", "SearchTables", "spark_of"]

_COMMITS = "load string, kind string, facts string"


@dataclass(frozen=True, slots=True)
class Commit:
    """A load that is visible, with what its writer says of it."""

    load: str
    kind: str
    facts: dict[str, Any]


class SearchTables:
    """Tables below a URI, as Parquet, load by load."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self._spark, self._uri = spark, uri.rstrip("/")

    def commits(self) -> list[Commit]:
        """Return the visible loads, in the order of their names."""
        try:
            rows = self._spark.read.schema(_COMMITS).parquet(f"{self._uri}/commits").collect()
        except AnalysisException as error:
            if "PATH_NOT_FOUND" not in str(error):
                raise KraflaError(str(error).splitlines()[0], self._uri) from error
            return []
        found = [Commit(row["load"], row["kind"], json.loads(row["facts"])) for row in rows]
        return sorted(found, key=lambda one: one.load)

    def write(self, table: str, load: str, frame: DataFrame) -> None:
        """Write the rows of a load, in place of those of an earlier try."""
        writer = frame.write.mode("overwrite").option("compression", "zstd")
        writer.parquet(self._at(table, load))

    def read(self, table: str, schema: str, loads: list[str]) -> DataFrame:
        """Return the rows of some loads."""
        paths = [self._at(table, load) for load in loads]
        return self._spark.read.schema(schema).parquet(*paths)

    def commit(self, load: str, kind: str, facts: dict[str, Any]) -> None:
        """Make a load visible."""
        row = [(load, kind, json.dumps(facts, sort_keys=True))]
        frame = self._spark.createDataFrame(row, _COMMITS).coalesce(1)
        frame.write.mode("overwrite").parquet(self._at("commits", load))

    def _at(self, table: str, load: str) -> str:
        return f"{self._uri}/{table}/load={load}"


@contextmanager
def spark_of(master: str | None, remote: str | None) -> Iterator[SparkSession]:
    """Yield a session: of a Connect server that runs (``remote``), or of its own (``master``)."""
    builder: Any = SparkSession.builder
    if remote is not None:
        spark = builder.remote(remote).getOrCreate()
    else:
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.driver.memory": "1g",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
            "spark.executorEnv.PYTHONHASHSEED": "0",
        }
        builder = builder.master(master or "local[*]").appName("krafla explore")
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
