"""``krafla keep``: put a trace into the corpus, if it shows what is claimed."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.options import Quiet, SpecPath, use_spec
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.fuzz.engine.corpus_store import Stored

__all__ = ["command"]


def command(
    trace: Annotated[Path, typer.Argument(metavar="FILE", help="A trace, or a run.")],
    kind: Annotated[
        str, typer.Option("--as", metavar="KIND", help="accepted, rejected or counterexample.")
    ],
    reason: Annotated[str, typer.Option(help="What the trace shows, in a sentence.")],
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="NAME", help="A name to select it by; may be repeated."),
    ] = None,
    into: Annotated[Path, typer.Option(metavar="FOLDER", help="The corpus.")] = Path("traces"),
    spec: SpecPath = None,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Keep a trace: a test then asks whether it still shows what it shows today.

    A kept trace is a test of one of three kinds. accepted: the spec has every step; if the
    implementation takes the steps today, it must go on doing so. rejected: the spec refuses the
    step that it refuses today, for today's reason; if the trace is a run of the implementation,
    the same choices must now give a run that the spec has; if the project has a machine for it,
    the machine must refuse the step. counterexample: at the end the
    property that the trace claims is false, in the conjunct in which it is false today.

    A run of choices is kept as the trace that it gives. A run on simulated computers (raft, stack)
    is kept as it is: if it names a seeded bug, that bug must be found; otherwise nothing may be
    found. A file that shows something else is not stored. Each gets a name that tells its
    content, and a row in the index.toml of the corpus.

    Exit status: 0 if it was stored; 2 if not; 3 if the file was cut short.

    \b
    Examples:
      krafla keep found.ndjson --as rejected --tag KIP-631 \
          --reason "A silent broker was unfenced."
      krafla check NoSelfFence --trace found.ndjson
      krafla keep found.ndjson --as counterexample --reason "Kafka does not fence itself."
    """
    from krafla.cli import screen
    from krafla.cli.recording import is_run_on_machines, trace_in
    from krafla.fuzz.engine.kept_run import keep_run
    from krafla.fuzz.engine.kept_trace import AS, keep

    if kind not in AS:
        raise typer.BadParameter(f"--as is {', '.join(AS)}; not {kind!r}")
    use_spec(spec)
    listed = AS[kind], reason, tuple(dict.fromkeys(tags or ())), into
    loaded = None if is_run_on_machines(trace) else trace_in(trace)
    with screen.LiveLine(quiet=quiet) as live, _corpus(into):
        live.show("replaying it")
        try:
            stored = keep_run(trace, *listed) if loaded is None else keep(loaded, *listed)
        except KraflaError as error:
            raise KraflaError(error.message, error.place or str(trace)) from error
    _show(stored, into)
    return ExitCode.HELD


@contextmanager
def _corpus(folder: Path) -> Iterator[None]:
    """Make the folder of a corpus, if it is not there; take it away if nothing came into it."""
    is_new = not folder.exists() and folder.parent.is_dir()
    try:
        if is_new:
            folder.mkdir()
    except OSError as error:
        raise KraflaError(f"cannot be made: {error.strerror}", str(folder)) from error
    if not folder.is_dir():
        raise KraflaError(f"is no folder; make it first: mkdir -p {folder}", str(folder))
    if not os.access(folder, os.W_OK):
        raise KraflaError("this folder cannot be written to: --into names another", str(folder))
    try:
        yield
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


def _show(stored: Stored, into: Path) -> None:
    from krafla.cli import screen
    from krafla.manifest import on_these_specs

    console = screen.stdout()
    for line in stored.remark.splitlines():
        screen.line(console, f"    {line}")
    entry = stored.entry
    if entry.step is not None:
        screen.line(console, f"    rejected at step {entry.step}, which names: {entry.names}")
    screen.line(console, ("KEPT", "bold green"), f"  {entry.path}")
    name = entry.path.relative_to(into).as_posix()
    again = on_these_specs(f"krafla replay {shlex.quote(str(into))}")
    screen.line(console, f"    run: {again}")
    test = shlex.quote(f"{into}/index.toml::{name}")
    python = shlex.quote(sys.executable)
    screen.line(console, f"    or, once pytest is installed there: {python} -m pytest {test}")
