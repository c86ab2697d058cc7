"""``krafla convert``: a trace from one format into another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from krafla.traces import PartialTrace, Trace

__all__ = ["command"]

_FORMATS = ("ndjson", "itf", "tlc-json", "tlc")
# The endings by which a format is known; the first that fits counts.
_ENDINGS = (
    (".ndjson", "ndjson"),
    (".itf.json", "itf"),
    (".json", "tlc-json"),
    (".txt", "tlc"),
    (".out", "tlc"),
    (".log", "tlc"),
)

_Source = Annotated[Path, typer.Argument(metavar="IN", help="The trace to read.")]
_Target = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; - prints it.")]
_From = Annotated[
    str | None, typer.Option("--from", metavar="FORMAT", help=f"One of {', '.join(_FORMATS)}.")
]
_To = Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="The same.")]
_Model = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", help="What TLC ran, a model or a .cfg: types, constants, parameters."
    ),
]
_Like = Annotated[
    Path | None,
    typer.Option(metavar="TRACE", help="A trace (.ndjson) of the same spec: types, constants."),
]
_Spec = Annotated[str | None, typer.Option(metavar="MODULE", help="The spec, where IN names none.")]
_Salvage = Annotated[
    bool, typer.Option("--salvage", help="Of a file that was cut short, take the whole steps.")
]


def command(
    source: _Source,
    target: _Target,
    from_format: _From = None,
    to_format: _To = None,
    model: _Model = None,
    like: _Like = None,
    spec: _Spec = None,
    salvage: _Salvage = False,
) -> ExitCode:
    r"""Convert a trace into another format.

    \b
    ndjson    .ndjson     krafla's own: everything (docs/internals/traces.md)
    itf       .itf.json   Apalache and Quint; ours survive it without loss
    tlc-json  .json       the output of newer TLC with -dumpTrace json
    tlc       .txt .out   TLC's printed output, with -tool or without

    Any of them may be compressed by gzip (.gz). TLC's formats have no constants, and its JSON has
    no types: name the model that TLC ran, or give a trace of the same spec. Nothing is judged:
    krafla replay and krafla validate do that.

    Exit status: 0 if OUT was written whole; 3 if IN was cut short (with --salvage, its whole
    steps are written).

    \b
    Examples:
      krafla convert counterexample.json found.ndjson --model NoSelfFence
      krafla convert tlc.out found.ndjson --model Lock.cfg
      krafla convert traces/accepted/lease/late-copy-amends.ndjson late.itf.json
      krafla convert found.ndjson - --to tlc
    """
    from krafla.cli.convert_formats import Known, read_as, text_as
    from krafla.traces import TruncatedTraceError
    from krafla.traces.files import write_file

    reads = _format(source, from_format, "--from")
    writes = _format(target, to_format, "--to")
    known = Known(model, like, spec)
    status = ExitCode.HELD
    try:
        trace = read_as(reads, source, known)
    except TruncatedTraceError as error:
        if not salvage or error.trace is None:
            raise
        trace, status = error.trace, error.exit_code
        sys.stderr.write(f"krafla: {error}; they are converted\n")
    text, lost = text_as(writes, trace)
    if str(target) == "-":
        sys.stdout.write(text)
        return status
    write_file(target, text)
    sys.stdout.write(f"{_size(trace)}, {reads} -> {writes}: {target}\n")
    if not _is_whole(trace):
        sys.stdout.write("  it begins in the middle: no initial state, which krafla replay wants\n")
    if lost:
        sys.stdout.write(f"  {writes} has no place for: {', '.join(lost)}\n")
    return status


def _format(path: Path, chosen: str | None, option: str) -> str:
    if chosen is not None:
        if chosen not in _FORMATS:
            raise typer.BadParameter(f"{option} is one of {', '.join(_FORMATS)}; not {chosen!r}")
        return chosen
    name = path.name.lower().removesuffix(".gz")
    for ending, known in _ENDINGS:
        if name.endswith(ending):
            return known
    raise KraflaError(f"its name tells no format: say {option} FORMAT", str(path))


def _is_whole(trace: Trace | PartialTrace) -> bool:
    """Return whether a trace does not begin in the middle of a behaviour."""
    from krafla.traces import Trace
    from krafla.traces.trace import INITIAL

    return not isinstance(trace, Trace) or trace.steps[0].action == INITIAL


def _size(trace: Trace | PartialTrace) -> str:
    from krafla.traces import Trace

    if isinstance(trace, Trace):
        steps = len(trace) - 1
        return f"{steps} {'step' if steps == 1 else 'steps'} of {trace.spec}"
    return f"{len(trace)} observations of {trace.spec}"
