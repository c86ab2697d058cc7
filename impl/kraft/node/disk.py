"""The disk of a node: one thread performs the durable effects, one after the other."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kraft.errors import UnreadableFileError, printable
from kraft.ids import METADATA_DIRECTORY
from kraft.raft.effect_storage import perform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from kraft.log.raft_storage import RaftStorage
    from kraft.raft.effects import Durable


class DiskError(Exception):
    """A disk that failed: one sentence with the path. What is on the disk is not known then."""


@contextmanager
def disk_errors(directory: Path) -> Iterator[None]:
    """Tell each failure of the file system below a directory as a DiskError.

    Kafka: LogDirFailureChannel, KafkaStorageException.
    """
    try:
        yield
    except UnreadableFileError as error:
        raise DiskError(str(error)) from None
    except OSError as error:
        place = printable(str(error.filename or directory))
        raise DiskError(f"{place}: {(error.strerror or str(error)).lower()}") from None


class Disk:
    """The storage of a replica, written by a thread of its own: an fsync holds no connection up.

    `directory` is the node's, whose log has been opened. `performed` is told, by that thread, of
    each effect and its time in nanoseconds.
    """

    __slots__ = ("_directory", "_identity", "_storage", "_thread", "performed")

    def __init__(self, storage: RaftStorage, directory: Path) -> None:
        self._storage = storage
        self._directory = directory
        self._identity = self._identify()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kraft-disk")
        self.performed: Callable[[Durable, int], None] = lambda _effect, _took: None

    async def perform(self, effects: Sequence[Durable]) -> None:
        """Perform effects in their order; they are done when this returns.

        Raises DiskError; no effect after the one that failed was begun.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._perform, effects)

    def close(self) -> None:
        """End the thread, after what it does now."""
        self._thread.shutdown()

    def _perform(self, effects: Sequence[Durable]) -> None:
        with disk_errors(self._directory):
            # A write would make the directory anew, and begin a log without its start.
            if self._identify() != self._identity:
                raise DiskError(
                    f"{printable(str(self._directory))}: it was replaced by another one"
                )
            for effect in effects:
                started = time.monotonic_ns()
                perform(self._storage, effect)
                self.performed(effect, time.monotonic_ns() - started)

    def _identify(self) -> tuple[int, int]:
        status = (self._directory / METADATA_DIRECTORY).stat()
        return status.st_dev, status.st_ino
