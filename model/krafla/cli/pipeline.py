"""``krafla pipeline``: logs into tables, their audit in many processes, a report; by Spark."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.server_log_options import ClockSkew, ServerLogs, SessionTimeout  # noqa: TC001 - typer reads the annotations
from krafla.cli.spark_options import (
    Conf,
    Master,
    Packages,
    Remote,
    running_spark,
)
from krafla.cli.watch_view import Told, finding_line, told_watch
from krafla.verdict import ExitCode, KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.pipeline.ingest import Ingested
    from krafla.pipeline.report.run import Written
    from krafla.pipeline.session import Session
    from krafla.pipeline.watch.stream import Watched

    _Tell = Callable[..., ExitCode]

__all__ = ["command"]

_MIB = 1024 * 1024
_SHOWN = 20

_Action = Annotated[str, typer.Argument(metavar="ACTION", help="ingest, audit, watch or report.")]
_Places = Annotated[
    list[str], typer.Argument(metavar="PLACE...", help="ingest, watch: SRC... OUT; else: OUT.")
]
_FileMib = Annotated[
    int, typer.Option(min=1, max=1_048_576, help="Cap on a file, decompressed, in MiB.")
]
_Page = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="report: the page; by default report.html in OUT."),
]
_Markdown = Annotated[
    Path | None, typer.Option(metavar="FILE", help="report: the same as Markdown, for an issue.")
]
_Tables = Annotated[
    str | None,
    typer.Option(
        metavar="URI", help="report: the same as Parquet, a folder for each table, outside OUT."
    ),
]

_Once = Annotated[
    bool, typer.Option("--once", help="watch: judge what is there now, then end.")
]  # fmt: skip
_Every = Annotated[
    int,
    typer.Option(min=1, max=86_400, metavar="SECONDS", help="watch: the time between two looks."),
]
_FailFast = Annotated[
    bool, typer.Option("--fail-fast", help="watch: end at the first violation.")
]  # fmt: skip
_ACTIONS = ("ingest", "audit", "watch", "report")


def command(
    action: _Action,
    places: _Places,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    packages: Packages = "",
    file_mib: _FileMib = 4096,
    server_logs: ServerLogs = False,
    clock_skew_ms: ClockSkew = 100,
    session_timeout_ms: SessionTimeout = None,
    page: _Page = None,
    markdown: _Markdown = None,
    tables: _Tables = None,
    once: _Once = False,
    every: _Every = 10,
    fail_fast: _FailFast = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Read very many logs into tables on Spark, audit them, also as they grow, draw a report.

    SRC and OUT are paths, or URIs of any storage that Spark knows: s3a://, hdfs://, abfs://, gs://.

    ingest SRC... OUT reads metadata directories, segments, checkpoints, server logs and traces
    (.ndjson), also gzipped, into Parquet tables. A file that cannot be read goes whole into
    quarantine with its reason. What OUT has is not read again, and after a kill the same command
    goes on. The table content has the bytes of the logs, secrets included: keep it safe.

    audit OUT judges every metadata log in OUT as krafla audit does, with --server-logs server logs
    too, and adds tables of its verdicts. report OUT writes a page that opens offline: findings,
    verdicts, quarantine, records and trend; of a campaign also the steps that lead to a finding.

    watch SRC... OUT audits metadata logs while Kafka writes them, each batch once, and prints each
    finding when it comes. It runs until Ctrl-C, and the same command goes on from OUT, which has
    bytes of the logs: keep it safe. docs/internals/watch.md says what it checks.

    Spark needs Java 17 or 21 and the extra: pip install 'krafla[spark]', in a checkout
    .venv/bin/pip install -e '.[spark]'. For Spark on several machines: docs/internals/places.md.
    Exit status of ingest: 0 if every file was read, 3 if one is in quarantine. Of audit and watch:
    as of krafla audit. Of report: 0. Always 2 if it could not be done.

    \b
    Examples:
      krafla pipeline ingest s3a://backups/kafka s3a://audits/kafka --master yarn
      krafla pipeline audit tables --json > report.json
      krafla pipeline report s3a://audits/kafka --page today.html --tables s3a://reports/kafka
      krafla pipeline watch /var/lib/kafka/metadata watched --every 30

    With --json, ingest: {"schema": 1, "verdict", "exit_code", "out", "files", "good",
    "quarantined", "left_out", "bytes", "new", "rows"}; audit: as krafla audit --json; report:
    {"schema": 1, "page", "markdown", "tables"}; watch: one line for each finding, then {"schema":
    1, "verdict", "exit_code", "out", "standings"}.
    """
    from krafla.pipeline.needs import require_packages

    require_packages()
    _check(action, places)
    logs = (server_logs, clock_skew_ms, session_timeout_ms)
    options = _Options(
        file_mib * _MIB, logs, (page, markdown, tables), (every, once, fail_fast), as_json
    )
    name = f"krafla pipeline {action}"
    with running_spark(name, master, remote, conf, packages, quiet=quiet) as spark:
        tell = _done(spark, action, places, options)
    return tell(as_json=as_json)


