"""``krafla init``: a project that works, to be changed into one's own."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from krafla.verdict import ExitCode

__all__ = ["command"]

_Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The folder to write; it is created if missing.")
]


def command(folder: _Folder = Path()) -> ExitCode:
    r"""Write a small project: a spec, its model, code, a test, a workflow for CI.

    The project is a server that lends a lock. The model holds and the test passes as they are
    written: change the spec and the code into yours, file by file. Nothing is overwritten: if one
    of the files is there already, nothing is written. Only an old .gitignore is left as it is.

    \b
    Lock.tla, Lock.cfg            the spec, and the model that TLC checks
    krafla.toml                   the project: its models and its machines
    lock_server.py                the code that the spec judges
    test_lock.py                  a machine of krafla.testing: a method for each action
    .github/workflows/krafla.yml  the same checks in CI

    Exit status: 0 if it is written; 2 if not.

    \b
    Examples:
      krafla init lock && cd lock
      krafla check && pytest && krafla fuzz lock --seconds 10
    """
    from krafla.cli import screen
    from krafla.skeleton import write_skeleton

    written = write_skeleton(folder)
    console = screen.stdout()
    for path in written:
        screen.line(console, f"    written: {path}")
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    screen.line(console, "")
    screen.line(console, ("  go on with", "dim"))
    for line, purpose in (
        (f"{enter}krafla check", "the model: every state within its bounds"),
        (f"{_installed()}pytest", "random calls of the code, each step judged by the spec"),
        ("krafla fuzz lock", "the same for as long as you like; what was covered"),
    ):
        screen.line(console, f"    {line:<34}", (f"# {purpose}", "dim"))
    return ExitCode.HELD


def _installed() -> str:
    """Return what comes before a call of pytest: its installation, if this Python lacks it."""
    return "" if find_spec("pytest") is not None else "pip install pytest && "
