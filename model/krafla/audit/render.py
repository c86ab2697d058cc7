"""A report as text and as a JSON document.

The document has `schema`: 1; no field of that schema is removed or renamed:

    {"schema": 1, "verdict", "exit_code", "paths": [],
     "clusters": [{"cluster_id", "folder", "asked": {}, "stepped": {}, "verdict", "findings": [],
       "directories": [{"path", "node_id", "verdict", "batches", "records", "first_offset",
         "end_offset", "judged_from", "judged_to", "checkpoints", "same_history_as",
         "findings": []}],
       "server_logs": {"verdict", "metadata_log", "folders": [], "telling_folders", "lines_read",
         "lines", "lines_explained", "records", "records_explained", "steps", "not_understood",
         "clipped", "session_timeout_ms", "clock_skew_ms", "findings": []}}],
     "findings": [],
     "counts": {"clusters", "directories", "histories", "records", "steps"}}

"asked" counts, by id, how often each invariant was checked. "stepped" has, by spec, the number of
distinct "steps", of "records" judged by them, and of records "passed_over", by the reason.

A finding is {"weight", "kind", "detail", "path", "line", "byte", "offset", "evidence"}. The weight
is note, inconclusive, unreadable or violation. The evidence is null or
{"rule", "invariants": [], "statement", "source", "record", "said", "action", "parameters": {},
"state": [], "expected", "false": [{"text", "place", "values": {}}]}. A value that is unknown is
null, as are server logs that were not judged. Verdicts are held, violated and inconclusive. For
server logs, "lines" and "records" count what was judged, and "telling_folders" the folders with a
judged line.
"""

from __future__ import annotations

import json
import shlex
import textwrap
from typing import TYPE_CHECKING, Any, Final

from krafla.audit.registry import REGISTRY
from krafla.audit.result import Finding, Weight
from krafla.values import fmt
from krafla.verdict import Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.audit.check_counts import SpecCounts
    from krafla.audit.report import AuditReport, ClusterResult, DirectoryResult
    from krafla.audit.result import Evidence
    from krafla.audit.server_logs.judge import Judgement
    from krafla.audit.server_logs.settings import ServerLogOptions
    from krafla.values import Value

SCHEMA: Final = 1
_SPECS: Final = "UntimedLease.tla, RegistrationLog.tla, PartitionLog.tla"
_LABEL: Final = 10
_COLUMNS: Final = 76
_LONG_RECORD: Final = 2000


def document(report: AuditReport) -> dict[str, Any]:
    """Return the report as plain data, in the form described above."""
    return {
        "schema": SCHEMA,
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "paths": [str(path) for path in report.paths],
        "clusters": [_cluster(cluster) for cluster in report.clusters],
        "findings": [_finding(finding) for finding in report.findings],
        "counts": _counts(report),
    }


def text_lines(report: AuditReport, *, quiet: bool = False) -> Iterator[str]:
    """Yield the report line by line; with `quiet`, only the verdict and what did not hold."""
    for finding in report.findings:
        yield from _finding_lines(finding)
    for cluster in report.clusters:
        if not quiet or cluster.verdict is not Verdict.HELD:
            yield from _cluster_lines(cluster, quiet=quiet)
    yield f"{report.verdict.name}  {_totals(report)}"
    if not quiet:
        judges = f"{_SPECS} and {len(REGISTRY)} invariants of the log"
        if any(cluster.server_logs is not None for cluster in report.clusters):
            judges += ", server logs by ObservedLease.tla"
        given = (
            "" if report.server_log_options is None else f"{_options(report.server_log_options)} "
        )
        yield f"    judged by {judges}"
        paths = " ".join(shlex.quote(printable(str(path))) for path in report.paths)
        yield f"    reproduce: krafla audit {given}{paths}"


def _options(options: ServerLogOptions) -> str:
    timeout = options.session_timeout_ms
    given = "" if timeout is None else f" --session-timeout-ms {timeout}"
    return f"--server-logs --clock-skew-ms {options.skew_ms}{given}"


def _cluster_lines(cluster: ClusterResult, *, quiet: bool) -> Iterator[str]:
    name = cluster.cluster_id or "of unknown id"
    yield f"{cluster.verdict.name}  {printable(str(cluster.folder))}  cluster {name}"
    if not quiet:
        for directory in cluster.directories:
            yield f"    {_directory_line(cluster, directory)}"
        yield from _spec_lines(cluster)
        yield from _check_lines(cluster)
        if cluster.server_logs is not None:
            yield f"    {_server_logs_line(cluster.server_logs)}"
    for finding in cluster.all_findings():
        if not quiet or finding.weight is not Weight.NOTE:
            holders = [d for d in cluster.directories if finding in d.findings]
            yield from _finding_lines(finding, 0 if finding.evidence is None else len(holders))


def _spec_lines(cluster: ClusterResult) -> Iterator[str]:
    """Yield for each spec how much it judged, and what it skipped."""
    for name, stepped in cluster.spec_counts.items():
        steps = _counted(stepped.steps, "step", "steps")
        line = f"{_counted(stepped.judged, 'record', 'records')} by {steps} of {name}"
        yield f"    {'stepped':<13}{line}"
        over = [f"{count:,} for {why}" for why, count in stepped.passed_over.items()]
        if over:
            total = sum(stepped.passed_over.values())
            yield f"    {'':<13}{total:,} skipped: {', '.join(over)}"


