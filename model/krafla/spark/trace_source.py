"""The format ``krafla-trace``: a row for each step of traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from krafla.pipeline.sources import FileKind, Source, slices
from krafla.pipeline.storage import Storages
from krafla.spark.options import Options, options_of, sources_of
from krafla.spark.trace_rows import STEPS, TRACE_SCHEMAS, trace_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql.types import StructType

__all__ = ["TraceSource"]


class TraceSource(DataSource):
    """Traces (``.ndjson``, also gzipped) at a URI. Option ``table``: ``steps``, ``quarantine``."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "krafla-trace"

    def schema(self) -> StructType:
        """Return the columns of the table that is asked for."""
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(TRACE_SCHEMAS[self._options().table])

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's name
        """Return what reads the traces."""
        return TraceReader(self._options())

    def _options(self) -> Options:
        return options_of(self.options, TRACE_SCHEMAS, STEPS)


@dataclass(frozen=True)
class TracePartition(InputPartition):
    """The traces of one task."""

    sources: tuple[Source, ...]


class TraceReader(DataSourceReader):
    """Reads each trace once."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """Return the traces in groups of about equal size."""
        traces = [one for one in sources_of(self._options) if one.kind is FileKind.TRACE]
        count = max(1, sum(one.bytes for one in traces) // self._options.partition_bytes)
        groups = slices(traces, min(count, max(1, len(traces))))
        return [TracePartition(group) for group in groups] or [TracePartition(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the steps of the traces of a task."""
        assert isinstance(partition, TracePartition)
        options = self._options
        storages = Storages(options.settings)
        for source in partition.sources:
            storage = storages.of(source.path)
            yield from trace_batches(storage, source, options.table, options.fails, options.limits)
