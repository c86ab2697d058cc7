"""A private copy of a file, so that the digested, the stored and the decoded bytes are the same.

A log may grow, and any file may be replaced, between two readings of it.
"""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from kraft.errors import LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.storage import StoredFile
    from kraft.records.limits import Limits

__all__ = ["CHANGED", "FileCopy", "copied"]

CHANGED: Final = "the file changed while it was read: this is its beginning"
_IN_MEMORY: Final = 32 * 1024 * 1024
_BLOCK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileCopy:
    """The bytes that a file had when it was opened: a stream at its start, their count and SHA-256.

    ``has_changed`` says that the file became shorter or longer meanwhile.
    """

    stream: IO[bytes]
    size: int
    sha256: str
    has_changed: bool


@contextmanager
def copied(file: StoredFile, limits: Limits) -> Iterator[FileCopy]:
    """Yield a copy of a file that is open, which is gone afterwards.

    ``LimitExceededError`` for a file above the cap, ``UnreadableFileError`` if it cannot be read.
    """
    if file.end > limits.file_bytes:
        raise LimitExceededError(f"the file has more than {limits.file_bytes} bytes",
                                 path=Path(file.path))  # fmt: skip
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copy:
        content, size = hashlib.sha256(), 0
        while block := file.read(_BLOCK):
            content.update(block)
            copy.write(block)
            size += len(block)
        copy.seek(0)
        has_changed = size < file.end or file.has_grown()
        yield FileCopy(copy, size, content.hexdigest(), has_changed)
