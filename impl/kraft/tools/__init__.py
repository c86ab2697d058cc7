"""Kafka's command line tools, for the files of a node: the command `kraft`.

Each verb has Kafka's flags and prints what Kafka's tool prints; docs/kraft-tools.md lists where it
does not, and why.

Kafka: StorageTool, DumpLogSegments, MetadataShell, ClusterTool.
"""

from __future__ import annotations

import functools
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import typer

from kraft.tools import cluster, dump_log, metadata_shell, server, storage
from kraft.tools.guard import run_guarded

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["application", "main"]

_HELP = """Kafka's tools for the metadata log, without a JVM and without a broker.

\b
Start here:
  kraft dump-log --cluster-metadata-decoder --files 00000000000000000000.log
  kraft metadata-shell --snapshot 00000000000000000000.log
  kraft storage random-uuid
  kraft cluster cluster-id --log-dir /var/lib/kafka
\b
Exit status: 0 done, 1 refused, 2 could not run, 4 crashed,
130 interrupted, 141 if the reader of the output has left.
"""


def main() -> None:
    """Run the command line and exit with its status."""
    raise SystemExit(run_guarded(application()))


def application() -> typer.Typer:
    """Return the command line with all its verbs."""
    app = _group(_HELP)
    _add(app, "dump-log", dump_log.command)
    _add(app, "metadata-shell", metadata_shell.command)
    for name, module in (("storage", storage), ("cluster", cluster), ("server", server)):
        group = _group(module.__doc__ or "")
        for verb, function in module.VERBS.items():
            _add(group, verb, function)
        app.add_typer(group, name=name)
    return app


def _group(text: str) -> typer.Typer:
    return typer.Typer(
        add_completion=False,
        help=cleandoc(text).replace("\\b", "\b"),
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

    text = cleandoc(function.__doc__ or "").replace("\\b", "\b")
    app.command(name, help=text)(guarded)
