"""The report of an audit: a result for each directory and each cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from krafla.audit.result import verdict_of
from krafla.verdict import KraflaError, worst
from kraft.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.check_counts import SpecCounts
    from krafla.audit.result import Finding
    from krafla.audit.server_logs.judge import Judgement
    from krafla.audit.server_logs.settings import ServerLogOptions
    from krafla.verdict import ExitCode, Verdict


@dataclass(frozen=True, slots=True)
class DirectoryResult:
    """The result for one metadata log directory.

    `first_offset` and `end_offset` (exclusive) bound its segments, `judged_from` and `judged_to`
    the judged history. `same_history_as` names the directory whose history was judged in place of
    this one's, if there is one. The history begins with the image of `judged_on`, None for an empty
    one. `torn_at` is the offset from which on a torn tail was lost. Without a history, `images`
    checkpoints were judged as images.
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
    judged_on: Path | None = None
    torn_at: int | None = None
    images: int = 0

    @property
    def judged_records(self) -> int:
        """The number of records judged; a log has one at every offset."""
        return max(0, self.judged_to - self.judged_from)

    @property
    def verdict(self) -> Verdict:
        """The verdict on this directory."""
        return verdict_of(self.findings)


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """The results for the directories of one cluster, and the findings from comparing them.

    `server_logs` is the judgement on the cluster's server logs, None if they were not judged.
    `checks` counts, by invariant, the checks in the cluster's distinct histories; `spec_counts`
    counts what each spec judged there. `releases` says which releases of Kafka the logs come from.
    """

    cluster_id: str | None
    folder: Path
    directories: tuple[DirectoryResult, ...]
    findings: tuple[Finding, ...]
    server_logs: Judgement | None = None
    checks: Mapping[str, int] = field(default_factory=dict)
    spec_counts: Mapping[str, SpecCounts] = field(default_factory=dict)
    releases: str | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst verdict among directories, comparison and server logs."""
        own = verdict_of((*self.findings, *self._of_server_logs()))
        return worst([own, *(d.verdict for d in self.directories)])

    def torn_tails(self) -> tuple[int, ...]:
        """Return the offsets from which on torn tails were lost, in order."""
        return tuple(sorted({d.torn_at for d in self.directories if d.torn_at is not None}))

    def all_findings(self) -> tuple[Finding, ...]:
        """Return every distinct finding about the cluster."""
        everything = [*self.findings, *(f for d in self.directories for f in d.findings)]
        return tuple(dict.fromkeys([*everything, *self._of_server_logs()]))

    def _of_server_logs(self) -> tuple[Finding, ...]:
        return () if self.server_logs is None else self.server_logs.findings


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The report of one audit: its paths, its results and findings.

    `server_log_options` is None if server logs were not judged.
    """

    paths: tuple[Path, ...]
    clusters: tuple[ClusterResult, ...]
    findings: tuple[Finding, ...]
    histories: int
    steps: int
    server_log_options: ServerLogOptions | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst verdict among clusters; a path that could not be read is inconclusive."""
        return worst([c.verdict for c in self.clusters] + [verdict_of(self.findings)])

    @property
    def exit_code(self) -> ExitCode:
        """The exit status that says the same as the verdict."""
        return self.verdict.exit_code

    def check_found(self) -> None:
        """Raise KraflaError if there was no log to judge."""
        if not self.clusters and self.findings:
            nothing = self.findings[0]
            raise KraflaError(nothing.detail, printable(str(nothing.path)))
