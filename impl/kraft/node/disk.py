"""The disk of a node: one thread performs the durable effects, one after the other."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from kraft.raft.effect_storage import perform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kraft.log.raft_storage import RaftStorage
    from kraft.raft.effects import Durable


class Disk:
    """The storage of a replica, written by a thread of its own: an fsync holds no connection up.

    `performed` is told, by that thread, of each effect and its time in nanoseconds.
    """

    __slots__ = ("_storage", "_thread", "performed")

    def __init__(self, storage: RaftStorage) -> None:
        self._storage = storage
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kraft-disk")
        self.performed: Callable[[Durable, int], None] = lambda _effect, _took: None

    async def perform(self, effects: Sequence[Durable]) -> None:
        """Perform effects in their order; they are done when this returns.

        Raises OSError and UnreadableFileError: what is on the disk is then unknown.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._perform, effects)

    def close(self) -> None:
        """End the thread, after what it does now."""
        self._thread.shutdown()

    def _perform(self, effects: Sequence[Durable]) -> None:
        for effect in effects:
            started = time.monotonic_ns()
            perform(self._storage, effect)
            self.performed(effect, time.monotonic_ns() - started)
