"""What an audit answers: one result per directory, one per cluster, one report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from krafla.audit.result import Weight, verdict_of
from krafla.verdict import ExitCode, Verdict, worst

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.check_counts import SpecCounts
    from krafla.audit.result import Finding
    from krafla.audit.server_logs.judge import Judgement
    from krafla.audit.server_logs.settings import ServerLogOptions


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
    checks: Mapping[str, int] = field(default_factory=dict)
    spec_counts: Mapping[str, SpecCounts] = field(default_factory=dict)

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
class AuditReport:
    """One audit: the paths it was asked about, what it found there.

    `server_log_options` say how server logs were to be judged, None if nobody asked for them.
    """

    paths: tuple[Path, ...]
    clusters: tuple[ClusterResult, ...]
    findings: tuple[Finding, ...]
    histories: int
    steps: int
    server_log_options: ServerLogOptions | None = None

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
