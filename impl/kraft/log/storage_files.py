"""What a replica asks of its disk: a few operations on files, each of which can be lost in a crash.

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
    """The files below one log directory. A directory comes into being with its first file.

    What a crash may take: of the bytes appended to a file since its last `flush`, any but the first
    few, or any sectors, which are zeros then; a cut since then; and names that were created,
    renamed or removed since the last `flush_directory`, each by itself. A rename is atomic:
    afterwards one of the two names has the file. Whoever wants one thing to outlive another flushes
    the first before it begins the second.

    Every operation but `append` and `names` raises FileNotFoundError for a name that is not there.
    """

    def place(self, name: str) -> Path:
        """Return where a file is, as messages name it."""
        ...

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names of the files in a directory, sorted; "" is the log directory itself.

        A name begins with the directory: what this returns can be given to the other operations.
        Empty if there is no such directory.
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
