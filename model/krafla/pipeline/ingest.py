"""An ingest: files of any origin into the tables of a store, each file counted once.

Files are taken in loads of bounded size. A load is read, stored, decoded and counted; then its
commit makes it visible. A killed driver loses the load that it was at: the same command goes on
from there, and what the store has is not read again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from krafla.counted import counted
from krafla.pipeline.audit_tables import AUDIT
from krafla.pipeline.decoding import DECODED_TABLES
from krafla.pipeline.faults import sentence
from krafla.pipeline.known_files import INGEST, gone_rows, known_files, last_number
from krafla.pipeline.listing import absolute, list_files
from krafla.pipeline.load import load_files, note_listing
from krafla.pipeline.session import told
from krafla.pipeline.store import Store
from krafla.pipeline.tables import SCHEMAS, spark_schema
from krafla.verdict import KraflaError, Verdict
from kraft.errors import printable
from kraft.records.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.pipeline.known_files import KnownFiles
    from krafla.pipeline.session import Session
    from krafla.pipeline.sources import Listing, Source

__all__ = ["Ingested", "ingest", "open_store"]

_LOAD_BYTES: Final = 4 * 1024**3
_LOAD_FILES: Final = 10_000


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
    schemas = {table: spark_schema(table) for table in SCHEMAS}
    return Store(session.spark, absolute(out), schemas)


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
    with told(session.log):
        return _ingest(session, [absolute(one) for one in sources], out, file_bytes_max)


def _ingest(session: Session, roots: list[str], out: str, file_bytes_max: int) -> Ingested:
    store, limits = open_store(session, out), replace(DEFAULT_LIMITS, file_bytes=file_bytes_max)
    for root in roots:
        if store.uri == root or store.uri.startswith(f"{root}/"):
            raise KraflaError(f"the output must not lie in what is read, {printable(root)}", out)
    store.refuse_others(INGEST, AUDIT)
    session.phase("listing the files")
    listing = list_files(session.spark, roots)
    if not listing.sources and not listing.logs:
        raise KraflaError(
            "no file that this reads: metadata directories, segments, checkpoints, server logs"
            " (.log), traces (.ndjson)",
            printable(roots[0]),
        )
    known, facts = known_files(store), _listing_facts(listing)
    wanted = [one for one in listing.sources if _is_new(one, known)]
    loads = [*_loads(wanted)]
    rows = Counter[str]()
    for number, share in enumerate(loads, 1):
        words = f"load {number} of {len(loads)}, {counted(len(share), 'file')}"
        rows.update(load_files(session, store, share, known, facts, limits, words))
    there = (printable(one.path) for one in listing.sources)
    gone = gone_rows(known, facts["roots"], there, 1 + len(store.commits()))
    if gone or (not loads and not _is_told(store, facts)):
        # All files are in the store; what is said is which of them are there.
        note_listing(store, gone, facts)
        known.add(gone)
    return _summary(store, listing, known, dict(rows), len(wanted))


def _is_new(source: Source, known: KnownFiles) -> bool:
    row = known.by_path.get(printable(source.path))
    now = (source.bytes, source.changed_ns)
    return row is None or (row["listed_bytes"], row["changed_ns"]) != now


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


def _listing_facts(listing: Listing) -> dict[str, Any]:
    return {
        "roots": [printable(root) for root in listing.roots],
        "logs": [printable(log) for log in listing.logs],
        "links": [printable(link) for link in listing.links],
        "left_out": listing.left_out,
    }


def _is_told(store: Store, facts: dict[str, Any]) -> bool:
    """Return whether the latest ingest has listed the same."""
    number = last_number(store)
    latest = [one for one in store.commits(INGEST) if one.facts.get("number") == number]
    return any({name: one.facts[name] for name in facts} == facts for one in latest)


def _summary(
    store: Store, listing: Listing, known: KnownFiles, rows: dict[str, int], new: int
) -> Ingested:
    """Return what became of the files that were listed."""
    found = [known.by_path[printable(one.path)] for one in listing.sources]
    bad = {row["path"]: row["fault"] for row in found if row["fault"]}
    reasons = sorted((path, sentence(reason, place)) for path, (_, reason, place) in bad.items())
    return Ingested(
        store.uri,
        len(found),
        sum(not row["fault"] for row in found),
        sum(listing.left_out.values()),
        sum(row["bytes"] for row in found),
        {table: rows.get(table, 0) for table in DECODED_TABLES},
        tuple(reasons),
        new,
    )
