"""Run one TLC process and read it line by line; the process never outlives the call."""

from __future__ import annotations

import subprocess
import threading
from typing import TYPE_CHECKING, BinaryIO

from krafla.child_processes import ChildGroup
from krafla.tlc.side_by_side import killed_with_the_rest
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["run_process", "start", "tail_of"]

_ERROR_TAIL_BYTES = 4_000


def run_process(
    command: Sequence[str],
    folder: Path,
    feed: Callable[[str], None],
    timeout_seconds: float | None = None,
) -> tuple[int, bool, str]:
    """Return the exit status, whether time ran out, and the end of stderr.

    Each line of stdout goes to ``feed`` as it comes. A Ctrl-C reaches this program alone, which
    then ends the process. It is killed with this program, even if that is killed itself.
    """
    errors = folder / "stderr"
    with errors.open("wb") as stderr:
        process, group = start(command, folder, stderr)
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        process.kill()

    timer = threading.Timer(timeout_seconds, expire) if timeout_seconds is not None else None
    with group:
        try:
            if timer is not None:
                timer.daemon = True
                timer.start()
            assert process.stdout is not None, "stdout is a pipe"
            with killed_with_the_rest(process.kill):
                for line in process.stdout:
                    feed(line.decode("utf-8", errors="replace"))
                status = process.wait()
        finally:
            if timer is not None:
                timer.cancel()
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
    return status, expired.is_set(), tail_of(errors)


def tail_of(errors: Path, start_at: int = 0) -> str:
    """Return the end of what a process wrote to its file of errors, from a byte on."""
    tail = errors.read_bytes()[start_at:][-_ERROR_TAIL_BYTES:]
    return tail.decode("utf-8", errors="replace").strip()


def start(
    command: Sequence[str], folder: Path, stderr: BinaryIO, stdin: int = subprocess.DEVNULL
) -> tuple[subprocess.Popen[bytes], ChildGroup]:
    """Start a process with a pipe for its stdout; its group's end, or ours, kills it.

    ``KraflaError`` if it does not start.
    """
    try:
        group = ChildGroup()
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                process_group=group.id,
            )
        except BaseException:
            group.end()
            raise
    except OSError as error:
        raise KraflaError(f"Java does not start: {error.strerror or error}", command[0]) from error
    return process, group
