"""Kafka's command line tools, for files of a node and for running clusters: the command `kraft`.

Each verb has Kafka's flags and prints what Kafka's tool prints; docs/kraft-tools.md lists where it
does not, and why.

Kafka: StorageTool, DumpLogSegments, MetadataShell, ClusterTool, MetadataQuorumCommand,
FeatureCommand.
"""

from __future__ import annotations

import functools
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import typer

from kraft.tools import (
    cluster,
    dump_log,
    feature_updates,
    metadata_shell,
    quorum,
    server,
    storage,
)
from kraft.tools.client_options import bootstrap_options
from kraft.tools.guard import run_guarded

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["application", "main"]

_HELP = """Kafka's tools for controllers and their log, without a JVM.

\b
Start here:
  kraft dump-log --cluster-metadata-decoder --files 00000000000000000000.log
  kraft metadata-shell --snapshot 00000000000000000000.log
  kraft storage random-uuid
  kraft server start server.properties
  kraft quorum --bootstrap-controller localhost:9093 describe --status
\b
Exit status: 0 done, 1 refused, 2 could not run, 4 crashed,
130 interrupted, 141 if the reader of the output has left.
"""


def main() -> None:
    """Run the command line and exit with its status."""
    raise SystemExit(run_guarded(functools.partial(application(), prog_name="kraft")))


def application() -> typer.Typer:
    """Return the command line with all its verbs."""
    app = _group(_HELP)
    _add(app, "dump-log", dump_log.command)
    _add(app, "metadata-shell", metadata_shell.command)
    groups: dict[str, Any] = {
        "storage": storage,
        "cluster": cluster,
        "quorum": quorum,
        "features": feature_updates,
        "server": server,
    }
    for name, module in groups.items():
        text = module.__doc__ or ""
        group = _group(text)
        if module in (quorum, feature_updates):
            group.callback(help=_help_text(text))(bootstrap_options)
        for verb, function in module.VERBS.items():
            _add(group, verb, function)
        app.add_typer(group, name=name)
    return app


def _group(text: str) -> typer.Typer:
    return typer.Typer(
        add_completion=False,
        help=_help_text(text),
        no_args_is_help=True,
        # Plain help is readable at any width and does not cost an import of rich.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _add(app: typer.Typer, name: str, function: Callable[..., None]) -> None:
    @functools.wraps(function)
    def guarded(*arguments: Any, **options: Any) -> None:
        # Here, not around all: typer would make status 1 of an interrupt and of a closed pipe.
        raise typer.Exit(run_guarded(functools.partial(function, *arguments, **options)))

    app.command(name, help=_help_text(function.__doc__ or ""))(guarded)


def _help_text(text: str) -> str:
    return cleandoc(text).replace("\\b", "\b")
