"""The errors for a trace file that is wrong or cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from krafla.traces.partial import PartialTrace
    from krafla.traces.trace import Trace

__all__ = ["TraceFormatError", "TruncatedTraceError"]

# The most characters of a message, which may quote from a line of megabytes.
_MAX_MESSAGE = 300


class TraceFormatError(KraflaError):
    """The text is no trace that this version can read; the place is ``file:line``.

    The message is always one printable line.
    """

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(_printable(message), place)


class TruncatedTraceError(TraceFormatError):
    """The file ends before its trace does: it was cut short, or is still being written.

    ``trace`` is the complete part at the beginning. It has no claim and no lasso, which would
    concern the missing part. ``None`` if no step is complete. The exit status is 3: nothing is
    wrong in the part that is there, and the rest is unknown.
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
