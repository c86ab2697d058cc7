"""What can be wrong with a trace that comes from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from krafla.traces.partial import PartialTrace
    from krafla.traces.trace import Trace

__all__ = ["TraceFormatError", "TruncatedTraceError"]

# A message quotes what it found; of a line of megabytes this much is enough.
_MAX_MESSAGE = 300


class TraceFormatError(KraflaError):
    """The text is no trace that this version can read; the place is ``file:line``.

    The message is one printable line, whatever the file holds.
    """

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(_printable(message), place)


class TruncatedTraceError(TraceFormatError):
    """The file ends before its trace does: it was cut short, or is still being written.

    ``trace`` is the beginning that is whole, without claim and lasso, which are about what is
    missing; ``None`` if not even one step is whole. Exit status 3: nothing wrong was found in
    what is there, and what is missing is unknown.
    """

    exit_code = ExitCode.INCONCLUSIVE

    def __init__(self, message: str, place: str, trace: Trace | PartialTrace | None) -> None:
        super().__init__(message, place)
        self.trace = trace


def _printable(text: str) -> str:
    shown = text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."
    if shown.isprintable():
        return shown
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape", "replace").decode("ascii")
        for one in shown
    )
