"""The disk of a replica: a few operations on files, whose effects a crash can take back.

There are two implementations: `kraft.log.real_files` on a file system, and the simulator's disk,
which loses and tears. Names are relative to the node's log directory (Kafka's `metadata.log.dir`),
with at most one `/`: `meta.properties`, `__cluster_metadata-0/quorum-state`.

Kafka: java.nio.channels.FileChannel, Utils.atomicMoveWithFallback, Utils.flushDir.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class Files(Protocol):
    """The files below one log directory. A directory appears with its first file.

    A crash may take three things. Of the bytes appended to a file since its last `flush`, it may
    take a tail, or any sectors, which are zeros then. It may take back a truncation since that
    flush. And it may take back, each by itself, names that were created, renamed or removed since
    the last `flush_directory`. A rename is atomic: afterwards one of the two names has the file.
    A caller that needs one thing to outlive another flushes the first before it begins the second.

    Every operation but `append` and `names` raises FileNotFoundError for a name that is missing.
    """

    def place(self, name: str) -> Path:
        """Return where a file is, as messages name it."""
        ...

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names of the files in a directory, sorted; "" is the log directory itself.

        A name begins with the directory, so that the other operations take it as it is. Empty if
        there is no such directory.
        """
        ...

    def read(self, name: str) -> bytes:
        """Return the whole content of a file."""
        ...

    def append(self, name: str, data: bytes) -> None:
        """Write at the end of a file; creates it."""
        ...

    def truncate(self, name: str, size: int) -> None:
        """Cut a file to a size that is at most its own."""
        ...

    def flush(self, name: str) -> None:
        """Wait until the content of a file survives a crash."""
        ...

    def rename(self, name: str, new_name: str) -> None:
        """Give a file another name in the same directory, replacing what had it."""
        ...

    def remove(self, name: str) -> None:
        """Take away a name."""
        ...

    def flush_directory(self, directory: str) -> None:
        """Wait until the names in a directory, and the directory itself, survive a crash."""
        ...
