"""The query of a watch: from the bytes of growing logs to where each directory stands."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.listing import absolute
from krafla.pipeline.session import told
from krafla.pipeline.watch.processor import ClusterProcessor
from krafla.pipeline.watch.standing import KEY, spark_standing, verdict_of_rows
from krafla.spark.log_source import KraftLogSource
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from krafla.pipeline.session import Session

__all__ = ["Trigger", "WatchOptions", "Watched", "standings", "storage_settings", "watch"]

_PROVIDER: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SETTINGS: Final = {
    "spark.sql.streaming.stateStore.providerClass": _PROVIDER,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
_PARTITIONS_MAX: Final = 64
_TRIGGER_BYTES: Final = 64 * 1024 * 1024
_NOTICED: Final = "noticed"
_LOOK_SECONDS: Final = 1
_CONTENT: Final = (
    *("path", "kind", "generation", "number", "position", "run", "is_last", "before"),
    *("first_offset", "content"),
)
_NO_TABLE: Final = frozenset({"PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"})


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How a watch runs: `every` seconds a trigger, or once over what is there.

    `fails_fast`: it ends at the first violation. `settings` are those of storages.
    """

    every: int = 10
    once: bool = False
    fails_fast: bool = False
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Trigger:
    """What one trigger has read: rows, directories of them, and batches that wait."""

    number: int
    rows: int
    directories: int
    waiting: int
    violated: int
    news: int


