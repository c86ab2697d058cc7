"""What a store knows of files: what became of each, and which are still where they were."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.pipeline.tables import FILES, QUARANTINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame

    from krafla.pipeline.store import Commit, Store

__all__ = [
    *("GONE", "INGEST", "Row", "KnownFiles", "ListedPlaces", "current_files", "gone_rows"),
    *("known_files", "last_number", "listed_places"),
]

INGEST: Final = "ingest"
"""The kind of a load with files."""
GONE: Final = "gone"
"""The status of a file that was not there when its source was listed again."""

_NOTHING: Final = dict.fromkeys(("bytes", "batches", "records", "events", "milliseconds"), 0)

Row = dict[str, Any]
"""A row of ``files``, with its ``fault``: stage, reason, place, or None."""


@dataclass(slots=True)
class KnownFiles:
    """The rows of files: `by_path` the latest of each that is still there, `by_content` any."""

    by_path: dict[str, Row] = field(default_factory=dict)
    by_content: dict[str, Row] = field(default_factory=dict)

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows that are later than all before."""
        for row in rows:
            if row["status"] == GONE:
                self.by_path.pop(row["path"], None)
                continue
            self.by_path[row["path"]] = row
            if row["file_id"] is not None:
                self.by_content.setdefault(row["file_id"], row)


class ListedPlaces(NamedTuple):
    """The sources of all ingests; the directories of logs and the links below them, at last."""

    roots: list[str]
    logs: list[str]
    links: list[str]


def known_files(store: Store) -> KnownFiles:
    """Return what a store knows of files."""
    known = KnownFiles()
    if store.commits(INGEST):
        faults = {
            (row["load"], row["path"]): (row["stage"], row["reason"], row["place"])
            for row in store.read(QUARANTINE, INGEST).collect()
        }
        rows = [row.asDict() for row in store.read(FILES, INGEST).collect()]
        rows.sort(key=lambda row: row["load_number"])
        known.add(row | {"fault": faults.get((row["load"], row["path"]))} for row in rows)
    return known


def gone_rows(
    known: KnownFiles, roots: Sequence[str], sources: Iterable[str], number: int
) -> list[Row]:
    """Return a row for each file at or below these roots that is no more among the sources."""
    there = set(sources)
    return [
        row | _NOTHING | {"status": GONE, "fault": None, "load_number": number}
        for path, row in known.by_path.items()
        if path not in there and _is_in(path, roots)
    ]


def current_files(store: Store) -> DataFrame:
    """Return the rows of ``files``, for each path the one that was read last, unless it is gone."""
    files = store.read(FILES, INGEST)
    latest = files.groupBy("path").agg({"load_number": "max"}).toDF("path", "load_number")
    return files.join(latest, ["path", "load_number"]).where(f"status <> '{GONE}'")


def last_number(store: Store) -> int:
    """Return the number of the latest ingest; 0 if there is none, or only such without a number."""
    return max((_number(one) for one in store.commits(INGEST)), default=0)


def _number(commit: Commit) -> int:
    return int(commit.facts.get("number", 0))


def listed_places(store: Store) -> ListedPlaces:
    """Return what the latest listing of each source has found."""
    roots: set[str] = set()
    logs: set[str] = set()
    links: set[str] = set()
    for one in sorted(store.commits(INGEST), key=_number):
        listed = one.facts["roots"]
        roots.update(listed)
        logs = {log for log in logs if not _is_in(log, listed)} | {*one.facts["logs"]}
        links = {link for link in links if not _is_in(link, listed)} | {*one.facts["links"]}
    return ListedPlaces(sorted(roots), sorted(logs), sorted(links))


def _is_in(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots)
