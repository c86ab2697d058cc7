"""A report as text: what is violated first, then what was judged, then how to go on."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from krafla.audit.registry import REGISTRY
from krafla.audit.releases import NEWEST, RELEASES
from krafla.audit.render import counts_of
from krafla.audit.result import Finding, Weight
from krafla.counted import counted
from krafla.report.explain.account import Account, Command, Section, account_lines, command_lines
from krafla.report.explain.outcome import Falsehood, Outcome
from krafla.report.explain.words import Words, shorten
from krafla.values import Function, Value, fmt
from krafla.verdict import Verdict
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.audit.report import AuditReport, ClusterResult, DirectoryResult
    from krafla.audit.result import Evidence
    from krafla.audit.server_logs.judge import Judgement
    from krafla.audit.server_logs.settings import ServerLogOptions
    from krafla.report.explain.terminal import Styled

__all__ = ["finding_account", "report_lines", "text_lines"]

_SPECS: Final = "UntimedLease.tla, RaftLog.tla, RegistrationLog.tla, PartitionLog.tla"
_WIDTH: Final = 100
_LONG_RECORD: Final = 2000
_PARTS_MAX: Final = 8
_ORDER: Final = (Weight.VIOLATION, Weight.UNREADABLE, Weight.INCONCLUSIVE, Weight.NOTE)


def text_lines(report: AuditReport, *, quiet: bool = False) -> Iterator[str]:
    """Yield the lines of a report without their styles."""
    return (text for text, _ in report_lines(report, _WIDTH, quiet=quiet))


def report_lines(
    report: AuditReport, width: int, *, quiet: bool = False, coverage: bool = False
) -> Iterator[Styled]:
    """Yield the report: of each cluster what is wrong first, then what was judged.

    With `quiet`, only what did not hold, notes, and the verdict. With `coverage`, how often each
    invariant was checked.
    """
    yield from _findings(report.findings, width)
    for cluster in report.clusters:
        if not quiet or cluster.verdict is not Verdict.HELD or cluster.all_findings():
            yield from _cluster_lines(cluster, width, quiet=quiet, coverage=coverage)
    yield f"{report.verdict.name}  {_totals(report)}", ""
    if not quiet:
        yield from _how(report)


def _how(report: AuditReport) -> Iterator[Styled]:
    """Yield what judged, and the commands to go on with."""
    judges = f"{_SPECS} and {len(REGISTRY)} invariants of the log"
    if any(cluster.server_logs is not None for cluster in report.clusters):
        judges += ", server logs by ObservedLease.tla"
    yield f"    judged by {judges}", ""
    known = f"Kafka {RELEASES[0].name} to {NEWEST.name}"
    yield f"    by the rules of {known}, as the metadata version and the releases have them", ""
    options = report.server_log_options
    given = "" if options is None else f"{_options(options)} "
    paths = " ".join(shlex.quote(printable(str(path))) for path in report.paths)
    again = f"krafla audit {given}{paths}"
    dumps = [one for cluster in report.clusters for one in _dumps(cluster)]
    if dumps:
        yield from command_lines((*dumps, Command(again, "the same audit")))
    else:
        yield f"    reproduce: {again}", "dim"


def _dumps(cluster: ClusterResult) -> Iterator[Command]:
    """Yield the command that shows the record of each violation, or what is before a fault."""
    for finding in cluster.all_findings():
        if finding.weight is Weight.VIOLATION and finding.path and finding.offset is not None:
            file = shlex.quote(printable(str(finding.path)))
            around = f"grep -C 5 'offset: {finding.offset} '"
            yield Command(f"krafla dump {file} | {around}", "the record among its neighbours")
        elif finding.weight is Weight.UNREADABLE and finding.path and finding.offset is not None:
            file = shlex.quote(printable(str(finding.path)))
            yield Command(f"krafla dump {file} | tail", "the last whole records before the fault")


def _options(options: ServerLogOptions) -> str:
    timeout = options.session_timeout_ms
    given = "" if timeout is None else f" --session-timeout-ms {timeout}"
    return f"--server-logs --clock-skew-ms {options.skew_ms}{given}"


def _cluster_lines(
    cluster: ClusterResult, width: int, *, quiet: bool, coverage: bool
) -> Iterator[Styled]:
    name = cluster.cluster_id or "of unknown id"
    torn = cluster.torn_tails()
    lost = f", {_torn(torn)}" if torn else ""
    yield f"{cluster.verdict.name}  {printable(str(cluster.folder))}  cluster {name}{lost}", ""
    yield from _findings(cluster.all_findings(), width, cluster.directories)
    if quiet:
        return
    for directory in cluster.directories:
        yield f"    {_directory_line(cluster, directory)}", ""
    if cluster.releases is not None:
        yield f"    {'release':<13}{cluster.releases}", ""
    yield from ((line, "") for line in _spec_lines(cluster))
    yield from ((line, "") for line in _check_lines(cluster, coverage=coverage))
    if cluster.server_logs is not None:
        yield f"    {_server_logs_line(cluster.server_logs)}", ""


def _spec_lines(cluster: ClusterResult) -> Iterator[str]:
    """Yield for each spec how much it judged, and what is beyond it."""
    for name, stepped in cluster.spec_counts.items():
        steps = counted(stepped.steps, "step")
        line = f"{counted(stepped.judged, 'record')} by {steps} of {name}"
        yield f"    {'stepped':<13}{line}"
        beyond = ", ".join(f"{count:,} for {why}" for why, count in stepped.passed_over.items())
        if beyond:
            total = counted(sum(stepped.passed_over.values()), "record is", "records are")
            yield f"    {'':<13}{total} beyond this spec: {beyond};"
            yield f"    {'':<13}that is no fault, the invariants below judged them"


def _check_lines(cluster: ClusterResult, *, coverage: bool) -> Iterator[str]:
    """Yield how many invariants were checked; with `coverage` each with its count and meaning."""
    if not cluster.checks:
        return
    checked = sum(1 for count in cluster.checks.values() if count)
    times = sum(cluster.checks.values())
    unasked = len(cluster.checks) - checked
    rest = f"; the log has nothing for the other {unasked}" if unasked else ""
    hint = "" if coverage else " (--coverage lists them)"
    total = f"{checked} of {len(cluster.checks)} invariants, {times:,} times"
    yield f"    {'checked':<13}{total}{rest}{hint}"
    for name, count in sorted(cluster.checks.items(), key=lambda one: -one[1]) if coverage else ():
        yield f"      {count:>11,}  {name:<4} {REGISTRY[name].statement}"


def _directory_line(cluster: ClusterResult, directory: DirectoryResult) -> str:
    try:
        path = directory.path.absolute().relative_to(cluster.folder)
    except ValueError:
        path = directory.path
    node = "" if directory.node_id is None else f", node {directory.node_id}"
    torn = "" if directory.torn_at is None else f", {_torn((directory.torn_at,))}"
    return f"{directory.verdict.value:<13}{printable(str(path))}{node}: {_judged(directory)}{torn}"


def _judged(directory: DirectoryResult) -> str:
    """Return what was judged of a directory, and where its history starts."""
    batches = counted(directory.batches, "batch", "batches")
    total = f"{counted(directory.records, 'record')} in {batches}"
    if directory.images:
        images = counted(directory.images, "checkpoint")
        return f"{total}, {images} judged as images"
    if not directory.judged_records:
        return f"{total}, nothing judged"
    on = "" if directory.judged_on is None else f", on {printable(directory.judged_on.name)}"
    offsets = f"offsets {directory.judged_from} to {directory.judged_to - 1}{on}"
    if directory.judged_records == directory.records:
        return f"{total}, {offsets}"
    first, last = directory.first_offset, directory.end_offset - 1
    return (
        f"{directory.judged_records:,} of {directory.records:,} records judged, {offsets}"
        f" (the log has {first} to {last}, in {batches})"
    )


def _torn(offsets: Sequence[int]) -> str:
    """Return in words from which offsets on records were lost in torn tails."""
    tails = "a torn tail" if len(offsets) == 1 else "torn tails"
    return f"{tails} at offset {', '.join(map(str, offsets))}"


def _server_logs_line(judged: Judgement) -> str:
    clipped = counted(judged.clipped, "line")
    left_out = f", {clipped} outside the metadata log" if judged.clipped else ""
    not_understood = counted(judged.not_understood, "line")
    unknown = f", {not_understood} not understood" if judged.not_understood else ""
    return (
        f"{judged.verdict.value:<13}server logs, {judged.counts} by {judged.steps:,} steps"
        f" of BrokerLease{left_out}{unknown}; session timeout"
        f" {judged.settings.session_timeout_ms} ms, clocks within {judged.settings.skew_ms} ms"
    )


def _findings(
    findings: Sequence[Finding], width: int, directories: Sequence[DirectoryResult] = ()
) -> Iterator[Styled]:
    """Yield findings, the worst first: violations whole, others in a line."""
    for finding in sorted(findings, key=lambda one: _ORDER.index(one.weight)):
        if finding.evidence is None:
            yield f"  {finding.weight.value}  {finding}", ""
            continue
        holders = sum(finding in one.findings for one in directories)
        yield from account_lines(finding_account(finding, finding.evidence, holders), width)
        yield "", ""


def finding_account(finding: Finding, evidence: Evidence, holders: int = 1) -> Account:
    """Return a finding as every command tells a failure.

    ``holders`` is the number of directories of the cluster that it is about.
    """
    ids = evidence.invariants or (evidence.rule,)
    statements = [REGISTRY[one].statement for one in ids if one in REGISTRY]
    said = "; ".join(statements) or evidence.statement
    doubt = "" if finding.weight is Weight.VIOLATION else f"{finding.weight.value}: "
    false = evidence.false or (Falsehood(printable(evidence.source), ""),)
    outcome = Outcome(
        0, printable(f"{doubt}{finding}"), is_bad=finding.weight is Weight.VIOLATION,
        meaning=f"{said[0].upper()}{said[1:]}.", falsehoods=false, is_property=True,
    )  # fmt: skip
    return Account(outcome, sections=tuple(_sections(evidence, holders)))


def _sections(evidence: Evidence, holders: int) -> Iterator[Section]:
    words = Words()
    if evidence.said is not None:
        yield Section("the line", (_cut(evidence.said),))
    record = [] if evidence.record is None else [_cut(evidence.record)]
    if evidence.action is not None:
        arguments = ", ".join(f"{name} = {fmt(value)}" for name, value in evidence.parameters)
        record.append(printable(f"read as {evidence.action}({arguments})"))
    if holders > 1:
        record.append(f"in {holders} directories of the cluster")
    if record:
        yield Section("the record" if evidence.record is not None else "its meaning", (*record,))
    before = [line for name, value in evidence.state for line in _parts(name, value, words)]
    if before:
        yield Section("the state before it", tuple(before))
    if evidence.expected is not None:
        yield Section("what the spec allows here", (printable(evidence.expected),))


def _parts(name: str, value: Value, words: Words) -> Iterator[str]:
    """Yield a variable in a line, or one that is a function of functions in a line for each."""
    pairs: list[tuple[Value, Value]] = []
    if isinstance(value, tuple):
        pairs = list(enumerate(value, 1))
    elif isinstance(value, Function):
        pairs = list(value.items())
    if not pairs or not all(isinstance(result, Function) for _, result in pairs):
        yield printable(f"{name} = {words.value(value)}")
        return
    for argument, result in pairs[:_PARTS_MAX]:
        yield printable(f"{name}[{words.value(argument)}] = {words.value(result)}")
    if len(pairs) > _PARTS_MAX:
        yield f"... {len(pairs) - _PARTS_MAX} more of {name}"


def _cut(text: str) -> str:
    return printable(shorten(text, _LONG_RECORD))


def _totals(report: AuditReport) -> str:
    counts = counts_of(report)
    records = counted(counts["records"], "record")
    if counts["judged_records"] != counts["records"]:
        records = f"{counts['judged_records']:,} of {records}"
    torn = sorted({offset for cluster in report.clusters for offset in cluster.torn_tails()})
    lost = f", {_torn(torn)}" if torn else ""
    return (
        f"{counted(counts['clusters'], 'cluster')},"
        f" {counted(counts['directories'], 'directory', 'directories')},"
        f" {counted(counts['histories'], 'distinct history', 'distinct histories')},"
        f" {records},"
        f" {counted(counts['steps'], 'step')} of four specs{lost}"
    )
