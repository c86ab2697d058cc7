"""One load of an ingest: some files are read, stored, decoded and counted, then committed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.decoding import DECODED_TABLES, END, decoded, rows_in
from krafla.pipeline.reading import pieces_of_files
from krafla.pipeline.store import FORMAT, load_id
from krafla.pipeline.tables import CONTENT, FILES, QUARANTINE, spark_schema
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from krafla.pipeline.session import Session
    from krafla.pipeline.sources import Source
    from krafla.pipeline.store import Store
    from kraft.records.limits import Limits

__all__ = ["GOOD", "INGEST", "QUARANTINED", "Known", "load_files"]

INGEST: Final = "ingest"
GOOD: Final = "good"
QUARANTINED: Final = "quarantined"
_TASK_BYTES: Final = 16 * 1024 * 1024
_TASKS_MAX: Final = 4_000
_TASKS_EACH: Final = 3
"""Tasks for each that runs at once, so that a long one does not leave the others idle."""
_WORTH_BYTES: Final = 64 * 1024
_WORTH_FILES: Final = 50
"""What is worth a task of its own: less is read and decoded while Spark begins one."""
_LINE: Final = (
    *("path", "kind", "bytes", "sha256", "file_id", "note"),
    *("stage", "reason", "place"),
)

Known = dict[str, dict[str, Any]]
"""What became of each file, by its path: its row of ``files``, with its ``fault`` or none."""


def load_files(
    session: Session,
    store: Store,
    share: Sequence[Source],
    known: Known,
    facts: dict[str, Any],
    limits: Limits,
    words: str,
) -> dict[str, int]:
    """Read, store, decode and commit some files; return the new rows of each table.

    ``known`` is what earlier loads have brought; what became of these files is added to it.
    ``facts`` go into the commit. Raises AssertionError if the rows do not add up: then nothing is
    committed.
    """
    load = load_id(INGEST, FORMAT, limits.file_bytes,
                   [(printable(one.path), one.bytes, one.changed_ns) for one in share])  # fmt: skip
    parts = _parts(share, session.parallelism)
    session.phase(f"{words}: reading")
    lines, new = _stored(session, store, load, share, known, limits, parts)
    session.phase(f"{words}: decoding")
    ends, counts = _decoded(store, load, limits, parts) if new else ({}, {})
    session.phase(f"{words}: committing")
    rows = _rows(share, lines, ends, known, number=1 + len(store.commits()))
    _check(ends, counts)
    columns = spark_schema(FILES).fieldNames()
    files = [tuple(row[name] for name in columns) for row in rows]
    store.write(FILES, load, session.spark.createDataFrame(files, spark_schema(FILES)))
    bad = [
        (row["file_id"], row["path"], row["kind"], row["bytes"], *row["fault"])
        for row in rows
        if row["fault"]
    ]
    if bad:
        store.write(QUARANTINE, load, session.spark.createDataFrame(bad, spark_schema(QUARANTINE)))
    store.commit(
        load, INGEST, {"files": len(rows), "quarantined": len(bad), "rows": counts} | facts
    )
    known.update({row["path"]: row for row in rows})
    return counts


def _parts(share: Sequence[Source], parallelism: int) -> int:
    """Return into how many tasks some files are spread."""
    size = sum(one.bytes for one in share)
    worth = 1 + max(size // _WORTH_BYTES, len(share) // _WORTH_FILES)
    return min(max(min(worth, _TASKS_EACH * parallelism), size // _TASK_BYTES), _TASKS_MAX)


def _stored(
    session: Session,
    store: Store,
    load: str,
    share: Sequence[Source],
    known: Known,
    limits: Limits,
    parts: int,
) -> tuple[list[dict[str, Any]], bool]:
    """Write the bytes that the store lacks; return a line for each file, and whether any were."""
    from pyspark import StorageLevel

    spark = session.spark
    read = pieces_of_files(spark, share, limits, parts).persist(StorageLevel.DISK_ONLY)
    try:
        found = [row.asDict() for row in read.where("number = 0").select(*_LINE).collect()]
        lines = _checked(share, found)
        owners: dict[str, str] = {}
        here = {row["file_id"] for row in known.values()}
        for line in lines:
            if line["file_id"] is not None and line["file_id"] not in here:
                owners.setdefault(line["file_id"], line["path"])
        if owners:
            pairs = [(path, id_) for id_, path in owners.items()]
            wanted = spark.createDataFrame(pairs, "path string, file_id string")
            store.write(CONTENT, load, read.join(wanted, ["path", "file_id"], "left_semi"))
    finally:
        read.unpersist()
    return lines, bool(owners)


def _checked(share: Sequence[Source], lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one line for each file that was asked for; those that Spark did not read are faults.

    Raises AssertionError if a file was read that was not asked for, or twice.
    """
    found = Counter(line["path"] for line in lines)
    asked = {printable(one.path): one for one in share}
    if set(found) - set(asked) or any(count > 1 for count in found.values()):
        raise AssertionError("a file was read that was not asked for, or twice")
    lost = [
        dict.fromkeys(_LINE) | {
            "path": path, "kind": one.kind.value, "bytes": one.bytes, "note": "", "stage": "open",
            "reason": "the storage did not give it", "place": "",
        }
        for path, one in asked.items()
        if path not in found
    ]  # fmt: skip
    return sorted([*lines, *lost], key=lambda line: str(line["path"]))


