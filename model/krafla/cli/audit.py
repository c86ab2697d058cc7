"""``krafla audit``: follow the metadata logs of real Kafka clusters against the spec."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.ci.audits import audit_entries
from krafla.cli.ci.reports import reported, tell
from krafla.cli.options import Json  # noqa: TC001 - typer reads the annotations
from krafla.cli.server_log_options import ClockSkew, ServerLogs, SessionTimeout  # noqa: TC001 - typer reads the annotations
from krafla.files import check_writable
from krafla.verdict import ExitCode, KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.report import AuditReport
    from krafla.audit.specs import LoadingSpec
    from krafla.cli.screen import LiveLine

__all__ = ["command"]

_LONG_SECONDS = 1.0
_WIDTH = 100


_Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="A node's directory, a cluster's, or many of them."),
]
_SaveTrace = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        dir_okay=False,
        help="With --server-logs: the partial trace of the one cluster.",
    ),
]
_Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Only what did not hold, notes, and the verdict.")
]
_Coverage = Annotated[
    bool, typer.Option("--coverage", help="Show how often each invariant was checked.")
]


@reported(sarif=True)
def command(
    paths: _Paths,
    server_logs: ServerLogs = False,
    clock_skew_ms: ClockSkew = 100,
    session_timeout_ms: SessionTimeout = None,
    save_trace: _SaveTrace = None,
    coverage: _Coverage = False,
    as_json: Json = False,
    quiet: _Quiet = False,
) -> ExitCode:
    r"""Audit metadata logs: ask whether the history of a real cluster follows the spec.

    Finds every __cluster_metadata-0 directory at or below PATH, reads its segments and
    checkpoints strictly (.log, .checkpoint, also gzipped), compares the nodes of a cluster,
    steps through four specs (UntimedLease, RaftLog, RegistrationLog, PartitionLog), and checks 83
    invariants that the bytes of a log can show to be broken (docs/audit-invariants.md). Nodes
    with the same batches share one history, which is judged once: up to its first violation,
    and past what a known bug of Kafka explains.

    With --server-logs, the lines about the lease in server.log and controller.log below PATH
    (also rotated, also gzipped) become a partial trace, joined with the metadata log. Steps of
    BrokerLease.tla must explain these lines; heartbeats and time that no log shows may be among
    the steps.

    Exit status: 1 if anything is violated; else 3 if anything could not be read, does not belong
    together or remained in doubt (an empty log); else 0. A torn tail, which a crash leaves behind,
    is a note: the verdict is about the log before it. So is a symbolic link to a directory below
    PATH, which is not followed. 2 if a PATH is not there, or no log is found.

    \b
    Examples:
      krafla audit /var/lib/kafka/metadata --quiet
      krafla audit backups --json > report.json
      krafla audit cluster-a --server-logs --clock-skew-ms 250

    With --json: {"schema": 1, "verdict", "exit_code", "paths", "clusters", "findings",
    "counts"}; each cluster has "cluster_id", "folder", "releases", "asked", "verdict", "findings",
    "directories" and "server_logs"; each directory "path", "node_id", "verdict", "batches",
    "records", the offsets judged and its "findings"; each finding "weight", "kind", "detail",
    "path", "line", "byte", "offset", "known_bug" and "evidence", which for a violation holds the
    rule, the record or the line, the action with its parameters, the false conjuncts with their
    values, the state before and the legal alternatives.
    """
    _check_files(paths, save_trace)
    loading = _loading()
    from krafla.audit.run import audit
    from krafla.audit.server_logs.settings import ServerLogOptions

    with _Progress(quiet=quiet) as progress:
        options = ServerLogOptions(clock_skew_ms, session_timeout_ms) if server_logs else None
        report = audit(paths, progress.show, loading, options)
        _check(report)
    _save(report, save_trace)
    if as_json:
        from krafla.audit.render import document

        sys.stdout.write(json.dumps(document(report), indent=2) + "\n")
    else:
        _print(report, quiet=quiet, coverage=coverage)
    return report.exit_code


def _loading() -> LoadingSpec:
    """Return the specs, of which a thread begins to load before the rest is imported."""
    from krafla.audit.specs import LoadingSpec

    return LoadingSpec(brief=True)


def _check_files(paths: Iterable[Path], save_trace: Path | None) -> None:
    """Refuse, before the work, what cannot be read or written."""
    from krafla.audit.paths import check_paths

    check_writable(save_trace)
    check_paths(paths)


def _check(report: AuditReport) -> None:
    """Raise KraflaError if there was no log to judge; else give the reports what was found."""
    report.check_found()
    tell(audit_entries, report)


def _save(report: AuditReport, path: Path | None) -> None:
    """Write the partial trace of the report's one cluster; KraflaError if there is none."""
    if path is None:
        return
    from krafla.audit.server_logs.partial_traces import partial_trace
    from krafla.traces import write_trace

    judged = [c.server_logs for c in report.clusters if c.server_logs is not None]
    if len(judged) != 1:
        raise KraflaError(
            f"--save-trace takes one cluster with --server-logs, and there are {len(judged)}"
        )
    write_trace(partial_trace(judged[0]), path)
    sys.stderr.write(f"saved {path}\n")


class _Progress:
    """A line of progress once the work takes long; what draws it is loaded only then."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._started = time.monotonic()
        self._line: LiveLine | None = None

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._line is not None:
            self._line.__exit__(*exception)

    def show(self, text: str) -> None:
        """Show the current activity, but not in the first second."""
        if self._quiet or time.monotonic() - self._started < _LONG_SECONDS:
            return
        if self._line is None:
            from krafla.cli.screen import LiveLine

            self._line = LiveLine()
        self._line.show(text)


def _print(report: AuditReport, *, quiet: bool, coverage: bool) -> None:
    """Print the report; what gives it colours on a terminal is loaded only there."""
    from krafla.audit.report_text import report_lines

    width = shutil.get_terminal_size((_WIDTH, 0)).columns
    lines = report_lines(report, width, quiet=quiet, coverage=coverage)
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{text}\n" for text, _ in lines)
        return
    from krafla.cli import screen

    console = screen.stdout()
    verdicts = {verdict.name: verdict for verdict in Verdict}
    for text, style in lines:
        screen.styled(console, [(text, style)], verdicts.get(text.partition("  ")[0]))
