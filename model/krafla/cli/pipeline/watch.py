"""``krafla pipeline watch``: the logs of running clusters, judged as they grow."""

from __future__ import annotations

from typing import Annotated

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.pipeline.watch_view import Told, told_watch
from krafla.cli.spark_options import Conf, Master, Packages, Remote, running_spark
from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations

__all__ = ["command"]

_Sources = Annotated[
    list[str], typer.Argument(metavar="SRC...", help="Where logs grow, at or below.")
]
_Out = Annotated[
    str, typer.Argument(metavar="OUT", help="Where the state of the watch is, or shall be.")
]
_Once = Annotated[bool, typer.Option("--once", help="Judge what is there now, then end.")]
_Every = Annotated[
    int, typer.Option(min=1, max=86_400, metavar="SECONDS", help="The time between two looks.")
]
_FailFast = Annotated[bool, typer.Option("--fail-fast", help="End at the first violation.")]


def command(
    sources: _Sources,
    out: _Out,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    packages: Packages = "",
    once: _Once = False,
    every: _Every = 10,
    fail_fast: _FailFast = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Judge the logs of running clusters as they grow, in Spark.

    Judges each batch once, and prints each finding when it comes. It runs until Ctrl-C, and the
    same command goes on from OUT, which has bytes of the logs, secrets included: keep it safe.
    SRC is a folder here, or of s3a://, gs:// or abfs:// with the spark.hadoop.fs settings of
    --conf; not of hdfs://. docs/internals/watch.md says what it checks, and what an audit adds.

    Exit status, by what was found until the end: 0 held, 1 violated, 3 if something is not known,
    such as what waits for earlier batches; 2 if it could not be done.

    \b
    Examples:
      krafla pipeline watch /var/lib/kafka/metadata watched --every 30
      krafla pipeline watch copies/n1 copies/n2 watched --once

    With --json: one line for each finding, then {"schema": 1, "verdict", "exit_code", "out",
    "standings"}.
    """
    from krafla.pipeline.needs import require_packages

    require_packages()
    name = "krafla pipeline watch"
    with running_spark(
        name, master, remote, conf, packages, quiet=quiet, reads=sources, writes=out
    ) as spark:
        from krafla.pipeline.watch.stream import WatchOptions, storage_settings, watch

        tell = Told(spark, as_json=as_json)
        options = WatchOptions(every, once, fail_fast, storage_settings(conf or []))
        watched = watch(spark, sources, out, options, tell)
    return told_watch(watched, as_json=as_json)
