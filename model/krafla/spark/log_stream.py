"""``kraft-log`` as a stream: segments that grow, and files that come, each batch exactly once."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from krafla.pipeline.storage import Storages
from krafla.pipeline.tables import BATCHES, CONTENT, QUARANTINE, RECORDS
from krafla.spark.growth import STREAMED, FileProgress, Watch, cluster_id_of, grows
from krafla.spark.options import Options, sources_of
from krafla.spark.stream_rows import Stretch, stretch_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

    from krafla.pipeline.sources import Source

__all__ = ["STREAM_TABLES", "LogStreamReader"]

STREAM_TABLES: Final = (RECORDS, BATCHES, QUARANTINE, CONTENT)

_FORMAT: Final = 1
_NS: Final = 1_000_000_000
_UNLIMITED: Final = 2**63


@dataclass(frozen=True)
class StretchPartition(InputPartition):
    """What one task reads of some files."""

    stretches: tuple[Stretch, ...]


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """An offset has, for each file, how far it was read: Spark's checkpoint is all that is kept."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._frozen: list[Source] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return the offset before all files."""
        return {"format": _FORMAT, "files": {}, "clusters": {}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Return the limit of the option ``maxBytesPerTrigger``."""
        most = self._options.trigger_bytes
        return ReadAllAvailable() if most is None else ReadMaxBytes(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Keep to the files, and to as much of them, as is there now."""
        self._frozen = self._listed()

    def latestOffset(  # noqa: N802 - Spark's name
        self, start: dict[str, Any], limit: ReadLimit
    ) -> dict[str, Any]:
        """Return how far the files can be read within the limit, in their order."""
        room = limit.max_bytes if isinstance(limit, ReadMaxBytes) else _UNLIMITED
        files_left = limit.max_files if isinstance(limit, ReadMaxFiles) else _UNLIMITED
        known = _files(start)
        sources = self._listed() if self._frozen is None else self._frozen
        newest = _newest_segments(sources)
        storages = Storages(self._options.settings)
        watch = Watch(
            self._options.limits, self._options.settle_seconds * _NS, time.time_ns()
        )  # fmt: skip
        found = dict(known)
        for source in sorted(sources, key=_turn):
            if room <= 0 or files_left <= 0:
                break
            before = known.get(source.path)
            folder, _, name = source.path.rpartition("/")
            is_closed = grows(source) and name < newest[folder]
            storage = storages.of(source.path)
            after = watch.reach(storage, source, before, room, is_closed)
            if after is None or after == before:
                continue
            found[source.path] = after
            room -= after.end - (before.end if before and _goes_on(before, after) else 0)
            files_left -= 1
        return {
            "format": _FORMAT,
            "files": {path: found[path].as_json() for path in sorted(found)},
            "clusters": self._clusters(start.get("clusters", {}), found, storages),
        }

    def _clusters(
        self, known: dict[str, str], found: Iterable[str], storages: Storages
    ) -> dict[str, str]:
        """Return the cluster id of each folder, which stays what it was at the first look.

        A folder whose node names none has an empty one.
        """
        if self._options.table != CONTENT:
            return known
        folders = sorted({path.rpartition("/")[0] for path in found})
        return {
            folder: known[folder] if folder in known else cluster_id_of(storages, folder)
            for folder in folders
        }

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return the stretches of files between two offsets, in groups of about equal size."""
        known, clusters = _files(start), end.get("clusters", {})
        groups: list[list[Stretch]] = []
        size = 0
        for path, after in sorted(_files(end).items()):
            stretch = _stretch(path, known.get(path), after)
            if stretch is None:
                continue
            cluster_id = clusters.get(path.rpartition("/")[0]) or None
            stretch = replace(stretch, last=after.last, cluster_id=cluster_id)
            if not groups or size >= self._options.partition_bytes:
                groups.append([])
                size = 0
            groups[-1].append(stretch)
            size += stretch.end - stretch.position
        return [StretchPartition(tuple(group)) for group in groups]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the stretches of a task."""
        assert isinstance(partition, StretchPartition)
        options = self._options
        storages = Storages(options.settings)
        for stretch in partition.stretches:
            yield from stretch_batches(storages.of(stretch.path), stretch, options.question)

    def _listed(self) -> list[Source]:
        sources = sources_of(self._options)
        return [one for one in sources if one.kind in STREAMED and one.path.isprintable()]


def _turn(source: Source) -> tuple[str, bool, str]:
    """Return the place of a file in the order: checkpoints come before what they sum up."""
    return source.path.rpartition("/")[0], grows(source), source.path


def _files(offset: dict[str, Any]) -> dict[str, FileProgress]:
    return {path: FileProgress.of_json(value) for path, value in offset["files"].items()}


def _goes_on(before: FileProgress, after: FileProgress) -> bool:
    return before.generation == after.generation


def _stretch(path: str, before: FileProgress | None, after: FileProgress) -> Stretch | None:
    if before is None or not _goes_on(before, after):
        return Stretch(path, 0, after.end, after.generation, None)
    if (before.bytes, before.rest) == (after.bytes, after.rest):
        return None
    return Stretch(path, before.bytes, after.end, after.generation, before.before)


def _newest_segments(sources: Sequence[Source]) -> dict[str, str]:
    """Return the name of the last segment of each folder: names of one length order as numbers."""
    newest: dict[str, str] = {}
    for source in sources:
        folder, _, name = source.path.rpartition("/")
        if grows(source):
            newest[folder] = max(name, newest.get(folder, ""))
    return newest
