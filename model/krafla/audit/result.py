"""What an audit answers: findings, one result per directory, one per cluster, one report.

A finding is one sentence with its place. What it means for the verdict is its `weight`; a violation
also carries the evidence that a reader needs to believe it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from krafla.verdict import ExitCode, Verdict, worst
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from krafla.audit.check_counts import Stepped
    from krafla.audit.server_log_options import Wish
    from krafla.audit.server_logs.judge import Judgement
    from krafla.values import Value


class Weight(enum.Enum):
    """What a finding means for the verdict; the value is how it is printed."""

    NOTE = "note"
    INCONCLUSIVE = "inconclusive"
    UNREADABLE = "unreadable"
    VIOLATION = "violation"


@dataclass(frozen=True, slots=True)
class FalseConjunct:
    """A conjunct that is false: its text, where it stands, and the values in it as TLA+ text."""

    text: str
    place: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a record is a violation.

    `rule` is `Module!Name` of the spec or the id of a log invariant, `statement` says it in a
    sentence, `source` is where it comes from. `record` is the record as Kafka's JSON, secrets
    withheld. `state` is what the log said just before, as TLA+ text; `expected` what would have
    been legal. The action and its parameters are None for a log invariant. `said` is the text of a
    line of a server log. `invariants` are the ids of those that are broken where `rule` is.
    """

    rule: str
    statement: str
    source: str
    record: str | None = None
    action: str | None = None
    parameters: tuple[tuple[str, Value], ...] = ()
    false: tuple[FalseConjunct, ...] = ()
    state: tuple[str, ...] = ()
    expected: str | None = None
    said: str | None = None
    invariants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was noticed: `position` is a byte in the file, `offset` one of the log.

    `line` counts the lines of a server log from 1.
    """

    weight: Weight
    kind: str
    detail: str
    path: Path | None = None
    position: int | None = None
    offset: int | None = None
    evidence: Evidence | None = None
    line: int | None = None

    def __str__(self) -> str:
        number = "" if self.line is None else f":{self.line}"
        place = "" if self.path is None else f"{printable(str(self.path))}{number}: "
        numbers = []
        if self.position is not None:
            numbers.append(f"byte {self.position}")
        if self.offset is not None:
            numbers.append(f"offset {self.offset}")
        where = f" ({', '.join(numbers)})" if numbers else ""
        return f"{place}{self.name}: {self.detail}{where}"

    @property
    def name(self) -> str:
        """The kind, and the invariants that it stands for."""
        ids = () if self.evidence is None else self.evidence.invariants
        return f"{self.kind} ({', '.join(ids)})" if ids else self.kind


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict that findings amount to; without any that matter, it held."""
    weights = {finding.weight for finding in findings}
    if Weight.VIOLATION in weights:
        return Verdict.VIOLATED
    if weights & {Weight.UNREADABLE, Weight.INCONCLUSIVE}:
        return Verdict.INCONCLUSIVE
    return Verdict.HELD


@dataclass(frozen=True, slots=True)
class DirectoryResult:
    """One metadata log directory, judged.

    `first_offset` and `end_offset` (exclusive) say what its segments hold, `judged_from` where the
    judged history begins and `judged_to` where it ends. `same_history_as` names the directory
    whose identical history was stepped through instead, if that is another one.
    """

    path: Path
    node_id: int | None
    batches: int
    records: int
    first_offset: int
    end_offset: int
    judged_from: int
    judged_to: int
    checkpoints: int
    findings: tuple[Finding, ...]
    same_history_as: Path | None = None

    @property
    def verdict(self) -> Verdict:
        """What the findings of this directory amount to."""
        return verdict_of(self.findings)


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """The directories of one cluster, and what was found by comparing them.

    `server_logs` is what the cluster's server logs came to, None if nobody asked. `asked` says how
    often each invariant was asked in the cluster's distinct histories, `stepped` by spec what the
    specs had to say of these.
    """

    cluster_id: str | None
    folder: Path
    directories: tuple[DirectoryResult, ...]
    findings: tuple[Finding, ...]
    server_logs: Judgement | None = None
    asked: Mapping[str, int] = field(default_factory=dict)
    stepped: Mapping[str, Stepped] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The worst of the directories' verdicts, of the comparison's and of the server logs'."""
        own = verdict_of((*self.findings, *self._of_server_logs()))
        return worst([own, *(d.verdict for d in self.directories)])

    def all_findings(self) -> tuple[Finding, ...]:
        """Return the findings of the comparison and of every directory, each once."""
        everything = [*self.findings, *(f for d in self.directories for f in d.findings)]
        return tuple(dict.fromkeys([*everything, *self._of_server_logs()]))

    def _of_server_logs(self) -> tuple[Finding, ...]:
        return () if self.server_logs is None else self.server_logs.findings


@dataclass(frozen=True, slots=True)
class Report:
    """One audit: the paths it was asked about, what it found there.

    `wish` is how server logs were to be judged, None if nobody asked for them.
    """

    paths: tuple[Path, ...]
    clusters: tuple[ClusterResult, ...]
    findings: tuple[Finding, ...]
    histories: int
    steps: int
    wish: Wish | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all clusters; of a path that could not be read: inconclusive."""
        return worst([c.verdict for c in self.clusters] + [verdict_of(self.findings)])

    @property
    def exit_code(self) -> ExitCode:
        """1 if anything is violated; else 2 if anything is unreadable, else 3 if in doubt."""
        weights = {finding.weight for finding in self.findings}
        weights |= {f.weight for cluster in self.clusters for f in cluster.all_findings()}
        if Weight.VIOLATION in weights:
            return ExitCode.VIOLATED
        if Weight.UNREADABLE in weights:
            return ExitCode.COULD_NOT_RUN
        return self.verdict.exit_code
