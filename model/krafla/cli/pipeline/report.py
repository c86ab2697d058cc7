"""``krafla pipeline report``: the report on a store as a page, as Markdown, as tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.spark_options import Conf, Master, Packages, Remote, running_spark
from krafla.verdict import ExitCode

if TYPE_CHECKING:
    from krafla.pipeline.report.run import Written

__all__ = ["command"]

_Out = Annotated[
    str, typer.Argument(metavar="OUT", help="The tables of an ingest or of a campaign.")
]
_Page = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The page; by default report.html in OUT.")
]
_Markdown = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The same as Markdown, for an issue.")
]
_Tables = Annotated[
    str | None,
    typer.Option(metavar="URI", help="The same as Parquet, a folder for each table, outside OUT."),
]


def command(
    out: _Out,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    packages: Packages = "",
    page: _Page = None,
    markdown: _Markdown = None,
    tables: _Tables = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Draw a report of an ingest and its audit, or of a campaign.

    Writes a page that opens offline: findings, verdicts, quarantine, records and trend; of a
    campaign also the steps that lead to a finding.

    Exit status: 0; 2 if it could not be done.

    \b
    Examples:
      krafla pipeline report tables
      krafla pipeline report tables --markdown report.md
      krafla pipeline report s3a://audits/kafka --page today.html --tables s3a://reports/kafka

    With --json: {"schema": 1, "page", "markdown", "tables"}.
    """
    from krafla.pipeline.needs import require_packages

    require_packages()
    name = "krafla pipeline report"
    with running_spark(name, master, remote, conf, packages, quiet=quiet, opens=out) as spark:
        from krafla.pipeline.report.run import write_report

        written = write_report(spark, out, page, markdown, tables)
    return _told(written, as_json=as_json)


def _told(written: Written, *, as_json: bool) -> ExitCode:
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
