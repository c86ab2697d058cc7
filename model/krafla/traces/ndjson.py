"""Traces as lines of JSON: a header, then one line for each step or observation.

The header counts the lines and each line has its number, so an error says exactly which lines are
missing or doubled, or where the file was cut. ``docs/internals/traces.md`` describes the format.
"""

from __future__ import annotations

from pathlib import Path

from krafla.traces.errors import TraceFormatError
from krafla.traces.files import read_text, refuse_run, write_file
from krafla.traces.from_lines import partial_of, trace_of
from krafla.traces.lines import PartialHeaderLine
from krafla.traces.partial import PartialTrace
from krafla.traces.reader import Lines
from krafla.traces.to_lines import partial_lines, trace_lines
from krafla.traces.trace import Trace

__all__ = ["dumps", "loads", "loads_any", "read_trace", "read_whole_trace", "write_trace"]


def dumps(trace: Trace | PartialTrace) -> str:
    """Return the trace as NDJSON text; equal traces give equal texts.

    ``TraceFormatError`` for a trace that ``loads`` would refuse: it has a number outside 32 bits,
    an invalid name, or steps with different variables.
    """
    lines = trace_lines(trace) if isinstance(trace, Trace) else partial_lines(trace)
    return "".join(f"{line}\n" for line in lines)


def loads(text: str, name: str = "trace", *, cut: bool = False) -> Trace:
    """Return the trace that the text holds; ``TraceFormatError`` names the line at fault.

    ``cut``: the text is known to end too early. ``TruncatedTraceError`` carries the steps before
    the end.
    """
    return _whole(loads_any(text, name, cut=cut), name)


def loads_any(text: str, name: str = "trace", *, cut: bool = False) -> Trace | PartialTrace:
    """Return the trace or partial trace that the text holds; see ``loads``."""
    lines = Lines(text, name, cut=cut)
    header = lines.header()
    if isinstance(header, PartialHeaderLine):
        return partial_of(header, lines)
    return trace_of(header, lines)


def read_whole_trace(path: Path) -> Trace:
    """Return the trace of a file, compressed by gzip or not; see ``loads``."""
    return _whole(read_trace(path), str(path))


def read_trace(path: Path | str) -> Trace | PartialTrace:
    """Return the trace or partial trace of a file, compressed by gzip or not; see ``loads``."""
    path = Path(path)
    text, cut = read_text(path)
    refuse_run(text, path)
    return loads_any(text, str(path), cut=cut)


def _whole(trace: Trace | PartialTrace, name: str) -> Trace:
    if isinstance(trace, PartialTrace):
        raise TraceFormatError(
            "a partial trace, of observations; `krafla validate` judges those", name
        )
    return trace


def write_trace(trace: Trace | PartialTrace, path: Path | str) -> None:
    """Write the trace to a file, completely or not at all; as gzip if its name ends in ``.gz``."""
    write_file(Path(path), dumps(trace))
