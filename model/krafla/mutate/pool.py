"""Processes that try mutants, each on rooms of its own; one that dies or hangs is replaced."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import time
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from krafla.child_processes import end_with_parent
from krafla.manifest import load
from krafla.mutate.trial import Answer, Bench, Trial
from krafla.oracle.jvm import start
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.mutate.mutants import Mutant
    from krafla.mutate.results import Results

__all__ = ["Job", "Pool", "jobs"]


@dataclass(slots=True)
class Job:
    """Mutants of one room, and the models that try them, one model after the other."""

    mutants: list[Mutant]
    models: list[Model]

    @property
    def size(self) -> int:
        """Return the total number of states to search."""
        return sum(model.distinct or 0 for model in self.models)


def jobs(mutants: Sequence[Mutant], models: Sequence[Model], workers: int) -> list[Job]:
    """Return the work in parts for this many workers, the largest first.

    A model is explored once for each part that needs it, so parts are rooms; a room is divided
    only where there are fewer rooms than workers.
    """
    found: list[Job] = []
    for room in sorted({mutant.room for mutant in mutants}):
        mine = [mutant for mutant in mutants if mutant.room == room]
        needed = {name for mutant in mine for name in mutant.models}
        mates = [model for model in models if model.name in needed]
        mates.sort(key=lambda model: (model.distinct or 0, model.name))
        found.append(Job(mine, mates))
    while 0 < len(found) < workers and any(len(job.mutants) > 1 for job in found):
        largest = max(found, key=lambda job: (len(job.mutants) > 1, job.size, len(job.mutants)))
        found.remove(largest)
        found += [Job(largest.mutants[half::2], largest.models) for half in (0, 1)]
    return sorted(found, key=lambda job: (-job.size, job.mutants[0].id))


@dataclass(slots=True)
class _Worker:
    """One process, its job, and the time it began."""

    process: Any
    pipe: Connection
    folder: Path
    todo: Iterator[tuple[Mutant, Model]] | None = None
    asked: tuple[Mutant, Model] | None = None
    since: float = field(default_factory=time.monotonic)


class Pool:
    """Tries mutants on models until each is killed or has met all its models."""

    def __init__(self, specs: Path, results: Results, *, workers: int, timeout: float) -> None:
        self._specs = specs
        self._results = results
        self._count = workers
        self._timeout = timeout
        self._context = multiprocessing.get_context("spawn")
        self.broken: dict[str, str] = {}

    def run(self, work: Sequence[Job], progress: Callable[[Trial | None], None]) -> None:
        """Do all the work; ``progress`` is called with each trial, and now and then without."""
        waiting = list(work)
        workers: list[_Worker] = []
        with scratch_folder("mutate") as scratch:
            try:
                workers += map(self._start, self._folders(scratch, len(waiting)))
                while workers:
                    self._turn(workers, waiting, progress)
            finally:
                for worker in workers:
                    _stop(worker)

    def _folders(self, scratch: Path, jobs_waiting: int) -> Iterator[Path]:
        yield from (scratch / str(number) for number in range(min(self._count, jobs_waiting)))

    def _turn(
        self,
        workers: list[_Worker],
        waiting: list[Job],
        progress: Callable[[Trial | None], None],
    ) -> None:
        for worker in list(workers):
            if worker.asked is None and not self._ask(worker, waiting):
                workers.remove(worker)
                _stop(worker)
        ready = wait([worker.pipe for worker in workers], timeout=1.0)
        for worker in list(workers):
            if worker.pipe in ready:
                self._hear(worker, progress)
            elif time.monotonic() - worker.since > self._timeout:
                self._give_up(worker, f"no answer within {self._timeout:.0f} s", progress)
        progress(None)

    def _ask(self, worker: _Worker, waiting: list[Job]) -> bool:
        while True:
            if worker.todo is None:
                if not waiting:
                    return False
                worker.todo = self._trials(waiting.pop(0))
            asked = next(worker.todo, None)
            if asked is not None:
                break
            worker.todo = None
        worker.asked, worker.since = asked, time.monotonic()
        worker.pipe.send(asked)
        return True

    def _trials(self, job: Job) -> Iterator[tuple[Mutant, Model]]:
        """Yield the trials that are still needed, as of the time of asking."""
        for model in job.models:
            for mutant in job.mutants:
                if model.name in self.broken:
                    break
                known = self._results.of(mutant.id)
                settled = any(trial.answer.is_last or trial.model == model.name for trial in known)
                if model.name in mutant.models and not settled:
                    yield mutant, model

    def _hear(self, worker: _Worker, progress: Callable[[Trial | None], None]) -> None:
        assert worker.asked is not None, "only a worker that was asked answers"
        _, model = worker.asked
        try:
            answer = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._give_up(worker, "the process that tried it died", progress)
            return
        worker.asked = None
        if isinstance(answer, Trial):
            self._results.add(answer)
            progress(answer)
        else:
            self.broken[model.name] = str(answer)

    def _give_up(
        self, worker: _Worker, reason: str, progress: Callable[[Trial | None], None]
    ) -> None:
        """Note that nothing is known of a trial, and go on with a new process."""
        assert worker.asked is not None, "only a worker that was asked is given up"
        mutant, model = worker.asked
        _stop(worker)
        seconds = round(time.monotonic() - worker.since, 3)
        trial = Trial(mutant.id, model.name, Answer.UNKNOWN, reason, seconds)
        self._results.add(trial)
        fresh = self._start(worker.folder)
        worker.process, worker.pipe, worker.asked = fresh.process, fresh.pipe, None
        progress(trial)

    def _start(self, folder: Path) -> _Worker:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._specs, folder)
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, folder), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours, folder)


def _stop(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _work(pipe: Connection, folder: Path) -> None:
    """Answer requests through a pipe until it is closed; runs in a process of its own."""
    # A Ctrl-C is the parent's to handle; it ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    start(brief=False)
    bench = Bench(folder.resolve())
    models = {model.name: model for model in load(folder).models}
    while True:
        try:
            mutant, model = pipe.recv()
        except EOFError:
            return
        try:
            answer: Trial | str = bench.try_on(mutant, models[model.name])
        except KraflaError as error:
            answer = str(error)
        pipe.send(answer)
