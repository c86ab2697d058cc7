"""A file that keeps answers as they come, one line of JSON each, so that a later run can continue.

Two runs may write to one file: a line is written, and one cut short removed, under a lock.
"""

from __future__ import annotations

import json
import os
from fcntl import LOCK_EX, flock
from typing import TYPE_CHECKING, Any

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["append_line", "read_lines"]


def read_lines(path: Path, take: Callable[[dict[str, Any]], None], what: str) -> None:
    """Give each line of a file to ``take``; a file that is not there has none.

    A last line that was cut short is taken off the file: the run that wrote it was killed.
    ``KraflaError`` with file and line for one that is no JSON object, or that ``take`` cannot use
    (``ValueError``, ``KeyError``, ``TypeError``): it is then called no line of ``what``.
    """
    if path.exists() and not path.is_file():
        raise KraflaError("is no file that results could be kept in", str(path))
    try:
        with path.open("rb") as file:
            flock(file, LOCK_EX)
            whole, end, torn = file.read().rpartition(b"\n")
            lines = whole.split(b"\n") if end else []
            for number, line in enumerate(lines, 1):
                _give(line, take, f"{path}:{number}", what)
            if torn and not torn.startswith(b"{"):
                raise KraflaError(f"this is no line of {what}", f"{path}:{len(lines) + 1}")
            if torn:
                os.truncate(path, len(whole) + len(end))
    except FileNotFoundError:
        return
    except OSError as error:
        raise KraflaError(f"cannot be used: {error.strerror or error}", str(path)) from error


def _give(line: bytes, take: Callable[[dict[str, Any]], None], place: str, what: str) -> None:
    try:
        take(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise KraflaError(f"this is no line of {what}", place) from error


def append_line(path: Path, record: dict[str, Any] | None) -> None:
    """Add a line to a file; with None only find out whether that could be done.

    ``KraflaError`` if the file cannot be written; then no part of the line is in it.
    """
    left = b"" if record is None else json.dumps(record).encode() + b"\n"
    try:
        with path.open("ab", buffering=0) as file:
            flock(file, LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            try:
                while left:
                    left = left[file.write(left) :]
            except OSError:
                file.truncate(size)
                raise
    except OSError as error:
        raise KraflaError(f"cannot be written: {error.strerror or error}", str(path)) from error
