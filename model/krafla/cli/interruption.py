"""How a signal ends the command: soon, but never where Python or Java cannot bear it."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Ending"]

# How long a signal waits for an activity that cannot be interrupted.
_SOON_SECONDS = 0.02
# JPype has no way to hand an exception through a call from Java: it would be lost, or end the
# process.
_OF_JPYPE = ("jpype.", "_jpype")
# An exception between an import's taking the lock of a module and the `try` that gives it back
# leaves it taken: another thread that imports the same then waits for ever.
_OF_IMPORTS = "<frozen importlib"
# A process that is half started is not yet known as one to be ended, and complains by itself.
_OF_PROCESSES = ("multiprocessing.process", "start")


class Ending:
    """The handlers of SIGINT, SIGTERM, and of the alarm that repeats one of them later."""

    def __init__(self) -> None:
        self._number = signal.SIGINT

    def asked(self, number: int, frame: FrameType | None) -> None:
        """Raise ``KeyboardInterrupt``, or ``SystemExit`` for SIGTERM, now or very soon.

        It is raised at the current place of the program, so that everything started there is
        cleaned up.
        """
        self._number = signal.Signals(number)
        while frame is not None:
            if _cannot_be_interrupted(frame):
                self._again_soon()
                return
            frame = frame.f_back
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    def asked_again(self, _number: int, frame: FrameType | None) -> None:
        """Raise the exception of the last signal."""
        self.asked(self._number, frame)

    def swallowed(self, lost: Any) -> None:
        """Ask once more, soon, if Python met the signal where nothing can be raised.

        Destructors and callbacks of the garbage collector are such places: the exception is
        dropped.
        """
        if lost.exc_type in {KeyboardInterrupt, SystemExit}:
            self._again_soon()
        else:
            sys.__unraisablehook__(lost)

    @staticmethod
    def _again_soon() -> None:
        signal.setitimer(signal.ITIMER_REAL, _SOON_SECONDS)


def _cannot_be_interrupted(frame: FrameType) -> bool:
    return (
        frame.f_code.co_filename.startswith(_OF_IMPORTS)
        or frame.f_globals.get("__name__", "").startswith(_OF_JPYPE)
        or (frame.f_globals.get("__name__"), frame.f_code.co_name) == _OF_PROCESSES
    )  # fmt: skip
