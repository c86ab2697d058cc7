"""Several runs of TLC at once: small models are mostly the start of a Java, which one core does."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["killed_with_the_rest", "side_by_side"]

T = TypeVar("T")

_KILL_AGAIN_SECONDS = 0.1

_lock = threading.Lock()
_kills: set[Callable[[], None]] = set()


@contextmanager
def killed_with_the_rest(kill: Callable[[], None]) -> Iterator[None]:
    """Have ``kill`` called if the runs beside this one are given up meanwhile."""
    with _lock:
        _kills.add(kill)
    try:
        yield
    finally:
        with _lock:
            _kills.discard(kill)


def side_by_side(tasks: Sequence[Callable[[], T]], jobs: int) -> Iterator[T]:
    """Yield what each task returns, in the order of the tasks, while ``jobs`` of them run at once.

    What a task raises is raised when its turn comes. Then, on Ctrl-C, or when nobody asks for
    more, no further task begins, and what those under way have started is killed.
    """
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="tlc")
    futures = [pool.submit(task) for task in tasks]
    try:
        for future in futures:
            yield future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        # Again and again: a task that was about to start something has started it by now.
        while under_way := [future for future in futures if not future.done()]:
            with _lock:
                kills = tuple(_kills)
            for kill in kills:
                kill()
            wait(under_way, timeout=_KILL_AGAIN_SECONDS)
        raise
    finally:
        pool.shutdown(wait=True)
