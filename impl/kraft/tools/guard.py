"""How a tool ends: one line for the user, and an exit status with the reason."""

from __future__ import annotations

import enum
import os
import signal
import sys
from typing import TYPE_CHECKING

import typer

from kraft.errors import CorruptRecordError, UnreadableFileError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

_BROKEN_PIPE = 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else 141

_OF_A_CLOSED_PIPE = "PacifyFlushWrapper"
"""What typer puts in the place of the output if it meets a closed pipe; it then ends with 1."""


class ExitCode(enum.IntEnum):
    """The exit statuses of a tool; `krafla` has the same numbers."""

    DONE = 0
    REFUSED = 1
    COULD_NOT_RUN = 2
    CRASHED = 4
    INTERRUPTED = 130


class ToolError(Exception):
    """The tool cannot do its work; the message is one sentence with its place.

    `code` is REFUSED where Kafka's tool refuses, too, else COULD_NOT_RUN.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.COULD_NOT_RUN) -> None:
        super().__init__(message)
        self.code = code


def run_guarded(run: Callable[[], object]) -> int:
    """Run a command line and return its exit status, each way of failing told in one line."""
    try:
        try:
            run()
        finally:
            sys.stdout.flush()
    except SystemExit as leaving:
        if type(sys.stdout).__name__.endswith(_OF_A_CLOSED_PIPE):
            return _BROKEN_PIPE
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except typer.Exit as leaving:
        return leaving.exit_code
    except ToolError as error:
        return _said(str(error), error.code)
    except (CorruptRecordError, UnreadableFileError) as error:
        return _said(str(error), ExitCode.COULD_NOT_RUN)
    except KeyboardInterrupt:
        return _said("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The interpreter would try again, at its end, to write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        return _said(f"{place}{error.strerror}", ExitCode.COULD_NOT_RUN)
    except Exception as error:  # noqa: BLE001 - the last resort: told in one line, exit status 4
        what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return _said(f"crashed, this is a fault in kraft itself ({what})", ExitCode.CRASHED)
    return ExitCode.DONE


def _said(line: str, code: ExitCode) -> int:
    sys.stderr.write(f"kraft: {printable(line)}\n")
    return code
