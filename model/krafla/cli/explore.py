"""``krafla explore``: the state graph of a model, questions about it, and a page to walk in it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from krafla.cli.ci.reports import reported
from krafla.cli.spark_options import (
    Conf,
    Master,
    Packages,
    Remote,
    check_one_spark,
)
from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations

__all__ = ["command"]

_Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL...",
        help="Names of models (krafla check --list), or a path: a .tla, a .cfg; by default the "
        "only model.",
    ),
]
_From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="PREDICATE", help="Where the path begins; by default an initial state."
    ),
]
_To = Annotated[
    str | None, typer.Option("--to", metavar="PREDICATE", help="Show a shortest path to there.")
]
_Save = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write that path as a trace, .ndjson.")
]
_Progress = Annotated[
    str | None,
    typer.Option(
        metavar="PREDICATE", help="What counts as progress: a livelock never makes it true."
    ),
]
_Mark = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PREDICATE",
        help="Mark the states in which it is true, in all outputs; may be repeated.",
    ),
]
_Limit = Annotated[int | None, typer.Option(metavar="N", help="Stop at N states.", min=1)]
_Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page to walk in.")]
_LimitPage = Annotated[int, typer.Option(metavar="N", help="States on the page.", min=1)]
_Graphml = Annotated[Path | None, typer.Option(metavar="FILE", help="Write GraphML.")]
_Dot = Annotated[Path | None, typer.Option(metavar="FILE", help="Write dot, for Graphviz.")]
_Around = Annotated[
    str | None,
    typer.Option(
        metavar="PREDICATE", help="Show only states near the first one that makes it true."
    ),
]
_Radius = Annotated[int, typer.Option(metavar="N", help="How near: N steps.", min=0)]
_Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Many models on one page, .html, and .json.")
]
_Tier = Annotated[
    str | None, typer.Option(help="Models of --report: smoke (the default), full, nightly, all.")
]
_MaxStates = Annotated[
    int, typer.Option(metavar="N", help="Larger models are left out of --report.", min=1)
]
_Spark = Annotated[
    bool,
    typer.Option("--spark", help="Search on Spark: models too large for one process."),
]
_Checkpoint = Annotated[
    str | None,
    typer.Option(metavar="URI", help="Where --spark keeps each level, and goes on from there."),
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the path and the verdict.")]


@reported()
def command(
    models: _Names = None,
    start: _From = None,
    goal: _To = None,
    save: _Save = None,
    progress: _Progress = None,
    mark: _Mark = None,
    limit: _Limit = None,
    html: _Html = None,
    limit_page: _LimitPage = 50_000,
    graphml: _Graphml = None,
    dot: _Dot = None,
    around: _Around = None,
    radius: _Radius = 2,
    report: _Report = None,
    tier: _Tier = None,
    max_states: _MaxStates = 200_000,
    spark: _Spark = False,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    packages: Packages = "",
    checkpoint: _Checkpoint = None,
    quiet: _Quiet = False,
) -> ExitCode:
    r"""Explore the state graph of a model: every state, every step, and what they tell.

    Prints how often each action was taken, dead ends, strongly connected components and
    histograms. A PREDICATE is the name of an operator of the spec, or TLA+ text. The
    page needs no network: walk from state to state, go back, fork, compare.

    Exit status: 0 if the graph is as the manifest pins it and the path exists; 1 if a
    property is violated, or no path leads from --from to --to although both are true
    somewhere; 3 if the graph was cut by --limit, is not as pinned, or a predicate is true
    nowhere. With --report also 3 where a behaviour can go round for ever without progress.

    With --spark steps are counted and checked, but not stored: there is no path and no page, and
    the search ends at the first violation.

    \b
    Examples:
      krafla explore Lock.tla --to 'holder # {}'
      krafla explore MCBrokerLeaseSmoke --html lease.html
      krafla explore MCBrokerLeaseSmoke --to StaleEpochToldReach --save told.ndjson
      krafla explore MCBrokerLeaseSmoke --around 'log_end = 1' --dot near.dot
      krafla explore --report graphs.html --tier full
      krafla explore MCKRaft --spark --checkpoint s3a://bucket/mckraft
    """
    of_graph = any((start, goal, save, progress, mark, html, graphml, dot, around))
    where = (master, remote, checkpoint, conf, packages)
    if spark or any(where):
        is_alone = not of_graph and report is None and tier is None
        return _on_spark(models, where, limit, spark=spark, is_alone=is_alone, quiet=quiet)
    if report is not None:
        if of_graph or limit is not None:
            raise typer.BadParameter("--report takes no option of a single model")
        return _report(report, tier, tuple(models or ()), max_states)
    return _explored(
        _only(models, tier), start, goal, save, progress, tuple(mark or ()), limit, html,
        limit_page, graphml, dot, around, radius, quiet,
    )  # fmt: skip


def _explored(
    model: str, start: str | None, goal: str | None, save: Path | None, *options: Any
) -> ExitCode:
    if goal is None and (start is not None or save is not None):
        raise typer.BadParameter("--from and --save belong to a path: say where it ends with --to")
    from krafla.cli.explore_run import Request, run

    return run(Request(model, start, goal, save, *options))


def _only(models: list[str] | None, tier: str | None = None) -> str:
    if tier is not None:
        raise typer.BadParameter("--tier is for --report; without it, name one model")
    from krafla.cli.shipped_notice import tell_of_shipped
    from krafla.manifest import load
    from krafla.project.asked import is_path, names_asked, the_name

    if models and len(models) > 1 and not any(map(is_path, models)):
        raise typer.BadParameter("name one model; several are for --report")
    names = names_asked(models or ())
    tell_of_shipped("krafla explore", names)
    return the_name(names, load().models)


def _on_spark(
    models: list[str] | None,
    where: tuple[str | None, str | None, str | None, list[str] | None, str],
    limit: int | None,
    *,
    spark: bool,
    is_alone: bool,
    quiet: bool,
) -> ExitCode:
    if not spark:
        raise typer.BadParameter("--master, --remote and the like are for --spark")
    if not is_alone:
        raise typer.BadParameter("--spark keeps no graph: it takes --limit only")
    model = _only(models)
    master, remote, checkpoint, conf, packages = where
    check_one_spark(master, remote)
    from krafla.pipeline.needs import require_packages

    require_packages()
    from krafla.cli.explore_spark import SparkRequest, run_on_spark
    from krafla.pipeline.server import parse_settings

    settings = parse_settings(conf or [], packages)
    return run_on_spark(SparkRequest(model, master, remote, checkpoint, limit, settings, quiet))


def _report(path: Path, tier: str | None, models: tuple[str, ...], states_max: int) -> ExitCode:
    from krafla.cli.explore_report import ReportRequest, report
    from krafla.cli.shipped_notice import tell_of_shipped
    from krafla.project.asked import names_asked

    names = names_asked(models)
    tell_of_shipped(f"krafla explore --report {shlex.quote(str(path))}", names)
    return report(ReportRequest(path, tier, names, states_max))
