"""Files that can be read only once, as pipes are, and the standard input by the name ``-``."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["is_pipe", "pipes_kept", "read_start"]

_STANDARD_INPUT: Final = "-"
# More than any command reads of a file.
_MOST: Final = 2**30
# What was read from pipes, if it is kept now.
_kept: list[dict[Path, bytes]] = []


@contextmanager
def pipes_kept() -> Iterator[None]:
    """Keep what is read from pipes inside: a command reads its file several times."""
    _kept.append({})
    try:
        yield
    finally:
        _kept.pop()


def read_start(path: Path, most: int = _MOST) -> bytes:
    """Return at most so many bytes of a file, from its beginning; ``OSError`` if it has none.

    Inside of ``pipes_kept`` a pipe gives the same again, and ``-`` is the standard input.
    """
    if not _kept or not is_pipe(path):
        with path.open("rb") as file:
            return file.read(most)
    if path not in _kept[-1]:
        _kept[-1][path] = _read_once(path)
    return _kept[-1][path][:most]


def is_pipe(path: Path) -> bool:
    """Return whether a path can be read only once: a pipe, a terminal, or ``-``."""
    if path.exists():
        return not path.is_file() and not path.is_dir()
    return str(path) == _STANDARD_INPUT


def _read_once(path: Path) -> bytes:
    if str(path) == _STANDARD_INPUT and not path.exists():
        return sys.stdin.buffer.read(_MOST)
    with path.open("rb") as file:
        return file.read(_MOST)
