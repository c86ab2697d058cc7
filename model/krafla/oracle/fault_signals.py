"""The signals of faults (SIGSEGV and others) that Java handles itself while it runs.

Java reads its own faults: a null in compiled code, a stop of all threads. It takes the handlers
when it starts. Whatever sets others later ends the process at the next fault of this kind, without
a word. `faulthandler` does, which pytest switches off after the last test: Java still runs then.
"""

from __future__ import annotations

import ctypes
import signal

__all__ = ["FaultSignals"]

_SIGNALS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
# No system's `struct sigaction` is larger; nothing here looks into it.
_SIZE = 1024


class FaultSignals:
    """The handlers of the moment in which this is made, as the system knows them."""

    def __init__(self) -> None:
        self._sigaction = ctypes.CDLL(None).sigaction
        self._handlers = {number: ctypes.create_string_buffer(_SIZE) for number in _SIGNALS}
        for number, handler in self._handlers.items():
            self._sigaction(number, None, handler)

    def restore(self) -> None:
        """Set these handlers again."""
        for number, handler in self._handlers.items():
            self._sigaction(number, handler, None)
