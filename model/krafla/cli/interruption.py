"""How a signal ends the command: soon, but never where Python or Java cannot bear it."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from krafla.interrupted import Terminated

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Ending", "leave"]

# How long a signal waits for an activity that cannot be interrupted.
_SOON_SECONDS = 0.02
_CLEANING_SECONDS = 10.0
# JPype has no way to hand an exception through a call from Java: it would be lost, or end the
# process. In z3's own Python it becomes an error of ctypes, or leaves a term half made.
_OF_LIBRARIES = ("jpype.", "_jpype", "z3.")
# An exception between an import's taking the lock of a module and the `try` that gives it back
# leaves it taken: another thread that imports the same then waits for ever.
_OF_IMPORTS = "<frozen importlib"
# A process that is half started is not yet known as one to be ended, and complains by itself.
_OF_PROCESSES = ("multiprocessing.process", "start")


class Ending:
    """The handlers of SIGINT, SIGTERM, and of the alarm that repeats one of them later."""

    def __init__(self) -> None:
        self._number = signal.SIGINT
        # Once the exit status is known, no signal changes it.
        self.is_settled = False

    def listen(self) -> None:
        """Take over the signals of this process."""
        signal.signal(signal.SIGTERM, self.asked)
        signal.signal(signal.SIGALRM, self.asked_again)
        # A shell lets jobs in the background ignore it.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self.asked)
        sys.unraisablehook = self.swallowed

    def asked(self, number: int, frame: FrameType | None) -> None:
        """Raise ``KeyboardInterrupt``, or ``Terminated`` for SIGTERM, now or very soon.

        It is raised at the current place of the program, so that everything started there is
        cleaned up.
        """
        if self.is_settled:
            return
        self._number = signal.Signals(number)
        while frame is not None:
            if _cannot_be_interrupted(frame):
                self._again_soon()
                return
            frame = frame.f_back
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Terminated(128 + number)

    def asked_again(self, _number: int, frame: FrameType | None) -> None:
        """Raise the exception of the last signal."""
        self.asked(self._number, frame)

    def swallowed(self, lost: Any) -> None:
        """Ask once more, soon, if Python met the signal where nothing can be raised.

        Destructors and callbacks of the garbage collector are such places: the exception is
        dropped.
        """
        if lost.exc_type in {KeyboardInterrupt, Terminated}:
            self._again_soon()
        else:
            sys.__unraisablehook__(lost)

    @staticmethod
    def _again_soon() -> None:
        signal.setitimer(signal.ITIMER_REAL, _SOON_SECONDS)


def leave(status: int) -> NoReturn:
    """End this process with a status: clean up, but leave the JVM and all threads where they are.

    Python would wait for its threads, and JPype would shut the JVM down, which crashes if another
    thread is in the JVM.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    # A thread in the JVM may complain when its files are removed.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    oracle = sys.modules.get("krafla.oracle.jvm")
    # It lacks the name if the signal came while it was imported.
    if oracle is not None and hasattr(oracle, "abandon"):
        oracle.abandon()
    # A library that cleans up may wait for a server that is gone.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(status))
    signal.setitimer(signal.ITIMER_REAL, _CLEANING_SECONDS)
    atexit._run_exitfuncs()  # noqa: SLF001  # as multiprocessing does before its own os._exit
    os._exit(status)


def _cannot_be_interrupted(frame: FrameType) -> bool:
    return (
        frame.f_code.co_filename.startswith(_OF_IMPORTS)
        or frame.f_globals.get("__name__", "").startswith(_OF_LIBRARIES)
        or (frame.f_globals.get("__name__"), frame.f_code.co_name) == _OF_PROCESSES
    )  # fmt: skip
