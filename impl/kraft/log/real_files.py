"""The files of a replica on a real file system."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from kraft.errors import UnreadableFileError

if TYPE_CHECKING:
    from pathlib import Path


class RealFiles:
    """The files below a directory, which need not be there yet. Satisfies `Files`.

    A file system error is UnreadableFileError with the path; FileNotFoundError stays as it is.
    """

    def __init__(self, directory: Path) -> None:
        self._root = directory

    def place(self, name: str) -> Path:
        """Return the path of a file. Raises ValueError for a name that leads out of the root."""
        parts = name.split("/") if name else []
        if len(parts) > 2 or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a name below a log directory: {name!r}")
        return self._root.joinpath(*parts)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names of the regular files in a directory, sorted."""
        place = self.place(directory)
        prefix = f"{directory}/" if directory else ""
        try:
            with os.scandir(place) as entries:
                found = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _unreadable(place, error) from None
        return tuple(sorted(prefix + name for name in found))

    def read(self, name: str) -> bytes:
        """Return the whole content of a file."""
        return self._content(self.place(name))

    def append(self, name: str, data: bytes) -> None:
        """Write at the end of a file; creates it and its directory."""
        place = self.place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]

    def truncate(self, name: str, size: int) -> None:
        """Cut a file."""
        os.truncate(self.place(name), size)

    def flush(self, name: str) -> None:
        """Flush a file with fsync. Kafka: FileChannel.force, FileDescriptor.sync."""
        _fsync(self.place(name), os.O_RDWR)

    def rename(self, name: str, new_name: str) -> None:
        """Rename a file, replacing what had the name. Kafka: Utils.atomicMoveWithFallback."""
        self.place(name).replace(self.place(new_name))

    def remove(self, name: str) -> None:
        """Remove a file."""
        self.place(name).unlink()

    def flush_directory(self, directory: str) -> None:
        """Flush a directory, and its entry in the root directory. Kafka: Utils.flushDir."""
        place = self.place(directory)
        _fsync(place, os.O_RDONLY)
        if place != self._root:
            _fsync(self._root, os.O_RDONLY)

    @staticmethod
    def _content(place: Path) -> bytes:
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unreadable(place, error) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise UnreadableFileError(place, "not a regular file")
        with os.fdopen(descriptor, "rb") as file:
            return file.read()


def _fsync(place: Path, flags: int) -> None:
    descriptor = os.open(place, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unreadable(place: Path, error: OSError) -> UnreadableFileError:
    return UnreadableFileError(place, str(error.strerror).lower())
