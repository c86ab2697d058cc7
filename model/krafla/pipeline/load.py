"""One load of an ingest: some files are read, stored, decoded and counted, then committed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.decoding import DECODED_TABLES, END, decoded, rows_in
from krafla.pipeline.known_files import INGEST
from krafla.pipeline.reading import pieces_of_files
from krafla.pipeline.store import FORMAT, load_id
from krafla.pipeline.tables import CONTENT, FILES, QUARANTINE, spark_schema
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from krafla.pipeline.known_files import KnownFiles, Row
    from krafla.pipeline.session import Session
    from krafla.pipeline.sources import Source
    from krafla.pipeline.store import Store
    from kraft.records.limits import Limits

__all__ = ["load_files", "note_listing"]

GOOD: Final = "good"
QUARANTINED: Final = "quarantined"
_TASK_BYTES: Final = 16 * 1024 * 1024
_TASKS_MAX: Final = 4_000
_TASKS_EACH: Final = 3
"""Tasks for each that runs at once, so that a long one does not leave the others idle."""
_WORTH_BYTES: Final = 64 * 1024
_WORTH_FILES: Final = 50
"""What is worth a task of its own: less is read and decoded while Spark begins one."""
_GROUP_ROWS: Final = 32
"""How many pieces of files a task holds at once when it reads the store."""
_LINE: Final = (
    *("path", "kind", "bytes", "sha256", "file_id", "note"),
    *("stage", "reason", "place"),
)


def load_files(
    session: Session,
    store: Store,
    share: Sequence[Source],
    known: KnownFiles,
    facts: dict[str, Any],
    limits: Limits,
    words: str,
) -> dict[str, int]:
    """Read, store, decode and commit some files; return the new rows of each table.

    ``known`` is what earlier loads have brought; what became of these files is added to it.
    ``facts`` go into the commit. Raises AssertionError if the rows do not add up, and
    ``KraflaError`` if another ingest has added files meanwhile, or a file has changed: then nothing
    is committed.
    """
    # A file that was gone and comes back is another load of the same file.
    number = 1 + len(store.commits())
    load = load_id(INGEST, FORMAT, limits.file_bytes, number,
                   [(printable(one.path), one.bytes, one.changed_ns) for one in share])  # fmt: skip
    parts = _parts(share, session.parallelism)
    session.phase(f"{words}: reading")
    before = store.commits(INGEST)
    lines, new = _stored(session, store, load, share, known, limits, parts)
    session.phase(f"{words}: decoding")
    ends, counts = _decoded(store, load, limits, parts) if new else ({}, {})
    if ends.keys() != new:
        raise KraflaError(
            "a file changed between two readings of it: give this command again",
            printable(store.uri),
        )
    session.phase(f"{words}: committing")
    rows = _rows(share, lines, ends, known, number)
    _check(ends, counts)
    _write_files(store, load, rows)
    bad = [
        (row["file_id"], row["path"], row["kind"], row["bytes"], *row["fault"])
        for row in rows
        if row["fault"]
    ]
    if bad:
        store.write(QUARANTINE, load, session.spark.createDataFrame(bad, spark_schema(QUARANTINE)))
    store.refresh()
    if store.commits(INGEST) != before:
        raise KraflaError(
            "another ingest has added files meanwhile: give this command again",
            printable(store.uri),
        )
    told = {"files": len(rows), "quarantined": len(bad), "rows": counts, "number": number}
    store.commit(load, INGEST, told | facts)
    known.add(rows)
    return counts


def note_listing(store: Store, gone: Sequence[Row], facts: dict[str, Any]) -> None:
    """Commit what a listing has found without a new file, and the rows of files that are gone."""
    number = 1 + len(store.commits())
    load = load_id(INGEST, FORMAT, facts, number)
    if gone:
        _write_files(store, load, gone)
    store.commit(load, INGEST, {"files": 0, "quarantined": 0, "rows": {}, "number": number} | facts)


def _write_files(store: Store, load: str, rows: Sequence[Row]) -> None:
    columns = spark_schema(FILES).fieldNames()
    values = [tuple(row[name] for name in columns) for row in rows]
    store.write(FILES, load, store.spark.createDataFrame(values, spark_schema(FILES)))


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
    known: KnownFiles,
    limits: Limits,
    parts: int,
) -> tuple[list[dict[str, Any]], set[str]]:
    """Write the contents that the store lacks; return a line for each file, and their ids."""
    from pyspark import StorageLevel

    spark = session.spark
    read = pieces_of_files(spark, share, limits, parts).persist(StorageLevel.DISK_ONLY)
    try:
        found = [row.asDict() for row in read.where("number = 0").select(*_LINE).collect()]
        lines = _checked(share, found)
        owners: dict[str, str] = {}
        for line in lines:
            if line["file_id"] is not None and line["file_id"] not in known.by_content:
                owners.setdefault(line["file_id"], line["path"])
        if owners:
            pairs = [(path, id_) for id_, path in owners.items()]
            wanted = spark.createDataFrame(pairs, "path string, file_id string")
            kept = read.join(wanted, ["path", "file_id"], "left_semi")
            store.write(CONTENT, load, kept, group_rows=_GROUP_ROWS)
    finally:
        read.unpersist()
    return lines, set(owners)


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
    known: KnownFiles,
    number: int,
) -> list[dict[str, Any]]:
    """Return the row of ``files`` for each line, with its ``fault``."""
    asked = {printable(one.path): one for one in share}
    rows = []
    for line in lines:
        row = dict(line)
        end, before = ends.get(line["file_id"]), known.by_content.get(line["file_id"])
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
        if line["sha256"] is None:
            row["bytes"] = source.bytes
        row |= {"listed_bytes": source.bytes, "changed_ns": source.changed_ns}
        rows.append(row | {"load_number": number})
    return rows
