"""``krafla dump``: print metadata logs and checkpoints as Kafka's own dump tool does."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from krafla.verdict import ExitCode, KraflaError

__all__ = ["command"]

_LINES_AT_ONCE = 1000


def command(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A .log, a .checkpoint, or a directory.")
    ],
    show_secrets: Annotated[
        bool,
        typer.Option("--show-secrets", help="Print credentials, tokens and sensitive configs."),
    ] = False,
) -> ExitCode:
    r"""Dump a metadata log: batches and records, line by line as Kafka prints them.

    Secrets are withheld unless asked for. A broken log ends in one line that names the file and
    the byte, after the lines of everything before it, and in exit status 3. A log that ends
    inside a batch, as after a crash, does the same. Exit status 2 if nothing can be read.

    \b
    Examples:
      krafla dump __cluster_metadata-0/00000000000000000000.log
      krafla dump /var/lib/kafka/metadata | grep FENCE
    """
    from krafla.audit.dump import BROKEN_INPUT, HEADLINE, dump_lines

    waiting: list[str] = []
    begun = False
    try:
        for line in dump_lines(path, show_secrets=show_secrets):
            waiting.append(line)
            begun = begun or not line.startswith(HEADLINE)
            if len(waiting) >= _LINES_AT_ONCE:
                _print(waiting)
    except BROKEN_INPUT as error:
        if not begun:
            raise KraflaError(str(error)) from error
        _print(waiting)
        sys.stdout.flush()
        sys.stderr.write(f"krafla: {error}\n")
        return ExitCode.INCONCLUSIVE
    _print(waiting)
    return ExitCode.HELD


def _print(waiting: list[str]) -> None:
    if waiting:
        sys.stdout.write("\n".join(waiting) + "\n")
        waiting.clear()