class _Options(NamedTuple):
    """The options of all actions: of an ingest, an audit, a report, a watch, and for machines."""

    file_bytes_max: int
    server_logs: tuple[bool, int, int | None]
    report: tuple[Path | None, Path | None, str | None]
    watch: tuple[int, bool, bool]
    as_json: bool


def _done(spark: Session, action: str, places: list[str], options: _Options) -> _Tell:
    """Do an action, and return what tells its result."""
    if action == "ingest":
        return partial(_told, _ingested(spark, places[:-1], places[-1], options.file_bytes_max))
    if action == "audit":
        return partial(_told_audit, _audited(spark, places[0], *options.server_logs), places[0])
    if action == "watch":
        return partial(told_watch, _watched(spark, places, options))
    return partial(_told_report, _reported(spark, places[0], *options.report))


def _check(action: str, places: list[str]) -> None:
    if action not in _ACTIONS:
        raise KraflaError(f"no action {action!r}; there are: {', '.join(_ACTIONS)}")
    if action in {"ingest", "watch"}:
        if len(places) < 2:
            raise KraflaError(f"{action} needs at least one source and then an output")
    elif len(places) != 1:
        raise KraflaError(f"{action} takes one place, the output of an ingest or a campaign")


def _ingested(spark: Session, sources: list[str], out: str, file_bytes_max: int) -> Ingested:
    """Return what an ingest did."""
    from krafla.pipeline.ingest import ingest

    return ingest(spark, sources, out, file_bytes_max)


def _audited(
    spark: Session, out: str, server_logs: bool, skew_ms: int, timeout_ms: int | None
) -> dict[str, Any]:
    """Return the audit of a store."""
    from krafla.audit.server_logs.settings import ServerLogOptions
    from krafla.pipeline.audit import audit_store
    from krafla.pipeline.ingest import open_store

    options = ServerLogOptions(skew_ms, timeout_ms) if server_logs else None
    return audit_store(spark, open_store(spark, out), options)


def _watched(spark: Session, places: list[str], options: _Options) -> Watched:
    """Return where things stand when a watch has ended; findings are told as they come."""
    from krafla.pipeline.watch.stream import WatchOptions, watch

    tell = Told(spark, as_json=options.as_json)
    return watch(spark, places[:-1], places[-1], WatchOptions(*options.watch), tell)


def _reported(
    spark: Session, out: str, page: Path | None, markdown: Path | None, tables: str | None
) -> Written:
    """Return where the report on a store was written."""
    from krafla.pipeline.report.run import write_report

    return write_report(spark, out, page, markdown, tables)


def _told(done: Ingested, *, as_json: bool) -> ExitCode:
    from krafla.cli import screen

    if as_json:
        sys.stdout.write(json.dumps(_document(done), indent=2) + "\n")
        return done.verdict.exit_code
    console = screen.stdout()
    for text in _lines(done):
        screen.line(console, text)
    word = (done.verdict.name, screen.VERDICT_STYLES[done.verdict])
    screen.line(console, word, f"  {_counts(done)}")
    screen.line(console, f"  tables     {done.out}, with {done.new:,} of these files new")
    screen.line(console, f"  next       krafla pipeline audit {done.out}")
    return done.verdict.exit_code


def _told_audit(report: dict[str, Any], out: str, *, as_json: bool) -> ExitCode:
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


def _told_report(written: Written, *, as_json: bool) -> ExitCode:
    from krafla.cli import screen

    files = {"page": written.page, "markdown": written.markdown}
    names = {name: None if path is None else str(path) for name, path in files.items()}
    if as_json:
        document = {"schema": 1, **names, "tables": list(written.tables)}
        sys.stdout.write(json.dumps(document) + "\n")
        return ExitCode.HELD
    for place in (*filter(None, names.values()), *written.tables):
        screen.line(screen.stdout(), f"written  {place}")
    return ExitCode.HELD


def _lines(done: Ingested) -> Iterator[str]:
    for name, count in done.rows.items():
        yield f"  {count:>11,}  {name}"
    for path, reason in done.quarantined[:_SHOWN]:
        yield f"  quarantined  {path}: {reason}"
    more = len(done.quarantined) - _SHOWN
    if more > 0:
        yield f"  and {more:,} more in the table quarantine"


def _counts(done: Ingested) -> str:
    return (
        f"{done.files:,} files = {done.good:,} read + {len(done.quarantined):,} quarantined,"
        f" {done.bytes:,} bytes; {done.left_out:,} files of other kinds left out"
    )


def _document(done: Ingested) -> dict[str, Any]:
    return {
        "schema": 1,
        "verdict": done.verdict.value,
        "exit_code": int(done.verdict.exit_code),
        "out": done.out,
        "files": done.files,
        "good": done.good,
        "quarantined": [{"path": path, "reason": reason} for path, reason in done.quarantined],
        "left_out": done.left_out,
        "bytes": done.bytes,
        "new": done.new,
        "rows": done.rows,
    }


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
