"""The lock on a log directory: one process uses it at a time, of this implementation or of Kafka.

Kafka: LogManager.lockLogDirs, FileLock.
"""

from __future__ import annotations

import fcntl
from typing import IO, TYPE_CHECKING, Final

from kraft.node.configuration import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LOCK_NAME: Final = ".lock"


def lock_directories(directories: Iterable[Path]) -> tuple[IO[bytes], ...]:
    """Return the locked files of directories; the system unlocks them when they are closed.

    Raises ConfigurationError if another process has one.
    """
    locked: list[IO[bytes]] = []
    for directory in directories:
        file = (directory / LOCK_NAME).open("ab")
        locked.append(file)
        try:
            # The kind of lock that Java takes: each sees the other's.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            for one in locked:
                one.close()
            reason = "another process uses this directory"
            raise ConfigurationError(
                f"{directory}: the file {LOCK_NAME} is locked, {reason}"
            ) from None
    return tuple(locked)