def _decoded(
    store: Store, load: str, limits: Limits, parts: int
) -> tuple[dict[str, dict[str, Any]], dict[str, int]]:
    """Write the rows of the whole files; return what became of each content, and the rows stored.

    A content with a fault leaves no row.
    """
    from pyspark import StorageLevel

    blocks = decoded(store.written(CONTENT, load), limits, parts).persist(StorageLevel.DISK_ONLY)
    try:
        ends = _ends(blocks)
        bad = [(id_,) for id_, end in ends.items() if end["fault"]]
        whole = blocks
        if bad:
            spoiled = store.spark.createDataFrame(bad, "file_id string")
            whole = blocks.join(spoiled, "file_id", "left_anti")
        told = {t for end in ends.values() if not end["fault"] for t in end["rows"]}
        written = [table for table in DECODED_TABLES if table in told]
        for table in written:
            store.write(table, load, rows_in(whole, table, spark_schema(table)))
    finally:
        blocks.unpersist()
    counts = store.count_written(written, load)
    return ends, {table: counts.get(table, 0) for table in DECODED_TABLES}


def _ends(blocks: DataFrame) -> dict[str, dict[str, Any]]:
    """Return for each content its fault, its notes, its rows and how long its decoding took.

    The fault of a file is that of its first run with one.
    """
    ends: dict[str, dict[str, Any]] = {}
    told = blocks.drop("block").orderBy("file_id", "run")
    for row in told.collect():
        end = ends.setdefault(
            row["file_id"], {"fault": None, "notes": [], "rows": Counter(), "milliseconds": 0}
        )
        if row["table"] != END:
            end["rows"][row["table"]] += row["rows"]
            continue
        end["milliseconds"] += row["milliseconds"]
        if end["fault"] is None:
            end["notes"] += row["notes"]
            if row["stage"] is not None:
                end["fault"] = (row["stage"], row["reason"], row["place"])
    return ends


def _check(ends: dict[str, dict[str, Any]], counts: dict[str, int]) -> None:
    told = Counter[str]()
    for end in ends.values():
        told.update({} if end["fault"] else end["rows"])
    for table, count in counts.items():
        if told[table] != count:
            raise AssertionError(f"{table} has {count} rows, its files say {told[table]}")


def _rows(
    share: Sequence[Source],
    lines: list[dict[str, Any]],
    ends: dict[str, dict[str, Any]],
    known: Known,
    number: int,
) -> list[dict[str, Any]]:
    """Return the row of ``files`` for each line, with its ``fault``."""
    asked = {printable(one.path): one for one in share}
    earlier = {row["file_id"]: row for row in known.values() if row["file_id"] is not None}
    rows = []
    for line in lines:
        row = dict(line)
        end, before = ends.get(line["file_id"]), earlier.get(line["file_id"])
        row["fault"], notes, row["milliseconds"] = None, [line["note"]], 0
        counts = Counter[str]()
        if end is not None:
            row["fault"], row["milliseconds"] = end["fault"], end["milliseconds"]
            counts, notes = end["rows"], [*notes, *end["notes"]]
        elif before is not None:
            row["fault"] = before["fault"]
            counts, notes = Counter({t: before[t] for t in DECODED_TABLES}), [before["note"]]
        elif line["stage"] is not None:
            row["fault"] = (line["stage"], line["reason"], line["place"])
        row |= {table: 0 if row["fault"] else counts[table] for table in DECODED_TABLES}
        row["note"] = "; ".join(filter(None, notes))
        row["status"] = QUARANTINED if row["fault"] else GOOD
        source = asked[line["path"]]
        row |= {"listed_bytes": source.bytes, "changed_ns": source.changed_ns}
        rows.append(row | {"load_number": number})
    return rows
