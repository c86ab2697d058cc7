"""``kraft metadata-shell``: walk in the image of a metadata log or checkpoint."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from kraft.tools.guard import ExitCode
from kraft.tools.shell.commands import Shell
from kraft.tools.shell.image_loader import load
from kraft.tools.shell.image_nodes import root_of
from kraft.tools.shell.interactive import answer, converse


def command(
    snapshot: Annotated[
        str,
        typer.Option("--snapshot", "-s", metavar="FILE", help="The log or checkpoint to read."),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND PATH", help="cat, find, ls or tree, and paths."),
    ] = None,
) -> None:
    r"""Show what a metadata log or checkpoint comes to, as a tree: MetadataShell without a JVM.

    With a command, answer it. Without one, read commands: from a terminal with a prompt, history
    and completion (Tab), else one a line from the standard input. Everything is printed, as Kafka
    prints it: credentials, tokens and passwords, too.

    The tree has /image (acls, clientQuotas, cluster, configs, delegationToken, features,
    producerIds, provenance, scram, topics) and /local. In a path * is any text, ? any character,
    {a,b} one of two. Type help in the shell for its commands.

    \b
    Examples:
      kraft metadata-shell --snapshot 00000000000000000000.log
      kraft metadata-shell --snapshot 00000000000000000000.log tree /image/features
      kraft metadata-shell -s 00000000000000000000.log cat '/image/topics/byName/*/0'
      printf 'cd /image/topics\nls byName\n' | kraft metadata-shell -s 00000000000000000000.log
    \b
    Exit status: 0 done, 1 if a command could not be done, such as for a path
    that is not there; 2 if the file cannot be read.
    """
    shell = Shell(root_of(load(Path(snapshot))), _screen_width())
    is_done = True
    if command:
        is_done = answer(shell.run(command, is_alone=True))
    elif sys.stdin.isatty():
        converse(shell)
    else:
        if isinstance(sys.stdin, io.TextIOWrapper):
            # A name that is no text is one that is not there.
            sys.stdin.reconfigure(errors="surrogateescape")
        for line in sys.stdin:
            is_done = answer(shell.run_line(line)) and is_done
            # A program that writes the commands may wait for the answer to each.
            sys.stdout.flush()
            if shell.has_left:
                break
    if not is_done:
        raise typer.Exit(ExitCode.REFUSED)


def _screen_width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
