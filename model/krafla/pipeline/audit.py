"""The audit of a store, in tasks: the verdicts of ``krafla audit`` on the same files.

It reads only the store, which has the files byte for byte. One task takes the inventory of a
directory, others judge clusters, all by the audit's own code. Findings name the original
places.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.clusters import group, link_note
from krafla.audit.render import document
from krafla.audit.result import Finding, Weight
from krafla.audit.run import report_of
from krafla.audit.server_log_audit import shares_of
from krafla.audit.server_logs.files import SERVER_LOG_NAME
from krafla.fuzz.engine.runs import judging_digest
from krafla.pipeline.asking import Inquiry, LogFile, ask, whole
from krafla.pipeline.audit_stages import ClusterFiles, ClusterJudge
from krafla.pipeline.audit_tables import AUDIT, keep_audit, read_audit
from krafla.pipeline.audit_tasks import ClusterQuestion, read_server_logs, take_inventories
from krafla.pipeline.carry import place_below, told_path, unpacked
from krafla.pipeline.known_files import INGEST, current_files, last_number, listed_places
from krafla.pipeline.layout import Bench, bench
from krafla.pipeline.session import told
from krafla.pipeline.sources import AUDITED, FileKind
from krafla.pipeline.store import FORMAT, load_id
from krafla.pipeline.tables import CONTENT
from krafla.verdict import KraflaError
from kraft.log.text_files import META_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.audit.cluster_audit import ClusterAudit
    from krafla.audit.clusters import Cluster
    from krafla.audit.server_logs.files import NodeLogs
    from krafla.audit.server_logs.settings import ServerLogOptions
    from krafla.pipeline.session import Session
    from krafla.pipeline.store import Store

__all__ = ["audit_store"]

_JUDGES: Final = ("BrokerLease", "UntimedLease", "RaftLog", "RegistrationLog", "PartitionLog")
_OF_LOGS: Final = frozenset(kind.value for kind in AUDITED)
_KINDS: Final = _OF_LOGS | {FileKind.SERVER_LOG.value, FileKind.SETTINGS.value}


def audit_store(
    session: Session, store: Store, server_logs: ServerLogOptions | None = None
) -> dict[str, Any]:
    """Return the audit of all files of a store, in the form of ``krafla audit --json``.

    With ``server_logs``, server logs are judged too. The audit is kept in the store; that of the
    same files by the same krafla is not made again. ``KraflaError`` if the store has no directory
    of a metadata log.
    """
    with told(session.log):
        asked = _asked(store)
        options = None if server_logs is None else asdict(server_logs)
        files = [(file.path, file.file_id) for file in asked.files]
        parts = (last_number(store), asked.logs, asked.roots, asked.links, files, options)
        load = load_id(AUDIT, FORMAT, judging_digest(_JUDGES), parts)
        if not store.is_committed(load):
            keep_audit(store, load, _Audit(session, store, asked, server_logs).report())
        return read_audit(store, load)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is audited: the folders of logs, all files, the sources, the links that were noted."""

    logs: tuple[str, ...]
    files: tuple[LogFile, ...]
    roots: tuple[str, ...]
    links: tuple[str, ...]


def _asked(store: Store) -> _Asked:
    roots, logs, links = listed_places(store)
    if not logs:
        raise KraflaError("no directory of a metadata log was ingested here", store.uri)
    rows = current_files(store).select("path", "kind", "file_id", "bytes").orderBy("path").collect()
    files = tuple(LogFile(*row) for row in rows if row["kind"] in _KINDS)
    return _Asked(tuple(logs), files, tuple(roots), tuple(links))


