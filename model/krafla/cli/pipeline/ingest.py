"""``krafla pipeline ingest``: very many logs into tables."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.spark_options import Conf, Master, Packages, Remote, running_spark
from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.ingest import Ingested

__all__ = ["command"]

_MIB = 1024 * 1024
_SHOWN = 20

_Sources = Annotated[
    list[str], typer.Argument(metavar="SRC...", help="Where logs lie, at or below.")
]
_Out = Annotated[str, typer.Argument(metavar="OUT", help="Where the tables are, or shall be.")]
_FileMib = Annotated[
    int, typer.Option(min=1, max=1_048_576, help="Cap on a file, decompressed, in MiB.")
]


def command(
    sources: _Sources,
    out: _Out,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    packages: Packages = "",
    file_mib: _FileMib = 4096,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Read very many logs into tables, in Spark.

    Reads metadata directories, segments, checkpoints, server logs and traces (.ndjson), also
    gzipped, into Parquet tables. A file that cannot be read goes whole into quarantine with its
    reason. What OUT has is not read again, and after a kill the same command goes on. The table
    content has the bytes of the logs, secrets included: keep it safe.

    Exit status: 0 if every file was read, 3 if one is in quarantine, 2 if it could not be done.

    \b
    Examples:
      krafla pipeline ingest /backups/kafka /more/logs tables
      krafla pipeline ingest s3a://backups/kafka s3a://audits/kafka --master yarn

    With --json: {"schema": 1, "verdict", "exit_code", "out", "files", "good", "quarantined",
    "left_out", "bytes", "new", "rows"}.
    """
    from krafla.pipeline.needs import require_packages

    require_packages()
    name = "krafla pipeline ingest"
    with running_spark(
        name, master, remote, conf, packages, quiet=quiet, reads=sources, writes=out
    ) as spark:
        from krafla.pipeline.ingest import ingest

        done = ingest(spark, sources, out, file_mib * _MIB)
    return _told(done, as_json=as_json)


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
