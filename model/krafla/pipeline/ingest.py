"""An ingest: files of any origin into the tables of a store, each file counted once.

Files are taken in loads of bounded size. A load is read, stored, decoded and counted; then its
commit makes it visible. A killed driver loses the load that it was at: the same command goes on
from there, and what the store has is not read again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.decoding import DECODED_TABLES, END, decoded, rows_in
from krafla.pipeline.listing import absolute, list_files
from krafla.pipeline.reading import pieces_of_files
from krafla.pipeline.store import FORMAT, Store, load_id
from krafla.pipeline.tables import (
    CONTENT,
    FILES,
    QUARANTINE,
    SPARK_SCHEMAS,
    TABLES,
)
from krafla.verdict import KraflaError, Verdict
from kraft.errors import printable
from kraft.records.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from krafla.pipeline.session import Session
    from krafla.pipeline.sources import Listing, Source
    from kraft.records.limits import Limits

__all__ = ["GOOD", "INGEST", "QUARANTINED", "Ingested", "current_files", "ingest", "open_store"]

INGEST: Final = "ingest"
GOOD: Final = "good"
QUARANTINED: Final = "quarantined"
_LOAD_BYTES: Final = 4 * 1024**3
_LOAD_FILES: Final = 10_000
_TASK_BYTES: Final = 16 * 1024 * 1024
_TASKS_MAX: Final = 4_000
_TASKS_EACH: Final = 3
"""Tasks for each that runs at once, so that a long one does not leave the others idle."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest was given, and what became of it: ``files`` = ``good`` + ``quarantined``.

    ``new`` is how many of the files the store did not have before, ``rows`` counts the rows that
    they added to each table.
    """

    out: str
    files: int
    good: int
    left_out: int
    bytes: int
    rows: dict[str, int]
    quarantined: tuple[tuple[str, str], ...]
    new: int

    @property
    def verdict(self) -> Verdict:
        """Return held if every file was read, inconclusive if one is in quarantine."""
        return Verdict.INCONCLUSIVE if self.quarantined else Verdict.HELD


def open_store(session: Session, out: str) -> Store:
    """Return the store at a path or a URI, which may hold nothing yet."""
    return Store(session.spark, absolute(out), SPARK_SCHEMAS)


def ingest(
    session: Session,
    sources: Sequence[str],
    out: str,
    file_bytes_max: int = DEFAULT_LIMITS.file_bytes,
) -> Ingested:
    """Read the files at or below the sources that the store lacks; return what became of all.

    Sources and ``out`` are paths or URIs. No file may have more bytes than ``file_bytes_max``,
    decompressed. ``KraflaError`` if a source does not exist, if there is nothing to read, or if the
    store lies within a source.
    """
    store, limits = open_store(session, out), replace(DEFAULT_LIMITS, file_bytes=file_bytes_max)
    roots = [absolute(source) for source in sources]
    for root in roots:
        if store.uri == root or store.uri.startswith(f"{root}/"):
            raise KraflaError(f"the output must not lie in what is read, {printable(root)}", out)
    session.phase("listing the files")
    listing = list_files(session.spark, roots)
    if not listing.sources and not listing.logs:
        raise KraflaError(
            "no file that this reads: metadata directories, segments, checkpoints, server logs"
            " (.log), traces (.ndjson)",
            printable(roots[0]),
        )
    known = _known(store)
    wanted = [one for one in listing.sources if known.get(one.path) != (one.bytes, one.changed_ms)]
    loads = [*_loads(wanted)]
    rows: Counter[str] = Counter()
    for number, share in enumerate(loads, 1):
        words = f"load {number} of {len(loads)}, {len(share):,} files"
        rows.update(_load(session, store, share, listing, limits, words))
    if not loads and not _is_told(store, listing):
        _tell(store, listing)
    return _summary(store, listing, dict(rows), len(wanted))


def current_files(store: Store) -> DataFrame:
    """Return the rows of ``files``, for each path the one that was read last."""
    files = store.read(FILES, INGEST)
    latest = files.groupBy("path").agg({"load_number": "max"}).toDF("path", "load_number")
    return files.join(latest, ["path", "load_number"])


def _known(store: Store) -> dict[str, tuple[int, int]]:
    columns = current_files(store).select("path", "listed_bytes", "changed_ms")
    return {row["path"]: (row["listed_bytes"], row["changed_ms"]) for row in columns.collect()}


def _loads(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Yield the sources in shares of bounded size, in order."""
    share: list[Source] = []
    size = 0
    for source in sources:
        if share and (size + source.bytes > _LOAD_BYTES or len(share) >= _LOAD_FILES):
            yield share
            share, size = [], 0
        share.append(source)
        size += source.bytes
    if share:
        yield share