class _Audit:
    """An audit that is being made; what tasks answer has its places on our own bench."""

    def __init__(
        self, session: Session, store: Store, asked: _Asked, server_logs: ServerLogOptions | None
    ) -> None:
        self._session, self._store, self._asked = session, store, asked
        self._options = server_logs
        self._of_log = _files_of_logs(asked)

    def report(self) -> dict[str, Any]:
        """Return the report, with the places as the store names them."""
        asked = self._asked
        with bench() as own:
            clusters = self._clusters(own)
            shares, findings = self._server_logs(own, clusters)
            judged = self._judged(own, clusters, shares)
            about = [*_about_roots(asked), *(link_note(Path(link)) for link in asked.links)]
            folders = [
                place_below(own.root, root)
                for root in asked.roots
                if all(file.path != root for file in asked.files)
            ]
            report = report_of(folders, judged, [*about, *findings])
            if self._options is not None:
                report = replace(report, server_log_options=self._options)
            placed: dict[str, Any] = json.loads(told_path(json.dumps(document(report)), own.root))
            return placed

    def _clusters(self, own: Bench) -> list[Cluster]:
        """Return the clusters that the logs belong to."""
        logs = self._asked.logs
        self._session.phase(f"reading {len(logs):,} directories")
        questions = [Inquiry(log, b"", whole(self._of_log[log])) for log in logs]
        inventories = [
            unpacked(answer, own.root)
            for answer in ask(self._session, self._store, questions, take_inventories)
        ]
        # Whose a log is, is read from the files that name a node.
        for path, content in self._identities():
            own.lay({"path": path, "position": 0, "content": content})
        return group(inventories)

    def _identities(self) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the content of each file that names the owner of a log."""
        named = [one for one in self._asked.files if one.path.endswith(f"/{META_PROPERTIES}")]
        ids = sorted({one.file_id for one in named if one.file_id is not None})
        wanted = self._store.spark.createDataFrame([(one,) for one in ids], "file_id string")
        pieces = self._store.read(CONTENT, INGEST).join(wanted, "file_id").where("number = 0")
        content = {row["file_id"]: bytes(row["content"]) for row in pieces.collect()}
        for one in named:
            if one.file_id in content:
                yield one.path, content[one.file_id]

    def _server_logs(
        self, own: Bench, clusters: Sequence[Cluster]
    ) -> tuple[list[list[NodeLogs]], list[Finding]]:
        """Return the server logs of each cluster, and findings about all of them."""
        if self._options is None:
            return [[] for _ in clusters], []
        folders: dict[str, list[LogFile]] = {}
        for file in self._asked.files:
            if SERVER_LOG_NAME.fullmatch(file.path.rpartition("/")[2]):
                folders.setdefault(file.folder, []).append(file)
        self._session.phase(f"reading the server logs of {len(folders):,} directories")
        questions = [Inquiry(folder, b"", whole(folders[folder])) for folder in sorted(folders)]
        logs: list[NodeLogs] = []
        findings: list[Finding] = []
        for answer in ask(self._session, self._store, questions, read_server_logs):
            some, about = unpacked(answer, own.root)
            logs += some
            findings += about
        shares, strays = shares_of(logs, clusters)
        return shares, [*findings, *strays]

    def _judged(
        self, own: Bench, clusters: Sequence[Cluster], shares: Sequence[list[NodeLogs]]
    ) -> list[ClusterAudit]:
        """Return the audit of each cluster."""
        places = {str(place_below(own.root, log)): log for log in self._asked.logs}
        asked = []
        for cluster, share in zip(clusters, shares, strict=True):
            files = [f for one in cluster.members for f in self._of_log[places[str(one.path)]]]
            if self._options is not None:
                files += self._settings(own, cluster, share)
            asked.append(ClusterFiles(ClusterQuestion(cluster, share, self._options), files))
        return ClusterJudge(self._session, self._store, own.root).judge(asked)

    def _settings(
        self, own: Bench, cluster: Cluster, share: Sequence[NodeLogs]
    ) -> Iterator[LogFile]:
        """Yield the files of settings that may be those of a cluster."""
        nodes = {node.folder for node in share} | {one.path for one in cluster.members}
        near = {place for node in nodes for place in (node, node.parent)}
        for file in self._asked.files:
            if file.kind == FileKind.SETTINGS.value:
                folder = place_below(own.root, file.folder)
                if folder in near or folder.parent in near:
                    yield file


def _files_of_logs(asked: _Asked) -> dict[str, list[LogFile]]:
    """Return the files of each log, those that name its owner included, which lie beside it."""
    found: dict[str, list[LogFile]] = {log: [] for log in asked.logs}
    beside: dict[str, list[str]] = {}
    for log in asked.logs:
        beside.setdefault(log.rpartition("/")[0], []).append(log)
    for file in asked.files:
        if file.kind in _OF_LOGS:
            here = [file.folder] if file.folder in found else beside.get(file.folder, [])
            for log in here:
                found[log].append(file)
    return found


def _about_roots(asked: _Asked) -> Iterator[Finding]:
    """Yield what an audit says of folders without a metadata log."""
    for root in asked.roots:
        is_empty = not any(log == root or log.startswith(f"{root}/") for log in asked.logs)
        if is_empty and all(file.path != root for file in asked.files):
            nothing = "no __cluster_metadata-0 directory here or below"
            yield Finding(Weight.UNREADABLE, "nothing to audit", nothing, Path(root))
