"""Servers that run while a context lasts, and end with the tests, whatever ends those."""

from __future__ import annotations

import re
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from krafla.child_processes import ChildGroup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SECONDS_MAX = 300


class NotStartedError(Exception):
    """A server has ended, or did not say in time that it is ready; the message has its log."""


@contextmanager
def service(
    words: Sequence[str | Path],
    ready: str,
    log: Path,
    environment: Mapping[str, str] | None = None,
    said_in: Path | None = None,
) -> Iterator[str]:
    """Run a program; yield the first group of the pattern that says that it is ready.

    It is looked for in the log file, which has all that the program says, or in another file.
    """
    with ChildGroup() as group, log.open("wb") as told:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.STDOUT,
            env=environment, process_group=group.id,
        )  # fmt: skip
        try:
            yield _answer(process, ready, log, said_in or log)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answer(process: subprocess.Popen[bytes], ready: str, log: Path, said_in: Path) -> str:
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        has_ended = process.poll() is not None
        found = re.search(ready, _text(said_in))
        if found:
            return found[found.re.groups and 1]
        if has_ended:
            break
        time.sleep(0.05)
    raise NotStartedError(f"{process.args} is not ready:\n{_text(log)[-4000:]}")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
