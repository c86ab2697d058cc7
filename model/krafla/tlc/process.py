"""Run one TLC process and read it line by line; nothing of it survives, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["run_process"]

_ERROR_TAIL_BYTES = 4_000


def run_process(
    command: Sequence[str],
    folder: Path,
    feed: Callable[[str], None],
    timeout_seconds: float | None = None,
) -> tuple[int, bool, str]:
    """Return the exit status, whether time ran out, and the end of what stderr holds.

    Each line of stdout goes to ``feed`` as it comes. The process leads its own group, so
    that a Ctrl-C reaches this program alone, which then ends the whole group.
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its group at once: its files are scratch, there is nothing to save."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()
