"""The audit of a store, in tasks: the verdicts of ``krafla audit`` on the same files.

It reads only the store, which has the files byte for byte. One task takes the inventory of a
directory, another judges a cluster, both by the audit's own code. Findings name the original
places.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.cluster_audit import audit_cluster
from krafla.audit.clusters import find_logs, group, link_note
from krafla.audit.inventory import take_inventory
from krafla.audit.render import document
from krafla.audit.result import Finding, Weight
from krafla.audit.run import report_of
from krafla.audit.specs import LoadingSpec
from krafla.fuzz.engine.runs import judging_digest
from krafla.pipeline.audit_tables import AUDIT, keep_audit, read_audit
from krafla.pipeline.carry import packed, place_below, told_path, unpacked
from krafla.pipeline.ingest import INGEST, current_files
from krafla.pipeline.layout import LAID, Bench, bench, grouped
from krafla.pipeline.session import told
from krafla.pipeline.sources import AUDITED
from krafla.pipeline.store import FORMAT, load_id
from krafla.pipeline.tables import CONTENT
from krafla.verdict import KraflaError
from kraft.log.text_files import META_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

    from krafla.audit.cluster_audit import ClusterAudit
    from krafla.audit.clusters import Cluster
    from krafla.audit.inventory import Inventory
    from krafla.pipeline.session import Session
    from krafla.pipeline.store import Store

__all__ = ["audit_store"]

_JUDGES: Final = ("UntimedLease", "RaftLog", "RegistrationLog", "PartitionLog")
_ANSWER: Final = "slot int, answer binary"
_FIRST: Final = -1
"""The position of the row that has the question of a task, before all files."""
_loading: LoadingSpec | None = None


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a metadata log, as the table ``files`` has it."""

    log: str
    path: str
    kind: str
    file_id: str | None


def audit_store(session: Session, store: Store) -> dict[str, Any]:
    """Return the audit of all files of a store, in the form of ``krafla audit --json``.

    It is kept in the store; the audit of the same files by the same krafla is not made again.
    ``KraflaError`` if the store has no directory of a metadata log.
    """
    with told(session.log):
        return _audit(session, store)


def _audit(session: Session, store: Store) -> dict[str, Any]:
    facts = [one.facts for one in store.commits(INGEST)]
    logs = sorted({log for one in facts for log in one["logs"]})
    if not logs:
        raise KraflaError("no directory of a metadata log was ingested here", store.uri)
    files = [*_files_of(store, set(logs))]
    roots = sorted({root for one in facts for root in one["roots"]})
    links = sorted({link for one in facts for link in one["links"]})
    asked = [(file.path, file.file_id) for file in files]
    load = load_id(AUDIT, FORMAT, judging_digest(_JUDGES), logs, roots, links, asked)
    if not store.is_committed(load):
        report = _report(session, store, logs, files, roots, links)
        keep_audit(store, load, report)
    return read_audit(store, load)


def _report(
    session: Session,
    store: Store,
    logs: Sequence[str],
    files: Sequence[_File],
    roots: Sequence[str],
    links: Sequence[str],
) -> dict[str, Any]:
    with bench() as own:
        session.phase(f"reading {len(logs):,} directories")
        inventories = _inventories(session, store, logs, files, own)
        # Who is who is read from the files that name a node.
        for path, content in _identities(store, files):
            own.lay({"path": path, "position": 0, "content": content})
        clusters = group(inventories)
        session.phase(f"judging {len(clusters):,} clusters")
        judged = _judged(session, store, clusters, files, own)
        findings = [*_about_roots(roots, logs, files), *(link_note(Path(link)) for link in links)]
        folders = [place_below(own.root, root) for root in roots if not _is_file(root, files)]
        report = json.dumps(document(report_of(folders, judged, findings)))
        told: dict[str, Any] = json.loads(told_path(report, own.root))
        return told


