"""The entries of an audit: a test for each log directory, a result for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.cli.ci.accounts import SpecFiles, told_by
from krafla.report.entries import Entry, EntryStep, FilePlace, Rule
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.audit.report import AuditReport, ClusterResult, DirectoryResult
    from krafla.audit.result import Evidence, Finding

__all__ = ["audit_entries"]


def audit_entries(report: AuditReport) -> Iterator[Entry]:
    """Yield an entry for each finding that is more than a note, and each directory without one.

    The entry of a cluster has the rules that were asked about it.
    """
    from krafla.audit.result import Weight

    for cluster in report.clusters:
        if cluster.verdict is Verdict.HELD:
            yield _held(cluster)
        yield from (_directory(one) for one in cluster.directories if one.verdict is Verdict.HELD)
    found = (*report.findings, *(one for each in report.clusters for one in each.all_findings()))
    for finding in dict.fromkeys(found):
        if finding.weight is not Weight.NOTE:
            yield _found(finding, report)


def _held(cluster: ClusterResult) -> Entry:
    from krafla.audit.registry import REGISTRY

    asked = tuple(Rule(name, _sentence(REGISTRY[name].statement)) for name in cluster.checks)
    return Entry(
        "cluster", cluster.cluster_id or str(cluster.folder), Verdict.HELD,
        evidence=(f"{len(asked)} invariants",), asked=asked,
        reproduce=f"krafla audit {cluster.folder}",
    )  # fmt: skip


def _directory(directory: DirectoryResult) -> Entry:
    judged = f"{directory.judged_records:,} of {directory.records:,} records judged"
    path = str(directory.path)
    return Entry(
        "log", path, Verdict.HELD, evidence=(judged,), reproduce=f"krafla audit {path}"
    )  # fmt: skip


def _found(finding: Finding, report: AuditReport) -> Entry:
    from krafla.audit.result import Weight

    is_violated = finding.weight is Weight.VIOLATION
    at: tuple[FilePlace, ...] = ()
    if finding.path is not None:
        at = (FilePlace(finding.path, finding.line, finding.position),)
    paths = " ".join(str(path) for path in report.paths)
    return Entry(
        "audit", _name(finding), Verdict.VIOLATED if is_violated else Verdict.INCONCLUSIVE,
        (str(finding),), reproduce=f"krafla audit {paths}", **_told(finding, at),
    )  # fmt: skip


def _name(finding: Finding) -> str:
    """Return what tells the finding from others: its kind, the file, the offset in the log."""
    place = "" if finding.path is None else f" in {finding.path.parent.name}/{finding.path.name}"
    line = "" if finding.line is None else f" line {finding.line}"
    offset = "" if finding.offset is None else f" at offset {finding.offset}"
    return f"{finding.name}{place}{line}{offset}"


def _told(finding: Finding, at: tuple[FilePlace, ...]) -> dict[str, Any]:
    evidence = finding.evidence
    if evidence is None:
        return {"places": at, "broken": Rule(finding.kind)}
    from krafla.audit.report_text import finding_account

    told = told_by(finding_account(finding, evidence), SpecFiles())
    # The record comes first, the formula of the spec that it makes false after it.
    told["places"] = (*at, *told["places"])
    told["broken"] = _rule(evidence)
    told["steps"] = tuple(_steps(finding, evidence, at))
    return told


def _rule(evidence: Evidence) -> Rule:
    from krafla.audit.registry import REGISTRY

    if evidence.rule in REGISTRY:
        return Rule(evidence.rule, _sentence(REGISTRY[evidence.rule].statement))
    return Rule(evidence.rule, _sentence(evidence.statement))


def _steps(finding: Finding, evidence: Evidence, at: tuple[FilePlace, ...]) -> Iterator[EntryStep]:
    """Yield the state before the record, if it is known, and the record."""
    from krafla.values import fmt

    if evidence.state:
        state = ", ".join(f"{name} = {fmt(value)}" for name, value in evidence.state)
        yield EntryStep(f"before: {state}", None)
    here = at[0] if at else None
    if evidence.action is not None:
        arguments = ", ".join(f"{name} = {fmt(value)}" for name, value in evidence.parameters)
        yield EntryStep(f"{evidence.action}({arguments})", here)
    elif evidence.said is not None or evidence.record is not None:
        yield EntryStep(evidence.said or evidence.record or "", here)
    else:
        yield EntryStep(finding.detail, here)


def _sentence(statement: str) -> str:
    return f"{statement[0].upper()}{statement[1:]}."
