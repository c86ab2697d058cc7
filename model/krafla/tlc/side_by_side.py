"""Several runs of TLC at once: small models are mostly the start of a JVM, which one core does."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["jobs_at_once", "killed_with_the_rest", "side_by_side", "under_way"]

T = TypeVar("T")

_KILL_AGAIN_SECONDS = 0.1

# Each TLC may use a quarter of the memory.
_JOBS_MAX = 4


class _Batch(threading.local):
    """Of each thread of a batch: what ends the processes that the batch has started."""

    kills: set[Callable[[], None]] | None = None


_batch = _Batch()
_lock = threading.Lock()


def jobs_at_once() -> int:
    """Return how many TLCs this machine has processors and memory for."""
    return min(os.cpu_count() or 1, _JOBS_MAX)


@contextmanager
def killed_with_the_rest(kill: Callable[[], None]) -> Iterator[None]:
    """Have ``kill`` called if the batch that this thread works for is given up meanwhile."""
    kills = _batch.kills
    if kills is None:
        yield
        return
    with _lock:
        kills.add(kill)
    try:
        yield
    finally:
        with _lock:
            kills.discard(kill)


def side_by_side(tasks: Sequence[Callable[[], T]], jobs: int) -> Iterator[T]:
    """Yield the results of the tasks in their order, while ``jobs`` of them run at once.

    An error of a task is raised when its turn comes. After that, after Ctrl-C, or if the caller
    stops asking, no further task begins, and the processes of running tasks are killed.
    """
    with under_way(tasks, jobs) as futures:
        for future in futures:
            yield future.result()


@contextmanager
def under_way(tasks: Sequence[Callable[[], T]], jobs: int) -> Iterator[Sequence[Future[T]]]:
    """Return a context in which the tasks run, ``jobs`` at once, and which ends when all have.

    If it is left by an exception, no further task begins, and the processes of running tasks are
    killed.
    """
    kills: set[Callable[[], None]] = set()

    def join() -> None:
        _batch.kills = kills

    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="tlc", initializer=join)
    futures = [pool.submit(task) for task in tasks]
    try:
        yield futures
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        # Again and again: a task that was about to start something has started it by now.
        while left := [future for future in futures if not future.done()]:
            with _lock:
                known = tuple(kills)
            for kill in known:
                kill()
            wait(left, timeout=_KILL_AGAIN_SECONDS)
        raise
    finally:
        pool.shutdown(wait=True)
