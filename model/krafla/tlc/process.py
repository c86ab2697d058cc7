"""Run one TLC process and read it line by line; the process never outlives the call."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from krafla.tlc.side_by_side import killed_with_the_rest
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["dying_with_us", "run_process"]

_ERROR_TAIL_BYTES = 4_000
# Of ``linux/prctl.h``.
_SET_PARENT_DEATH_SIGNAL = 1


def run_process(
    command: Sequence[str],
    folder: Path,
    feed: Callable[[str], None],
    timeout_seconds: float | None = None,
) -> tuple[int, bool, str]:
    """Return the exit status, whether time ran out, and the end of stderr.

    Each line of stdout goes to ``feed`` as it comes. The process leads its own group, so that a
    Ctrl-C reaches this program alone, which then ends the whole group. On Linux the process is
    killed with this program, even if that is killed itself.
    """
    errors = folder / "stderr"
    with errors.open("wb") as stderr:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=dying_with_us(),
            )
        except OSError as error:
            raise KraflaError(
                f"Java does not start: {error.strerror or error}", command[0]
            ) from error
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        _end(process)

    timer = threading.Timer(timeout_seconds, expire) if timeout_seconds is not None else None
    try:
        if timer is not None:
            timer.daemon = True
            timer.start()
        assert process.stdout is not None, "stdout is a pipe"
        with killed_with_the_rest(lambda: _end(process)):
            for line in process.stdout:
                feed(line.decode("utf-8", errors="replace"))
            status = process.wait()
    finally:
        if timer is not None:
            timer.cancel()
        _end(process)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    tail = errors.read_bytes()[-_ERROR_TAIL_BYTES:].decode("utf-8", errors="replace")
    return status, expired.is_set(), tail.strip()


def dying_with_us() -> Callable[[], None] | None:
    """Return a function for the child to call at its start, so that it dies with this process."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its group at once; its files are scratch, so nothing is lost."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()
