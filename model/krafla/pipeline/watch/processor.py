"""The state of each cluster in Spark's state store, and what a trigger makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from krafla.audit.specs import LoadingSpec
from krafla.pipeline.watch.cluster import Cluster
from kraft.records.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import (
        MapState,
        StatefulProcessorHandle,
        TimerValues,
    )

__all__ = ["ClusterProcessor"]

_KEY: Final = "name string, part int"
_VALUE: Final = "parts int, content binary"
_PART_BYTES: Final = 1024 * 1024

_loading: LoadingSpec | None = None


class ClusterProcessor(StatefulProcessor):
    """Judges the new batches of each cluster. All that is kept is in the state store."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state of the clusters."""
        self._cells = handle.getMapState("cells", _KEY, _VALUE)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: ARG002, N803 - Spark's name
    ) -> Iterator[Row]:
        """Yield where the directories of a cluster stand when these rows have come."""
        global _loading
        if _loading is None:
            # The specs stay loaded for the next trigger, if this process sees it.
            _loading = LoadingSpec(brief=True)
        _loading.get()
        cluster = Cluster(key[0], StoredCells(self._cells), _loading, DEFAULT_LIMITS)
        for row in cluster.take(one.asDict() for one in rows):
            yield Row(**row)


class StoredCells:
    """Cells in Spark's state store, in parts of 1 MiB; satisfies `Cells`."""

    def __init__(self, stored: MapState) -> None:
        self._stored = stored
        self._parts: dict[str, int] = {}

    def get(self, name: str) -> bytes | None:
        """Return the bytes of a name, None if there are none."""
        found: list[bytes] = []
        count = 1
        while len(found) < count:
            value = self._stored.getValue((name, len(found)))
            if value is None:
                assert not found, "a cell has all its parts"
                self._parts[name] = 0
                return None
            count = value[0]
            found.append(bytes(value[1]))
        self._parts[name] = count
        return b"".join(found)

    def put(self, name: str, content: bytes) -> None:
        """Set the bytes of a name."""
        before = self._count(name)
        parts = max(1, -(-len(content) // _PART_BYTES))
        for part in range(parts):
            piece = content[part * _PART_BYTES : (part + 1) * _PART_BYTES]
            self._stored.updateValue((name, part), (parts, piece))
        for part in range(parts, before):
            self._stored.removeKey((name, part))
        self._parts[name] = parts

    def drop(self, name: str) -> None:
        """Forget a name."""
        for part in range(self._count(name)):
            self._stored.removeKey((name, part))
        self._parts[name] = 0

    def _count(self, name: str) -> int:
        """Return how many parts a cell has."""
        if name not in self._parts:
            first = self._stored.getValue((name, 0))
            self._parts[name] = 0 if first is None else int(first[0])
        return self._parts[name]
