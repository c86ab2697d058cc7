"""A private copy of a file, so that the decoded, digested and kept bytes are the same.

A log may grow, and any file may be replaced, between two readings of it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.errors import LimitExceededError, UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kraft.records.limits import Limits

__all__ = ["PIECE_BYTES", "Captured", "capture"]

PIECE_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Captured:
    """A copy: where it lies, how many bytes it has, their SHA-256, and whether the file moved."""

    path: Path
    bytes: int
    sha256: str
    changed: bool


def capture(
    source: Path, folder: Path, limits: Limits, keep: Callable[[int, bytes], None]
) -> Captured:
    """Return a copy of a regular file in a folder, under its own name.

    ``keep`` gets each piece of its bytes, with its number from 0. Only the bytes that were there at
    the start are copied. ``UnreadableFileError`` for anything but a readable regular file,
    ``LimitExceededError`` for one above the cap.
    """
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise UnreadableFileError(source, _reason(error)) from None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFileError(source, "not a regular file")
        if status.st_size > limits.file_bytes:
            raise LimitExceededError(f"the file has more than {limits.file_bytes} bytes",
                                     path=source)  # fmt: skip
        target = folder / source.name
        content, piece, left = hashlib.sha256(), 0, status.st_size
        with target.open("wb") as copy:
            while left > 0:
                try:
                    block = file.read(min(PIECE_BYTES, left))
                except OSError as error:
                    raise UnreadableFileError(source, _reason(error)) from None
                if not block:
                    break
                keep(piece, block)
                content.update(block)
                copy.write(block)
                piece, left = piece + 1, left - len(block)
        size = status.st_size - left
        return Captured(target, size, content.hexdigest(), os.fstat(descriptor).st_size != size)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).lower()
