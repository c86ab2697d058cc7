"""``krafla pipeline audit``: the logs that an ingest has read, judged in many processes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.pipeline.finding import finding_line
from krafla.cli.server_log_options import ClockSkew, ServerLogs, SessionTimeout  # noqa: TC001 - typer reads the annotations
from krafla.cli.spark_options import Conf, Master, Packages, Remote, running_spark
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]

_Out = Annotated[str, typer.Argument(metavar="OUT", help="The tables of an ingest.")]


def command(
    out: _Out,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    packages: Packages = "",
    server_logs: ServerLogs = False,
    clock_skew_ms: ClockSkew = 100,
    session_timeout_ms: SessionTimeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Judge the logs that an ingest has read, in Spark.

    Judges every metadata log in OUT as krafla audit does, with --server-logs server logs too, and
    adds tables of its verdicts. The same files are not judged again by the same krafla.

    Exit status: 0 held, 1 violated, 3 if something could not be judged, 2 if it could not be done.

    \b
    Examples:
      krafla pipeline audit tables --json > report.json
      krafla pipeline audit s3a://audits/kafka --server-logs --master spark://10.0.0.5:7077

    With --json: as krafla audit --json.
    """
    from krafla.pipeline.needs import require_packages

    require_packages()
    name = "krafla pipeline audit"
    with running_spark(name, master, remote, conf, packages, quiet=quiet, opens=out) as spark:
        from krafla.audit.server_logs.settings import ServerLogOptions
        from krafla.pipeline.audit import audit_store
        from krafla.pipeline.ingest import open_store

        options = ServerLogOptions(clock_skew_ms, session_timeout_ms) if server_logs else None
        report = audit_store(spark, open_store(spark, out), options)
    return _told(report, out, as_json=as_json)


def _told(report: dict[str, Any], out: str, *, as_json: bool) -> ExitCode:
    from krafla.cli import screen

    if as_json:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
        return ExitCode(report["exit_code"])
    console = screen.stdout()
    for cluster in report["clusters"]:
        verdict = Verdict(cluster["verdict"])
        name = f"  {cluster['folder']}  cluster {cluster['cluster_id'] or 'of unknown id'}"
        screen.line(console, (verdict.name, screen.VERDICT_STYLES[verdict]), name)
        for text in _cluster_lines(cluster):
            screen.line(console, f"    {text}")
    for finding in report["findings"]:
        screen.line(console, f"  {finding_line(finding)}")
    verdict, counts = Verdict(report["verdict"]), report["counts"]
    words = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    screen.line(console, (verdict.name, screen.VERDICT_STYLES[verdict]), f"  {words}")
    screen.line(console, f"  kept       {out}, tables verdicts, findings and coverage")
    screen.line(console, f"  page       krafla pipeline report {out}")
    return ExitCode(report["exit_code"])


def _cluster_lines(cluster: dict[str, Any]) -> Iterator[str]:
    shown = []
    for directory in cluster["directories"]:
        yield (
            f"{directory['verdict']:<13}{directory['path']}: {directory['records']:,} records,"
            f" judged from {directory['judged_from']} to {directory['judged_to']}"
        )
        shown += directory["findings"]
    for finding in [*cluster["findings"], *shown]:
        yield finding_line(finding)