@dataclass(frozen=True, slots=True)
class Watched:
    """Where each directory and each cluster stands at the end of a watch."""

    out: str
    rows: tuple[dict[str, Any], ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on all; inconclusive if nothing was seen."""
        return verdict_of_rows(self.rows)


def storage_settings(options: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return those options ``NAME=VALUE`` of Spark that are settings of storages."""
    pairs = (option.partition("=")[::2] for option in options)
    return tuple(pair for pair in pairs if pair[0].startswith("spark.hadoop.fs."))


def watch(
    session: Session,
    sources: Sequence[str],
    out: str,
    options: WatchOptions,
    tell: Callable[[dict[str, Any], dict[str, Any]], None],
) -> Watched:
    """Judge the logs at or below the sources as they grow; return where they stand at the end.

    It ends if `options` say so, or with KeyboardInterrupt, which it takes for the wish to end.
    `tell` is called with each finding and the row that has it, first with those that OUT has from
    an earlier watch, with which this one goes on. ``KraflaError`` if a source cannot be read.
    """
    out, roots = absolute(out), [absolute(one) for one in sources]
    with told(session.log):
        for source in roots:
            if out == source or out.startswith(f"{source}/"):
                raise KraflaError(f"the output must not lie in what is read, {source}", out)
        session.phase("starting the watch")
        teller = _Teller(session, out, tell)
        rows = teller.look()
        if not (options.fails_fast and verdict_of_rows(rows) is Verdict.VIOLATED):
            query = _started(session, roots, out, options)
            try:
                _follow(query, session, teller, options)
            except KeyboardInterrupt:
                session.phase("ending the watch")
            finally:
                query.stop()
            rows = teller.look()
    if not rows and options.once:
        raise KraflaError("no metadata log is at or below these places", ", ".join(sources))
    return Watched(out, tuple(rows))


def standings(session: Session, out: str) -> list[dict[str, Any]]:
    """Return the latest row of each cluster and directory, in order; none if nothing was written.

    The row of a cluster as a whole has no directory.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql.functions import col, max_by, struct

    schema = spark_standing()
    try:
        table = session.spark.read.schema(schema).parquet(f"{absolute(out)}/watch/standings")
        latest = table.groupBy("cluster", "directory").agg(
            max_by(struct(*schema.fieldNames()), col("turn")).alias("row")
        )
        found = [one["row"].asDict(recursive=True) for one in latest.collect()]
    except AnalysisException as error:
        if error.getCondition() in _NO_TABLE:
            return []
        raise
    return sorted(found, key=lambda one: (one["cluster"], one["directory"] or ""))


class _Teller:
    """What was told already: each finding is told once."""

    def __init__(
        self, session: Session, out: str, tell: Callable[[dict[str, Any], dict[str, Any]], None]
    ) -> None:
        self._session, self._out, self._tell = session, out, tell
        self._told: set[tuple[Any, ...]] = set()

    def look(self) -> list[dict[str, Any]]:
        """Return the standings, and tell what is new in them."""
        rows = standings(self._session, self._out)
        for row in rows:
            for one in row["findings"]:
                key = (row["cluster"], row["directory"], *(one[name] for name in KEY))
                if key not in self._told:
                    self._told.add(key)
                    self._tell(row, one)
        return rows


def _started(
    session: Session, sources: Sequence[str], out: str, options: WatchOptions
) -> StreamingQuery:
    spark = session.spark
    spark.dataSource.register(KraftLogSource)
    for name, value in _SETTINGS.items():
        spark.conf.set(name, value)
    # Fixed at the first start: the checkpoint has it from then on.
    partitions = min(max(2, session.parallelism), _PARTITIONS_MAX)
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    reader = spark.readStream.format("kraft-log").option("table", "content")
    reader = reader.option("secrets", "show").option("maxBytesPerTrigger", str(_TRIGGER_BYTES))
    if options.once:
        # Nothing is looked at a second time, when it has settled.
        reader = reader.option("settleSeconds", "0")
    for name, value in options.settings:
        reader = reader.option(name, value)
    content = reader.option("paths", json.dumps([*sources])).load()
    writer = _judged(content).writeStream.format("parquet").outputMode("append")
    writer = writer.option("path", f"{out}/watch/standings").option("compression", "zstd")
    writer = writer.option("checkpointLocation", f"{out}/watch/checkpoint")
    if options.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{options.every} seconds").start()


def _judged(content: DataFrame) -> DataFrame:
    """Return where directories stand, by the bytes of their logs."""
    from pyspark.sql.functions import coalesce, col, count, count_if, lit, regexp_extract
    from pyspark.sql.functions import sum as total

    folder = regexp_extract("path", "^(.*)/[^/]*$", 1)
    # The checkpoint that a node is started with lies beside its log, and is not judged.
    logs = content.where(~col("path").rlike(r"/bootstrap\.checkpoint(\.gz)?$"))
    keyed = logs.select(coalesce("cluster_id", folder).alias("cluster"), *_CONTENT)
    found = keyed.groupBy("cluster").transformWithState(
        ClusterProcessor(), spark_standing(), "append", "none"
    )
    return found.observe(
        _NOTICED,
        count("directory").alias("directories"),
        coalesce(total("waiting"), lit(0)).alias("waiting"),
        count_if(col("verdict") == Verdict.VIOLATED.value).alias("violated"),
        coalesce(total("news"), lit(0)).alias("news"),
    )


def _follow(
    query: StreamingQuery, session: Session, teller: _Teller, options: WatchOptions
) -> None:
    """Tell what each trigger has brought, until the query ends."""
    last = -1
    is_over = False
    session.phase("judging what is there")
    began = time.monotonic()
    while not is_over:
        is_over = bool(query.awaitTermination(_LOOK_SECONDS))
        if last < 0:
            session.show(f"judging what is there, {time.monotonic() - began:.0f} s")
        for trigger in _triggers(query):
            if trigger.number <= last:
                continue
            last = trigger.number
            session.phase(_line(trigger))
            if trigger.news:
                teller.look()
            if trigger.violated and options.fails_fast:
                return


def _triggers(query: StreamingQuery) -> Iterator[Trigger]:
    for progress in query.recentProgress:
        noticed = progress.observedMetrics.get(_NOTICED)
        if noticed is not None and progress.numInputRows:
            yield Trigger(progress.batchId, progress.numInputRows, **_counts(noticed.asDict()))


def _counts(noticed: dict[str, Any]) -> dict[str, int]:
    """Return the observed numbers by name: a client of PySpark 4.3 gets them beside a schema."""
    if "schema" not in noticed:
        return noticed
    names = (one["name"] for one in noticed["schema"]["fields"])
    return dict(zip(names, noticed["values"], strict=True))


def _line(trigger: Trigger) -> str:
    waiting = f", {trigger.waiting:,} batches wait" if trigger.waiting else ""
    return (
        f"trigger {trigger.number}: {trigger.rows:,} pieces of {trigger.directories:,}"
        f" directories{waiting}"
    )