def _load(
    session: Session,
    store: Store,
    share: list[Source],
    listing: Listing,
    limits: Limits,
    words: str,
) -> dict[str, int]:
    """Read, store and decode some files, and commit them; return the new rows of each table."""
    from pyspark import StorageLevel

    load = load_id(INGEST, FORMAT, limits.file_bytes,
                   [(printable(one.path), one.bytes, one.changed_ms) for one in share])  # fmt: skip
    size = sum(one.bytes for one in share)
    parts = min(max(_TASKS_EACH * session.parallelism, size // _TASK_BYTES), _TASKS_MAX)
    session.phase(f"{words}: reading")
    read = pieces_of_files(session.spark, share, limits, parts).persist(StorageLevel.DISK_ONLY)
    try:
        facts = ("path", "kind", "bytes", "sha256", "file_id", "note", "stage", "reason", "place")
        lines = [row.asDict() for row in read.where("number = 0").select(*facts).collect()]
        lines = _checked(share, lines)
        new = _new_contents(store, lines)
        owners = session.spark.createDataFrame(
            [(path, id_) for id_, path in new.items()], "path string, file_id string"
        )
        session.phase(f"{words}: storing")
        store.write(CONTENT, load, read.join(owners, ["path", "file_id"], "left_semi"))
    finally:
        read.unpersist()
    session.phase(f"{words}: decoding")
    blocks = decoded(store.written(CONTENT, load), limits, parts).persist(StorageLevel.DISK_ONLY)
    try:
        ends = _ends(blocks)
        bad = [(id_,) for id_, end in ends.items() if end["fault"]]
        spoiled = session.spark.createDataFrame(bad, "file_id string")
        whole = blocks.join(spoiled, "file_id", "left_anti")
        counts = {}
        for table in DECODED_TABLES:
            session.phase(f"{words}: writing {table}")
            rows = rows_in(whole, table, SPARK_SCHEMAS[table])
            store.write(table, load, rows)
            counts[table] = store.written(table, load).count()
    finally:
        blocks.unpersist()
    session.phase(f"{words}: committing")
    _close(session, store, load, share, lines, ends, counts, listing)
    return counts


def _checked(share: Sequence[Source], lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one line for each file that was asked for; those that Spark did not read are faults.

    Raises AssertionError if a file was read that was not asked for, or twice.
    """
    found = Counter(line["path"] for line in lines)
    asked = {printable(one.path): one for one in share}
    if set(found) - set(asked) or any(count > 1 for count in found.values()):
        raise AssertionError("a file was read that was not asked for, or twice")
    lost = [
        {"path": path, "kind": one.kind.value, "bytes": one.bytes, "sha256": None, "file_id": None,
         "note": "", "stage": "open", "reason": "the storage did not give it", "place": ""}
        for path, one in asked.items()
        if path not in found
    ]  # fmt: skip
    return sorted([*lines, *lost], key=lambda line: str(line["path"]))


def _new_contents(store: Store, lines: list[dict[str, Any]]) -> dict[str, str]:
    """Return, for each content that the store lacks, the first of the paths that have it."""
    owners: dict[str, str] = {}
    for line in lines:
        if line["file_id"] is not None:
            owners.setdefault(line["file_id"], line["path"])
    for id_ in _earlier(store, list(owners)):
        del owners[id_]
    return owners


def _earlier(store: Store, ids: list[str]) -> dict[str, dict[str, Any]]:
    """Return what became of contents that earlier loads have brought, by their ids."""
    if not ids or not store.commits(INGEST):
        return {}
    asked = store.spark.createDataFrame([(one,) for one in ids], "file_id string")
    known = store.read(FILES, INGEST).join(asked, "file_id").dropDuplicates(["file_id"])
    found = {row["file_id"]: row.asDict() for row in known.collect()}
    faults = store.read(QUARANTINE, INGEST).join(asked, "file_id").dropDuplicates(["file_id"])
    for row in faults.collect():
        found[row["file_id"]]["fault"] = (row["stage"], row["reason"], row["place"])
    return found


def _ends(blocks: DataFrame) -> dict[str, dict[str, Any]]:
    """Return for each content its fault, its notes, its rows and how long its decoding took.

    The fault of a file is that of its first run with one.
    """
    ends: dict[str, dict[str, Any]] = {}
    counted = blocks.groupBy("file_id", "table").agg({"rows": "sum"})
    for row in counted.toDF("file_id", "table", "rows").collect():
        ends.setdefault(row["file_id"], {"fault": None, "notes": [], "milliseconds": 0})
        ends[row["file_id"]][row["table"]] = row["rows"]
    told = blocks.where(f"table = '{END}'").drop("block").orderBy("file_id", "run")
    for row in told.collect():
        end = ends[row["file_id"]]
        end["milliseconds"] += row["milliseconds"]
        if end["fault"] is None:
            end["notes"] += row["notes"] or []
            if row["stage"] is not None:
                end["fault"] = (row["stage"], row["reason"], row["place"])
    return ends


def _close(
    session: Session,
    store: Store,
    load: str,
    share: Sequence[Source],
    lines: list[dict[str, Any]],
    ends: dict[str, dict[str, Any]],
    counts: dict[str, int],
    listing: Listing,
) -> None:
    """Write what became of each file, see that everything adds up, and commit the load."""
    asked = {printable(one.path): one for one in share}
    earlier = _earlier(store, [line["file_id"] for line in lines if line["file_id"] not in ends
                               and line["file_id"] is not None])  # fmt: skip
    number = 1 + len(store.commits())
    files, faults, told = [], [], Counter[str]()
    for line in lines:
        end = _end_of(line, ends, earlier)
        fault = end["fault"]
        rows = {table: 0 if fault else end.get(table) or 0 for table in DECODED_TABLES}
        source = asked[line["path"]]
        notes = "; ".join(filter(None, [line["note"], *end["notes"]]))
        files.append(
            (line["path"], line["file_id"], line["kind"], line["bytes"], line["sha256"],
             QUARANTINED if fault else GOOD, notes, *rows.values(), source.bytes,
             source.changed_ms, number, end["milliseconds"])
        )  # fmt: skip
        if fault:
            faults.append((line["file_id"], line["path"], line["kind"], line["bytes"], *fault))
    for end in ends.values():
        told.update({t: 0 if end["fault"] else end.get(t) or 0 for t in DECODED_TABLES})
    for table, count in counts.items():
        if told[table] != count:
            raise AssertionError(f"{table} has {count} rows, its files say {told[table]}")
    spark = session.spark
    store.write(FILES, load, spark.createDataFrame(files, SPARK_SCHEMAS[FILES]))
    store.write(QUARANTINE, load, spark.createDataFrame(faults, SPARK_SCHEMAS[QUARANTINE]))
    facts = {"number": number, "files": len(files), "quarantined": len(faults), "rows": counts}
    store.commit(load, INGEST, facts | _listing_facts(listing))


def _end_of(
    line: dict[str, Any],
    ends: dict[str, dict[str, Any]],
    earlier: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return what became of the content of a line, in this load or an earlier one."""
    id_ = line["file_id"]
    if id_ in ends:
        return ends[id_]
    if id_ in earlier:
        row = earlier[id_]
        notes = [row["note"]] if row["note"] else []
        return row | {"fault": row.get("fault"), "notes": notes, "milliseconds": 0}
    fault = None if line["stage"] is None else (line["stage"], line["reason"], line["place"])
    return {"fault": fault, "notes": [], "milliseconds": 0}


def _listing_facts(listing: Listing) -> dict[str, Any]:
    return {
        "roots": [printable(root) for root in listing.roots],
        "logs": [printable(log) for log in listing.logs],
        "links": [printable(link) for link in listing.links],
        "left_out": listing.left_out,
    }


def _is_told(store: Store, listing: Listing) -> bool:
    facts = _listing_facts(listing)
    return any({name: one.facts[name] for name in facts} == facts for one in store.commits(INGEST))


def _tell(store: Store, listing: Listing) -> None:
    """Commit a load without rows: the store has all files, but not which sources they are of."""
    facts = _listing_facts(listing)
    number = 1 + len(store.commits())
    load = load_id(INGEST, FORMAT, facts, number)
    store.commit(load, INGEST, {"number": number, "files": 0, "quarantined": 0, "rows": {}} | facts)


def _summary(store: Store, listing: Listing, rows: dict[str, int], new: int) -> Ingested:
    """Return what the store says of the files that were listed."""
    spark = store.spark
    paths = [(printable(one.path),) for one in listing.sources]
    asked = spark.createDataFrame(paths, "path string").dropDuplicates()
    files = current_files(store).join(asked, "path").select("path", "status", "bytes", "load_number")
    found = files.collect()
    if len(found) != len(paths):
        raise AssertionError(f"{len(paths)} files were listed, the store has {len(found)} of them")
    bad = files.where(f"status = '{QUARANTINED}'").select("path", "load_number")
    faults = store.read(QUARANTINE, INGEST).join(
        store.read(FILES, INGEST).select("path", "load", "load_number"), ["path", "load"]
    )
    reasons = sorted(
        (row["path"], f"{row['reason']} ({row['place']})" if row["place"] else row["reason"])
        for row in faults.join(bad, ["path", "load_number"]).collect()
    )
    return Ingested(
        store.uri,
        len(found),
        len(found) - len(reasons),
        sum(listing.left_out.values()),
        sum(row["bytes"] for row in found),
        {table: rows.get(table, 0) for table in DECODED_TABLES},
        tuple(reasons),
        new,
    )
