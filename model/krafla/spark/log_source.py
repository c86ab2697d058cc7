"""The format ``kraft-log``: files of metadata logs, and what lies beside them, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from krafla.pipeline.source_options import Options, options_of, sources_of
from krafla.pipeline.sources import FileKind, Source, slices
from krafla.pipeline.storage import Storages
from krafla.pipeline.stored_tables import LOG_SCHEMAS, Share, file_batches
from krafla.pipeline.tables import CONTENT, FILES, QUARANTINE, RECORDS
from krafla.spark.log_stream import STREAM_TABLES, LogStreamReader
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql.types import StructType

__all__ = ["KraftLogSource"]

_PARTITIONS_MAX: Final = 4_000
_PARTS_MAX: Final = 16


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
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(LOG_SCHEMAS[self._options().table])

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
    """Reads each file once; with ``mode`` FAILFAST the parts of a large one in several tasks.

    It takes no filters from Spark: PySpark 4.3 keeps the reader of a DataFrame that was filtered,
    with what it has pushed into it, for every later use of the unfiltered one. The option ``types``
    saves the same work.
    """

    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """Return the files in groups of about equal size."""
        options = self._options
        sources = sources_of(options)
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

        Whether a file is whole is known only when all of it has been decoded. So its rows are given
        by one task, unless a fault is an error anyhow. Each part reads the file to its end, for the
        digest that is its key, and decodes its share.
        """
        options = self._options
        is_log = source.kind in (FileKind.SEGMENT, FileKind.CHECKPOINT)
        if not options.fails or not is_log or options.table in (FILES, QUARANTINE, CONTENT):
            return 1
        return max(1, min(source.bytes // options.partition_bytes, _PARTS_MAX))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files of a task."""
        assert isinstance(partition, LogPartition)
        storages = Storages(self._options.settings)
        for share in partition.shares:
            storage = storages.of(share.source.path)
            yield from file_batches(storage, share, self._options.question)
