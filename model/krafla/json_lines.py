"""A file that keeps answers as they come, a line of JSON for each, so that a later run goes on."""

from __future__ import annotations

import json
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
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise KraflaError(f"cannot be read: {error}", str(path)) from error
    whole, _, torn = text.rpartition("\n")
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            take(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise KraflaError(f"this is no line of {what}", f"{path}:{number}") from error
    if torn:
        path.write_text(whole + "\n" if whole else "", encoding="utf-8")


def append_line(path: Path, record: dict[str, Any] | None) -> None:
    """Add a line to a file; with None only find out whether that could be done.

    ``KraflaError`` if the file cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            if record is not None:
                file.write(json.dumps(record) + "\n")
    except OSError as error:
        raise KraflaError(f"cannot be written: {error.strerror or error}", str(path)) from error
