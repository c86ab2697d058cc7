"""The runs of a campaign on several processes, in the order of their numbers."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Final

from krafla.child_processes import end_with_parent
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from concurrent.futures import Future

    from krafla.fuzz.engine.campaign import Campaign, Report
    from krafla.fuzz.engine.runs import Run, Runs

__all__ = ["played_by_workers"]

# How many runs a process may be ahead of the one whose result comes next.
_AHEAD: Final = 2


def played_by_workers(
    campaign: Campaign, report: Report, began: float
) -> Generator[Run, None, None]:
    """Yield the results of several processes in the order of the runs."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(campaign.workers, context, _depend_on_parent)
    waiting: deque[Future[Run]] = deque()
    number = 0
    is_over = False
    try:
        while True:
            while len(waiting) < _AHEAD * campaign.workers and not campaign.is_spent(number, began):
                with _starting():
                    reached = frozenset(report.reached)
                    arguments = campaign.runs, number, reached, campaign.is_brief
                    waiting.append(pool.submit(_play, *arguments))
                number += 1
            if not waiting:
                is_over = True
                return
            yield waiting[0].result()
            waiting.popleft()
    except BrokenProcessPool:
        awaited = number - len(waiting)
        seed = campaign.runs.seed
        raise KraflaError(
            "a worker process ended in the middle of a run: it was killed, or the machine ran "
            f"out of memory; look at it with --seed {seed} --examples {awaited + 1} and one worker",
            f"run {awaited} of seed {seed}",
        ) from None
    finally:
        # A second Ctrl-C in here would leave processes behind, for which the end would wait.
        with _uninterrupted():
            # The results of runs that are still being played are not needed.
            for process in () if is_over else set(multiprocessing.active_children()) - others:
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)


def _play(runs: Runs, number: int, reached: frozenset[str], brief: bool) -> Run:
    runs.load(brief=brief)
    return runs.play(number, reached)


@contextmanager
def _starting() -> Iterator[None]:
    """Keep Ctrl-C from a process that starts, until it ignores interrupts by itself."""
    # The first call of the resource tracker lets through what is kept back.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Make Ctrl-C wait, where this thread is the one that it interrupts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _depend_on_parent() -> None:
    """Leave Ctrl-C to the first process, but do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_parent()
