"""A report as a JSON document.

The document has `schema`: 1; no field of that schema is removed or renamed:

    {"schema": 1, "verdict", "exit_code", "paths": [],
     "clusters": [{"cluster_id", "folder", "releases", "asked": {}, "stepped": {}, "verdict",
       "findings": [],
       "directories": [{"path", "node_id", "verdict", "batches", "records", "first_offset",
         "end_offset", "judged_from", "judged_to", "judged_records", "judged_on", "torn_at",
         "checkpoints", "images", "same_history_as", "findings": []}],
       "server_logs": {"verdict", "metadata_log", "folders": [], "telling_folders", "lines_read",
         "lines", "lines_explained", "records", "records_explained", "steps", "not_understood",
         "clipped", "session_timeout_ms", "clock_skew_ms", "findings": []}}],
     "findings": [],
     "counts": {"clusters", "directories", "histories", "records", "judged_records", "steps"}}

"judged_records" is how many of "records" were judged: those from "judged_from" to before
"judged_to". "judged_on" is the checkpoint that the history begins with, null at the start of the
log. "torn_at" is the offset from which on a torn tail was lost. "images" counts the checkpoints
that were judged as images, in a directory without a history.

"asked" counts, by id, how often each invariant was checked. "stepped" has, for UntimedLease,
RaftLog, RegistrationLog and PartitionLog, the number of distinct "steps", of "records" judged by
them, and of records "passed_over", by the reason. "steps" in "counts" are their sum.

A finding is {"weight", "kind", "detail", "path", "line", "byte", "offset", "known_bug",
"evidence"}. The weight is note, inconclusive, unreadable or violation. A known bug is Kafka's id,
with releases. The evidence is null or
{"rule", "invariants": [], "statement", "source", "record", "said", "action", "parameters": {},
"state": [], "expected", "false": [{"text", "place", "values": {}}]}. A value that is unknown is
null, as are server logs that were not judged. Verdicts are held, violated and inconclusive. For
server logs, "lines" and "records" count what was judged, and "telling_folders" the folders with a
judged line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from krafla.values import fmt

if TYPE_CHECKING:
    from krafla.audit.check_counts import SpecCounts
    from krafla.audit.report import AuditReport, ClusterResult, DirectoryResult
    from krafla.audit.result import Evidence, Finding
    from krafla.audit.server_logs.judge import Judgement
    from krafla.report.explain.outcome import Falsehood
    from krafla.values import Value

SCHEMA: Final = 1


def document(report: AuditReport) -> dict[str, Any]:
    """Return the report as plain data, in the form described above."""
    return {
        "schema": SCHEMA,
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "paths": [str(path) for path in report.paths],
        "clusters": [_cluster(cluster) for cluster in report.clusters],
        "findings": [finding_document(finding) for finding in report.findings],
        "counts": counts_of(report),
    }


def counts_of(report: AuditReport) -> dict[str, int]:
    """Return how many clusters, directories, histories, records and steps a report is about."""
    directories = [d for cluster in report.clusters for d in cluster.directories]
    return {
        "clusters": len(report.clusters),
        "directories": len(directories),
        "histories": report.histories,
        "records": sum(d.records for d in directories),
        "judged_records": sum(d.judged_records for d in directories),
        "steps": report.steps,
    }


def _cluster(cluster: ClusterResult) -> dict[str, Any]:
    return {
        "cluster_id": cluster.cluster_id,
        "folder": str(cluster.folder),
        "releases": cluster.releases,
        "asked": dict(cluster.checks),
        "stepped": {name: _spec_counts(stepped) for name, stepped in cluster.spec_counts.items()},
        "verdict": cluster.verdict.value,
        "findings": [finding_document(finding) for finding in cluster.findings],
        "directories": [_directory(directory) for directory in cluster.directories],
        "server_logs": None if cluster.server_logs is None else _server_logs(cluster.server_logs),
    }


def _spec_counts(stepped: SpecCounts) -> dict[str, Any]:
    return {
        "steps": stepped.steps,
        "records": stepped.judged,
        "passed_over": dict(stepped.passed_over),
    }


def _server_logs(judged: Judgement) -> dict[str, Any]:
    return {
        "verdict": judged.verdict.value,
        "metadata_log": str(judged.log),
        "folders": [str(folder) for folder in judged.folders],
        "telling_folders": judged.counts.telling,
        "lines_read": judged.lines_read,
        "lines": judged.counts.lines,
        "lines_explained": judged.counts.lines_explained,
        "records": judged.counts.records,
        "records_explained": judged.counts.records_explained,
        "steps": judged.steps,
        "not_understood": judged.not_understood,
        "clipped": judged.clipped,
        "session_timeout_ms": judged.settings.session_timeout_ms,
        "clock_skew_ms": judged.settings.skew_ms,
        "findings": [finding_document(finding) for finding in judged.findings],
    }


def _directory(directory: DirectoryResult) -> dict[str, Any]:
    shared, on = directory.same_history_as, directory.judged_on
    return {
        "path": str(directory.path),
        "node_id": directory.node_id,
        "verdict": directory.verdict.value,
        "batches": directory.batches,
        "records": directory.records,
        "first_offset": directory.first_offset,
        "end_offset": directory.end_offset,
        "judged_from": directory.judged_from,
        "judged_to": directory.judged_to,
        "judged_records": directory.judged_records,
        "judged_on": None if on is None else str(on),
        "torn_at": directory.torn_at,
        "checkpoints": directory.checkpoints,
        "images": directory.images,
        "same_history_as": None if shared is None else str(shared),
        "findings": [finding_document(finding) for finding in directory.findings],
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return a finding as a value that JSON has."""
    return {
        "weight": finding.weight.value,
        "kind": finding.kind,
        "detail": finding.detail,
        "path": None if finding.path is None else str(finding.path),
        "line": finding.line,
        "byte": finding.position,
        "offset": finding.offset,
        "known_bug": finding.known_bug,
        "evidence": None if finding.evidence is None else _evidence(finding.evidence),
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "rule": evidence.rule,
        "invariants": list(evidence.invariants),
        "statement": evidence.statement,
        "source": evidence.source,
        "record": None if evidence.record is None else json.loads(evidence.record),
        "said": evidence.said,
        "action": evidence.action,
        "parameters": {name: _plain(value) for name, value in evidence.parameters},
        "false": [_false(one) for one in evidence.false],
        "state": [f"{name} = {fmt(value)}" for name, value in evidence.state],
        "expected": evidence.expected,
    }


def _plain(value: Value) -> bool | int | str:
    return value if isinstance(value, bool | int | str) else fmt(value)


def _false(one: Falsehood) -> dict[str, Any]:
    values = {name: whole for name, _, whole in one.values}
    return {"text": " ".join(one.text.split()), "place": one.place, "values": values}
