"""The format ``kraft-log``: files of metadata logs, and what lies beside them, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from krafla.pipeline.arrow import as_spark
from krafla.pipeline.sources import AUDITED, FileKind, Source, slices
from krafla.pipeline.storage import Storages
from krafla.pipeline.tables import BATCHES, CONTENT, EVENTS, RECORDS
from krafla.spark.log_stream import STREAM_TABLES, LogStreamReader
from krafla.spark.options import Options, options_of, sources_of
from krafla.spark.source_tables import LOG_SCHEMAS, Share, file_batches
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql.types import StructType

__all__ = ["KraftLogSource"]

_PARTITIONS_MAX: Final = 4_000
_PARTS_MAX: Final = 16
_LOGS: Final = frozenset({FileKind.SEGMENT, FileKind.CHECKPOINT})
_KINDS: Final = {
    RECORDS: _LOGS,
    BATCHES: _LOGS,
    EVENTS: frozenset({FileKind.SERVER_LOG, FileKind.TRACE}),
    CONTENT: AUDITED - {FileKind.UNFINISHED},
}
"""The kinds of file that have rows in a table; the others have all."""


class KraftLogSource(DataSource):
    """Segments, checkpoints, node states, server logs and traces at a URI.

    Option ``table``: ``records``, ``batches``, ``events``, ``quarantine``, ``files``, ``content``.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "kraft-log"

    def schema(self) -> StructType:
        """Return the columns of the table that is asked for."""
        return as_spark(LOG_SCHEMAS[self._options().table])

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's name
        """Return what reads the files that are there now."""
        return LogReader(self._options())

    def streamReader(  # noqa: N802 - Spark's name
        self,
        schema: StructType,  # noqa: ARG002 - Spark's name
    ) -> LogStreamReader:
        """Return what reads the files as they grow and come."""
        options = self._options()
        if options.table not in STREAM_TABLES:
            raise KraflaError(
                f"a stream has no table {options.table}; it has {', '.join(STREAM_TABLES)}"
            )
        return LogStreamReader(options)

    def _options(self) -> Options:
        options = options_of(self.options, LOG_SCHEMAS, RECORDS)
        if options.table == CONTENT and not options.choice.secrets:
            raise KraflaError(
                "the table content has the bytes of logs, with all their secrets: it wants the"
                " option secrets=show"
            )
        return options


@dataclass(frozen=True)
class LogPartition(InputPartition):
    """The files of one task, or a part of one file."""

    shares: tuple[Share, ...]


class LogReader(DataSourceReader):
    """Reads each file in one task, a large segment or checkpoint in several.

    It takes no filters from Spark: PySpark 4.3 keeps the reader of a DataFrame that was filtered,
    with what it has pushed into it, for every later use of the unfiltered one. The option ``types``
    saves the same work.
    """

    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """Return the files in groups of about equal size."""
        options = self._options
        kinds = _KINDS.get(options.table, frozenset(FileKind))
        sources = [one for one in sources_of(options) if one.kind in kinds]
        total = sum(one.bytes for one in sources)
        if not sources:
            return [LogPartition(())]
        count = min(max(1, -(-total // options.partition_bytes)), _PARTITIONS_MAX, len(sources))
        large = [one for one in sources if self._parts(one) > 1]
        small = [one for one in sources if self._parts(one) == 1]
        found = [
            LogPartition((Share(one, part, self._parts(one)),))
            for one in large
            for part in range(self._parts(one))
        ]
        groups = slices(small, count) if small else []
        return [*found, *(LogPartition(tuple(map(Share, group))) for group in groups)]

    def _parts(self, source: Source) -> int:
        """Return into how many parts a file is cut.

        Each part reads the file to its end, for the digest that is its key. Unless a fault is an
        error anyhow, each also checks all of the file: its rows are given only if it is whole.
        """
        if self._options.table not in (RECORDS, BATCHES):
            return 1
        return max(1, min(source.bytes // self._options.partition_bytes, _PARTS_MAX))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files of a task."""
        assert isinstance(partition, LogPartition)
        storages = Storages(self._options.settings)
        for share in partition.shares:
            storage = storages.of(share.source.path)
            yield from file_batches(storage, share, self._options.question)