def _check_lines(cluster: ClusterResult) -> Iterator[str]:
    """Yield a table of how often each invariant was checked, grouped by count."""
    rows: dict[int, list[str]] = {}
    for name, count in cluster.checks.items():
        rows.setdefault(count, []).append(name)
    times = sum(cluster.checks.values())
    checked = sum(1 for count in cluster.checks.values() if count)
    if cluster.checks:
        yield f"    checked      {checked} of {len(cluster.checks)} invariants, {times:,} times"
    for count in sorted(rows, reverse=True):
        lines = textwrap.wrap(" ".join(rows[count]), _COLUMNS)
        yield f"      {count:>11,}  {lines[0]}"
        yield from (f"      {'':>11}  {line}" for line in lines[1:])


def _directory_line(cluster: ClusterResult, directory: DirectoryResult) -> str:
    try:
        path = directory.path.absolute().relative_to(cluster.folder)
    except ValueError:
        path = directory.path
    node = "" if directory.node_id is None else f", node {directory.node_id}"
    judged = f"offsets {directory.judged_from} to {directory.judged_to - 1}"
    if directory.judged_to <= directory.judged_from:
        judged = "nothing judged"
    return (
        f"{directory.verdict.value:<13}{printable(str(path))}{node}:"
        f" {directory.records:,} records in {directory.batches:,} batches, {judged}"
    )


def _server_logs_line(judged: Judgement) -> str:
    clipped = _counted(judged.clipped, "line", "lines")
    left_out = f", {clipped} outside the metadata log" if judged.clipped else ""
    not_understood = _counted(judged.not_understood, "line", "lines")
    unknown = f", {not_understood} not understood" if judged.not_understood else ""
    return (
        f"{judged.verdict.value:<13}server logs, {judged.counts} by {judged.steps:,} steps"
        f" of BrokerLease{left_out}{unknown}; session timeout"
        f" {judged.settings.session_timeout_ms} ms, clocks within {judged.settings.skew_ms} ms"
    )


def _finding_lines(finding: Finding, holders: int = 0) -> Iterator[str]:
    yield f"  {finding.weight.value}  {finding}"
    evidence = finding.evidence
    if evidence is not None:
        for label, text in _evidence_lines(evidence):
            yield f"      {label:<{_LABEL}}{printable(text)}"
        if holders > 1:
            yield f"      {'in':<{_LABEL}}{holders} directories of the cluster"


def _evidence_lines(evidence: Evidence) -> Iterator[tuple[str, str]]:
    yield "rule", f"{evidence.rule}: {evidence.statement} ({evidence.source})"
    if evidence.record is not None:
        yield "record", _cut(evidence.record)
    if evidence.said is not None:
        yield "line", _cut(evidence.said)
    if evidence.action is not None:
        arguments = ", ".join(f"{name} = {fmt(value)}" for name, value in evidence.parameters)
        yield "action", f"{evidence.action}({arguments})"
    for conjunct in evidence.false:
        yield "false", f"{conjunct.text}  [{conjunct.place}]"
        for name, value in conjunct.values:
            yield "", f"{name} = {_cut(value)}"
    for number, line in enumerate(evidence.state):
        yield "before" if number == 0 else "", _cut(line)
    if evidence.expected is not None:
        yield "legal", evidence.expected


def _totals(report: AuditReport) -> str:
    counts = _counts(report)
    return (
        f"{_counted(counts['clusters'], 'cluster', 'clusters')},"
        f" {_counted(counts['directories'], 'directory', 'directories')},"
        f" {_counted(counts['histories'], 'distinct history', 'distinct histories')},"
        f" {_counted(counts['records'], 'record', 'records')},"
        f" {_counted(counts['steps'], 'step', 'steps')} of the spec"
    )


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular if count == 1 else plural}"


def _counts(report: AuditReport) -> dict[str, int]:
    directories = [d for cluster in report.clusters for d in cluster.directories]
    return {
        "clusters": len(report.clusters),
        "directories": len(directories),
        "histories": report.histories,
        "records": sum(d.records for d in directories),
        "steps": report.steps,
    }


def _cluster(cluster: ClusterResult) -> dict[str, Any]:
    return {
        "cluster_id": cluster.cluster_id,
        "folder": str(cluster.folder),
        "asked": dict(cluster.checks),
        "stepped": {name: _spec_counts(stepped) for name, stepped in cluster.spec_counts.items()},
        "verdict": cluster.verdict.value,
        "findings": [_finding(finding) for finding in cluster.findings],
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
        "findings": [_finding(finding) for finding in judged.findings],
    }


def _directory(directory: DirectoryResult) -> dict[str, Any]:
    shared = directory.same_history_as
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
        "checkpoints": directory.checkpoints,
        "same_history_as": None if shared is None else str(shared),
        "findings": [_finding(finding) for finding in directory.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "weight": finding.weight.value,
        "kind": finding.kind,
        "detail": finding.detail,
        "path": None if finding.path is None else str(finding.path),
        "line": finding.line,
        "byte": finding.position,
        "offset": finding.offset,
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
        "false": [
            {"text": c.text, "place": c.place, "values": dict(c.values)} for c in evidence.false
        ],
        "state": list(evidence.state),
        "expected": evidence.expected,
    }


def _plain(value: Value) -> bool | int | str:
    return value if isinstance(value, bool | int | str) else fmt(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONG_RECORD else f"{text[: _LONG_RECORD - 3]}..."
