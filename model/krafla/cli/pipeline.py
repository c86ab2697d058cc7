"""``krafla pipeline``: logs into tables, their audit in many processes, a report; by Spark."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.verdict import ExitCode, KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.ingest import Ingested

__all__ = ["command"]

_MIB = 1024 * 1024
_SHOWN = 20


def command(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="ingest, audit or report.")],
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="ingest: SRC... OUT; else: OUT.")
    ],
    master: Annotated[
        str, typer.Option(help="Spark's master: local[N], spark://HOST:PORT.")
    ] = "local[*]",
    file_mib: Annotated[
        int, typer.Option(min=1, max=1_048_576, help="Cap on a file, decompressed, in MiB.")
    ] = 4096,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Read very many logs into tables, audit them, and draw a report.

    ingest SRC... OUT reads metadata directories, segments, checkpoints, server logs (.log) and
    traces (.ndjson), also gzipped, into Parquet tables: batches, records, events, quarantine,
    files, content. A file that cannot be read goes whole into quarantine with its reason; every
    file is counted once. OUT gets its name when it is complete: the same command after a kill
    continues from there. OUT/content has the bytes of the logs, secrets included: keep it as
    safe as the logs.

    audit OUT judges every metadata log in OUT as krafla audit does, with the same verdicts, and
    reads only OUT. report OUT writes OUT/report.html, one page that opens offline, for an ingest,
    its audit, or a campaign; it needs no Spark.

    ingest and audit need Java 17 or 21 and the extra: pip install 'krafla[spark]', or in a
    checkout .venv/bin/pip install -e '.[spark]'. With a master that is not local, krafla must be
    installed on its machines, and SRC and OUT must be on a disk that they share.

    Exit status of ingest: 0 if every file was read, 3 if one is in quarantine. Of audit: as of
    krafla audit. Of report: 0. Always 2 if it could not be done.

    \b
    Examples:
      krafla pipeline ingest /backups/metadata tables
      krafla pipeline audit tables --json > report.json
      krafla pipeline report tables

    With --json, ingest: {"schema": 1, "verdict", "exit_code", "out", "files", "good",
    "quarantined", "left_out", "bytes", "rows"}; audit: as krafla audit --json.
    """
    from krafla.pipeline.needs import require_packages

    require_packages()
    if action not in {"ingest", "audit", "report"}:
        raise KraflaError(f"no action {action!r}; there are: ingest, audit, report")
    if action == "ingest":
        if len(paths) < 2:
            raise KraflaError("ingest needs at least one source and then an output directory")
        return _ingest(paths[:-1], paths[-1], master, file_mib, as_json, quiet)
    if len(paths) != 1:
        raise KraflaError(f"{action} takes one directory, the output of an ingest or a campaign")
    if action == "audit":
        return _audit(paths[0], master, as_json, quiet)
    return _report(paths[0])


def _ingest(
    sources: list[Path], out: Path, master: str, file_mib: int, as_json: bool, quiet: bool
) -> ExitCode:
    from krafla.cli import screen
    from krafla.pipeline.ingest import ingest, plan_ingest
    from krafla.pipeline.pool import session

    plan = plan_ingest(sources, out, file_bytes_max=file_mib * _MIB)
    with screen.LiveLine(quiet=quiet) as live:
        live.show("starting Spark")
        with session("krafla pipeline ingest", master) as spark:
            done = ingest(plan, spark, live.show)
    if as_json:
        sys.stdout.write(json.dumps(_document(done), indent=2) + "\n")
        return done.verdict.exit_code
    console = screen.stdout()
    for text in _lines(done):
        screen.line(console, text)
    word = (done.verdict.name, screen.VERDICT_STYLES[done.verdict])
    screen.line(console, word, f"  {_counts(done)}")
    screen.line(console, f"  tables     {out}" + ("" if done.new else " (as read before)"))
    screen.line(console, f"  next       krafla pipeline audit {out}")
    return done.verdict.exit_code


def _audit(out: Path, master: str, as_json: bool, quiet: bool) -> ExitCode:
    from krafla.cli import screen
    from krafla.pipeline.audit import audit_ingest
    from krafla.pipeline.pool import session

    with screen.LiveLine(quiet=quiet) as live:
        live.show("starting Spark")
        with session("krafla pipeline audit", master) as spark:
            report = audit_ingest(out, spark, live.show)
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
        screen.line(console, f"  {_finding(finding)}")
    verdict, counts = Verdict(report["verdict"]), report["counts"]
    words = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    screen.line(console, (verdict.name, screen.VERDICT_STYLES[verdict]), f"  {words}")
    screen.line(console, f"  kept       {out / 'audit'}")
    screen.line(console, f"  page       krafla pipeline report {out}")
    return ExitCode(report["exit_code"])


def _report(out: Path) -> ExitCode:
    from krafla.cli import screen
    from krafla.pipeline.report import write_report

    page = write_report(out)
    screen.line(screen.stdout(), f"written  {page}")
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
        "out": str(done.out),
        "files": done.files,
        "good": done.good,
        "quarantined": [{"path": path, "reason": reason} for path, reason in done.quarantined],
        "left_out": done.left_out,
        "bytes": done.bytes,
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
        yield _finding(finding)


def _finding(finding: dict[str, Any]) -> str:
    places = [finding["path"] or ""]
    places += [
        f"{name} {finding[name]}" for name in ("byte", "offset") if finding[name] is not None
    ]
    return f"{finding['weight']}  {', '.join(places)}: {finding['kind']}: {finding['detail']}"