def _identities(store: Store, files: Sequence[_File]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file that names the owner of a log."""
    named = [file.file_id for file in files if file.path.endswith(f"/{META_PROPERTIES}")]
    ids = sorted({one for one in named if one is not None})
    asked = store.spark.createDataFrame([(one,) for one in ids], "file_id string")
    pieces = store.read(CONTENT, INGEST).join(asked, "file_id").where("number = 0")
    content = {row["file_id"]: bytes(row["content"]) for row in pieces.collect()}
    for file in files:
        if file.file_id in content:
            yield file.path, content[file.file_id]


def _files_of(store: Store, logs: set[str]) -> Iterator[_File]:
    """Yield the files that an audit looks at, each with the log that it belongs to."""
    kinds = {kind.value for kind in AUDITED}
    beside: dict[str, list[str]] = {}
    for log in logs:
        beside.setdefault(log.rpartition("/")[0], []).append(log)
    columns = current_files(store).select("path", "kind", "file_id").orderBy("path")
    for row in columns.collect():
        if row["kind"] in kinds:
            folder = row["path"].rpartition("/")[0]
            owners = [folder] if folder in logs else beside.get(folder, [])
            for log in owners:
                yield _File(log, row["path"], row["kind"], row["file_id"])


def _is_file(root: str, files: Sequence[_File]) -> bool:
    return any(file.path == root for file in files)


def _about_roots(
    roots: Sequence[str], logs: Sequence[str], files: Sequence[_File]
) -> Iterator[Finding]:
    """Yield what an audit says of folders without a metadata log."""
    for root in roots:
        is_empty = not any(log == root or log.startswith(f"{root}/") for log in logs)
        if is_empty and not _is_file(root, files):
            nothing = "no __cluster_metadata-0 directory here or below"
            yield Finding(Weight.UNREADABLE, "nothing to audit", nothing, Path(root))


def _inventories(
    session: Session, store: Store, logs: Sequence[str], files: Sequence[_File], own: Bench
) -> list[Inventory]:
    """Return the inventory of each log, with paths on our own bench, in order of the logs."""
    slots = {log: slot for slot, log in enumerate(logs)}
    laid = [(slots[one.log], one) for one in files]
    asked = [(slot, log, b"") for log, slot in slots.items()]
    found = _ask(session, store, laid, asked, _take_inventories)
    return [unpacked(found[slots[log]], own.root) for log in logs]


def _take_inventories(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, a log, with its inventory."""
    for slot, rows in grouped(batches, "slot"):
        with bench() as own:
            place_below(own.root, next(rows)["path"]).mkdir(parents=True, exist_ok=True)
            for row in rows:
                own.lay(row)
            (log,) = find_logs([own.root])[0]
            yield _answer(slot, packed(take_inventory(log), own.root))


def _judged(
    session: Session,
    store: Store,
    clusters: Sequence[Cluster],
    files: Sequence[_File],
    own: Bench,
) -> list[ClusterAudit]:
    """Return the audit of each cluster, with paths on our own bench, in order of the clusters."""
    # The first slots begin first, and the longest cluster decides when all are done.
    ordered = sorted(clusters, key=lambda one: -sum(member.records for member in one.members))
    slot_of = {str(member.path): slot for slot, one in enumerate(ordered) for member in one.members}
    laid = [(slot_of[str(place_below(own.root, one.log))], one) for one in files]
    asked = [(slot, "/", packed(one, own.root)) for slot, one in enumerate(ordered)]
    found = _ask(session, store, laid, asked, _judge_clusters)
    places = {id(one): slot for slot, one in enumerate(ordered)}
    return [unpacked(found[places[id(one)]], own.root) for one in clusters]


def _judge_clusters(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer each question, a cluster, with its audit.

    The specs stay loaded for the next task of this process.
    """
    global _loading
    for slot, rows in grouped(batches, "slot"):
        if _loading is None:
            _loading = LoadingSpec(brief=True)
        with bench() as own:
            question = next(rows)["content"]
            for row in rows:
                own.lay(row)
            cluster: Cluster = unpacked(question, own.root)
            for member in cluster.members:
                member.path.mkdir(parents=True, exist_ok=True)
            _loading.get()
            yield _answer(slot, packed(audit_cluster(cluster, _loading), own.root))


def _ask(
    session: Session,
    store: Store,
    laid: Sequence[tuple[int, _File]],
    asked: Sequence[tuple[int, str, bytes]],
    task: Any,
) -> dict[int, bytes]:
    """Return the answer to each question, by its slot; a task lays out the slot's files first."""
    spark = session.spark
    questions = spark.createDataFrame(
        [(slot, None, path, _FIRST, content) for slot, path, content in asked], LAID
    )
    places = spark.createDataFrame(
        [(slot, one.kind, one.path, one.file_id) for slot, one in laid],
        "slot int, kind string, path string, file_id string",
    )
    pieces = store.read(CONTENT, INGEST).select("file_id", "position", "content")
    files = places.join(pieces, "file_id", "left").selectExpr(
        "slot", "kind", "path", "coalesce(position, 0) AS position", "content"
    )
    count = max(1, len(asked))
    spread = questions.unionByName(files).repartitionById(count, "slot")
    answers = spread.sortWithinPartitions("slot", "position").mapInArrow(task, _ANSWER)
    found = {row["slot"]: bytes(row["answer"]) for row in answers.collect()}
    if sorted(found) != sorted(slot for slot, *_ in asked):
        raise AssertionError("a question has no answer")
    return found


def _answer(slot: int, answer: bytes) -> pa.RecordBatch:
    import pyarrow as pa

    schema = pa.schema([("slot", pa.int32()), ("answer", pa.binary())])
    return pa.RecordBatch.from_pylist([{"slot": slot, "answer": answer}], schema)
