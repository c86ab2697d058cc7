"""Opening files that may be anything: only regular files, and only the bytes they had at the start.

A path may be a FIFO, a device, a directory, a symlink loop or unreadable. Each is one clear error,
and nothing blocks. `FileBytes` reads forward through a file, or through a gzipped one, and hands
out exactly the bytes asked for, never holding more than that.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from kraft.errors import CorruptRecordError, LimitExceededError, UnreadableFileError
from kraft.records.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP_SUFFIX: Final = ".gz"
_STEP: Final = 1024 * 1024


class ByteStream(Protocol):
    """Whatever hands out bytes in their order."""

    def read(self, length: int, /) -> bytes:
        """Return at most so many bytes, none only at the end."""


class FileBytes:
    """A forward reader over the first `size` bytes of a file (None: to the end of the stream).

    `position` is the byte of the file that the stream begins at.
    """

    def __init__(
        self,
        path: Path,
        stream: ByteStream,
        size: int | None,
        limits: Limits = DEFAULT_LIMITS,
        position: int = 0,
    ) -> None:
        self.path = path
        self.position = position
        self._stream = stream
        self._size = size
        self._limits = limits

    def changed(self) -> str | None:
        """Return how the file's size has changed since it was opened, None if it is the same."""
        if self._size is None:
            return None
        size = os.fstat(self._stream.fileno()).st_size  # type: ignore[attr-defined]  # a file of its own
        if size == self._size:
            return None
        return f"it had {self._size} bytes and has {size}"

    def skip_to(self, position: int) -> None:
        """Go on at a later byte of the file, or at its end. Raises as `read`."""
        if self._size is not None:
            self.position = min(position, self._size)
            self._stream.seek(self.position)  # type: ignore[attr-defined]  # a file of its own
        while self.position < position and self.read(min(_STEP, position - self.position)):
            pass

    def read(self, length: int) -> bytes:
        """Return the next `length` bytes, fewer only at the end of the file.

        Raises UnreadableFileError if the system cannot deliver them, CorruptRecordError for a
        broken gzip stream, LimitExceededError when a gzip stream never ends.
        """
        if self._size is not None:
            length = min(length, self._size - self.position)
        parts = []
        left = length
        try:
            while left > 0:
                part = self._stream.read(min(left, _STEP))
                if not part:
                    break
                parts.append(part)
                left -= len(part)
                self.position += len(part)
        except (zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise CorruptRecordError(
                f"broken gzip file: {error}", path=self.path, position=self.position
            ) from None
        except OSError as error:
            raise UnreadableFileError(self.path, _reason(error)) from None
        if self.position > self._limits.file_bytes:
            raise LimitExceededError(
                f"the file has more than {self._limits.file_bytes} bytes", path=self.path
            )
        return b"".join(parts)


@contextmanager
def open_regular(path: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[FileBytes]:
    """Yield a reader over a regular file; a name ending in `.gz` is decompressed on the way.

    Only the bytes that were there at the start are read, so that a log that is being written gives
    a consistent prefix. Raises UnreadableFileError for anything but a readable regular file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as error:
        raise UnreadableFileError(path, _reason(error)) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise UnreadableFileError(path, f"not a regular file but {_kind(status.st_mode)}")
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if path.name.endswith(GZIP_SUFFIX):
            yield bytes_of_stream(path, file, limits)
        else:
            yield FileBytes(path, file, status.st_size, limits)


def bytes_of_stream(
    path: Path, stream: ByteStream, limits: Limits = DEFAULT_LIMITS, position: int = 0
) -> FileBytes:
    """Return a reader over a stream of a file's bytes from a position on.

    Nothing is opened: the path gives the name. One that ends in `.gz` is decompressed on the way.
    """
    if path.name.endswith(GZIP_SUFFIX):
        stream = gzip.GzipFile(fileobj=stream, mode="rb")  # type: ignore[call-overload]  # only read
    return FileBytes(path, stream, None, limits, position)


def read_small_text(path: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the whole of a small UTF-8 text file.

    Raises UnreadableFileError, CorruptRecordError (not UTF-8) or LimitExceededError.
    """
    return utf8_text(read_small_bytes(path, limits), path)


def read_small_bytes(path: Path, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return the whole of a small file. Raises UnreadableFileError or LimitExceededError."""
    with open_regular(path, limits) as file:
        return small_bytes_of(file, limits)


def small_bytes_of(file: FileBytes, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return what is left of a small file that is open; raises as `read_small_bytes`."""
    raw = file.read(limits.small_file_bytes + 1)
    if len(raw) > limits.small_file_bytes:
        raise LimitExceededError(
            f"the file has more than {limits.small_file_bytes} bytes", path=file.path
        )
    return raw


def utf8_text(raw: bytes, path: Path) -> str:
    """Return the text of a small file. Raises CorruptRecordError if it is not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptRecordError(
            f"invalid UTF-8: {error.reason}", path=path, position=error.start
        ) from None


def _kind(mode: int) -> str:
    for is_kind, name in (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if is_kind(mode):
            return name
    return "something else"


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return str(text)[:1].lower() + str(text)[1:]
