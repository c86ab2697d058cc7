"""Commands as processes: a limit of time, their outputs in files, nothing left behind.

A command and all that it has started end with the night, whatever ends that.
"""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.child_processes import ChildGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# So long a command may take to end after it was asked to: krafla removes its files first.
GRACE_SECONDS = 20
# Every so often somebody who looks wants to see that it goes on.
TELLING_SECONDS = 60.0
TAIL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit status, what it printed, and whether its time ran out."""

    status: int
    output: str
    errors: str
    is_late: bool


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    logs: Path,
    folder: Path,
    seconds: float,
    tell: Callable[[str], object] = lambda _: None,
) -> Ended:
    """Run a command in a folder; its output is kept in `logs`.out and `logs`.err.

    `tell` gets the last line that it printed, once a minute if that is another one. Ctrl-C ends it,
    too, and raises again. A command that does not exist has status 127.
    """
    out, err = logs.with_suffix(".out"), logs.with_suffix(".err")
    with ChildGroup() as group, out.open("w") as output, err.open("w") as errors:
        try:
            process = subprocess.Popen(
                words, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                stdout=output, stderr=errors, process_group=group.id,
            )  # fmt: skip
        except OSError as error:
            return Ended(127, "", f"{words[0]}: {error.strerror}", is_late=False)
        try:
            is_late = not _waited(process, seconds, (err, out), tell)
        finally:
            # What it has started is killed with the group.
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
    return Ended(process.wait(), read(out), read(err), is_late)


def _waited(
    process: subprocess.Popen[bytes],
    seconds: float,
    logs: Sequence[Path],
    tell: Callable[[str], object],
) -> bool:
    """Return whether a process ended within so many seconds; tell how far it is meanwhile."""
    until, told = time.monotonic() + seconds, ""
    while (left := until - time.monotonic()) > 0:
        try:
            process.wait(min(left, TELLING_SECONDS))
        except subprocess.TimeoutExpired:
            line = next(filter(None, map(_last_line, logs)), "")
            if line not in {"", told}:
                tell(line)
            told = line
        else:
            return True
    return False


def _last_line(path: Path) -> str:
    """Return the last line of a file that is not blank, from its last bytes."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def read(path: Path) -> str:
    """Return the text in a file, whatever bytes there are."""
    return path.read_text(encoding="utf-8", errors="replace")
