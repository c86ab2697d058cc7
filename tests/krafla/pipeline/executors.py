"""What is done to executors in tests: code made wrong inside them, processes killed.

A function made here goes to the executors by value, so that the product needs no door for it.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from krafla.fuzz.engine.runs import Runs


class Here:
    """A session that does everything in this process: what is tested is not Spark."""

    parallelism = 1

    def map(self, function, items, _progress=None):
        return [function(item) for item in items]


def with_mutant(name, function, system="lease"):
    """Return a function of ``mapInArrow`` that runs with one seeded bug of a system."""

    def task(*arguments):
        from krafla.fuzz.engine.mutant import find_mutant
        from krafla.fuzz.engine.system import find_system

        with find_mutant(name, find_system(system)).applied():
            yield from function(*arguments)

    return task


def unshrunk(function):
    """Return a function of ``mapInArrow`` that leaves what it finds as large as it was."""

    def task(*arguments):
        from unittest.mock import patch

        from krafla.fuzz.engine.runs import Failure

        with patch.object(Failure, "shrunk", lambda failure, _: failure):
            yield from function(*arguments)

    return task


def made(kind, runs):
    """Return runs of a subclass of ``Runs``."""
    return kind(*(getattr(runs, name) for name in Runs.__dataclass_fields__))


def deadly(runs, *seeds):
    """Return the same runs, whose processes kill themselves when they come to some seeds."""

    class Deadly(Runs):
        def play(self, number, reached=()):
            import os
            import signal

            if number in seeds:
                os.kill(os.getpid(), signal.SIGKILL)
            return self.system.play_number(self.seed, number, self.options, reached)

    return made(Deadly, runs)


def python_workers(above: int | None = None) -> list[int]:
    """Return the ids of the Python processes of Spark below a process, by default this one."""
    above = above or os.getpid()
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text()
            names[int(folder.name)] = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(text.rpartition(")")[2].split()[1])
    daemons = {pid for pid, name in names.items() if b"pyspark.daemon" in name}
    own = {pid for pid in daemons if above in _ancestors(pid, parents)}
    return sorted(pid for pid in own if parents[pid] in own)


def kill_a_worker() -> bool:
    """Kill one of the Python processes that play seeds; return whether there was one."""
    workers = python_workers()
    if workers:
        os.kill(workers[0], signal.SIGKILL)
    return bool(workers)


def _ancestors(pid, parents):
    while pid in parents:
        pid = parents[pid]
        yield pid
