"""A watch without Spark: the source's rows, a cluster's cells, and the standings they lead to."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.audit.render import document
from krafla.audit.run import audit
from krafla.pipeline.watch.cluster import Cluster
from krafla.spark.log_source import KraftLogSource
from kraft.log.segment import iter_batches
from kraft.records.batch import parse_batch
from kraft.records.builder import metadata_batch
from kraft.records.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.audit.specs import LoadingSpec
    from kraft.records.batch import RecordBatch

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1"
FOLDER = "__cluster_metadata-0"
CRASH = REAL / "crash" / "n3000"
NO_OP = (20, 0, {})
SAME = ("judged_from", "judged_on", "judged_to", "verdict")
"""The columns that an audit's report has of a directory as well."""


def at_offset(offset: int) -> RecordBatch:
    """Return a batch with one record."""
    return parse_batch(metadata_batch(offset, 1, 0, [NO_OP]))


def node(root: Path, source: Path, name: str | None = None) -> Path:
    """Return the empty log directory of a node with the identity of a real one."""
    folder = root / (name or source.name) / FOLDER
    folder.mkdir(parents=True)
    shutil.copy(source / "meta.properties", folder.parent)
    return folder


def log_of(source: Path) -> list[RecordBatch]:
    return [one for path in sorted((source / FOLDER).glob("*.log")) for one in iter_batches(path)]


def raw(some: Sequence[RecordBatch]) -> bytes:
    return b"".join(one.raw for one in some)


class Cells(dict[str, bytes]):
    """Cells in memory."""

    def put(self, name: str, content: bytes) -> None:
        self[name] = content

    def drop(self, name: str) -> None:
        self.pop(name, None)


class Watch:
    """What Spark does with a watch: offsets, rows between them, and the state of each cluster."""

    def __init__(self, root: Path, loading: LoadingSpec, **options: str) -> None:
        options = {"settleSeconds": "0", **options}
        self.options = {"path": str(root), "table": "content", "secrets": "show", **options}
        self.loading = loading
        self.root = root
        self.cells: dict[str, Cells] = {}
        self.standings: dict[tuple[str, str | None], dict[str, Any]] = {}
        source = KraftLogSource(self.options)
        self.reader = source.streamReader(source.schema())
        self.offset = self.reader.initialOffset()

    def trigger(self, dies: int = 0) -> bool:
        """Play a trigger, after it has died some times; return False if nothing is new."""
        limit = self.reader.getDefaultReadLimit()
        end = json.loads(json.dumps(self.reader.latestOffset(self.offset, limit)))
        if end == self.offset:
            return False
        for _ in range(dies):
            self._play(end, pickle.loads(pickle.dumps(self.cells)))
        self.standings |= self._play(end, self.cells)
        self.offset = end
        return True

    def all(self) -> Watch:
        """Play triggers until nothing is new."""
        while self.trigger():
            pass
        return self

    def _play(
        self, end: dict[str, Any], cells: dict[str, Cells]
    ) -> dict[tuple[str, str | None], dict[str, Any]]:
        rows: dict[str, list[dict[str, Any]]] = {}
        for part in self.reader.partitions(self.offset, end):
            for batch in self.reader.read(part):
                for row in batch.to_pylist():
                    key = row["cluster_id"] or row["path"].rpartition("/")[0]
                    rows.setdefault(key, []).append(row)
        found = {}
        for key, some in rows.items():
            own = cells.setdefault(key, Cells())
            for row in Cluster(key, own, self.loading, DEFAULT_LIMITS).take(some):
                found[row["cluster"], row["directory"]] = row
        return found

    def of(self, directory: Path) -> dict[str, Any]:
        """Return where a directory stands."""
        return next(row for key, row in self.standings.items() if key[1] == str(directory))

    def kept(self) -> list[tuple[str, bytes]]:
        """Return all cells."""
        return [one for own in self.cells.values() for one in own.items()]

    def whole(self) -> dict[str, Any]:
        """Return where the only cluster stands as a whole."""
        (found,) = (row for key, row in self.standings.items() if key[1] is None)
        return found

    def view(self) -> dict[str, Any]:
        """Return what an audit says as well, by directory."""
        return {
            key[1]: {name: row[name] for name in SAME} | {"findings": told(row["findings"])}
            for key, row in self.standings.items()
            if key[1] is not None
        }


def audited(root: Path, loading: LoadingSpec) -> dict[str, Any]:
    """Return the audit's view of the directories at or below a folder."""
    report = document(audit([root], loading=loading))
    return {
        one["path"]: {name: one[name] for name in SAME} | {"findings": told(one["findings"])}
        for cluster in report["clusters"]
        for one in cluster["directories"]
    }


def told(findings: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return findings by what names them.

    An audit adds how much lies behind a bad batch, and notes logs without any.
    """
    names = ("weight", "kind", "path", "byte", "offset", "known_bug")
    return sorted(
        (
            (*(one[name] for name in names), one["detail"].partition("; nothing from")[0])
            for one in findings
            if one["kind"] not in {"empty segment", "freshly formatted"}
        ),
        key=str,
    )  # fmt: skip
