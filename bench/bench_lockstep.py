"""How fast KRaftSteps judges runs of Raft, with shared and with private TLC classes.

Before, each run had TLC's classes for itself, so the JVM compiled them again and again, with its
optimising compiler. Each way has processes of its own and plays the same runs, whose seeds no
process has seen: first in one process, then in as many at once as there are processors, as a
campaign with workers does. A process is measured from the start of its JVM.

If KRAFLA_BEFORE names another checkout of krafla, the ratios compare with it instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from figures import Figures, benchmark

RUNS = 12
FIRST_SEED = 1_000
GOAL_RATIO = 3.0
GOAL_JUDGED = 5_000
BEFORE = os.environ.get("KRAFLA_BEFORE")
COMPARED = "earlier commit / now" if BEFORE else "TLC classes of each run / shared"
ROOT = Path(__file__).parent.parent


def play(way: str, first: int) -> None:
    """Judge some runs in this process; print as JSON how many steps, and the seconds."""
    from krafla.fuzz.engine.machine_run import Case
    from krafla.fuzz.raft.system import SYSTEM
    from krafla.oracle.jvm import TlcClasses, start
    from kraft.sim.raft.configuration import RaftConfiguration

    if way == "private":
        from krafla.refinement.common import loading

        loading.classes_for = lambda *_: TlcClasses()
    wall, processor = time.perf_counter(), time.process_time()
    start(brief=way == "shared")
    configuration = RaftConfiguration(voters=3, observers=0)
    judged = 0
    for seed in range(first, first + RUNS):
        run = SYSTEM.play(Case(configuration, seed, lockstep=True))
        assert run.finding is None, run.finding
        judged += run.tallies["totals"]["judged"]
    seconds = time.perf_counter() - wall, time.process_time() - processor
    print(json.dumps((judged, *seconds)))


def measured(way: str, processes: int) -> tuple[float, float]:
    """Print one line; return judged steps a second, of time that passed and of processor time."""
    folder = Path(BEFORE) if way == "before" and BEFORE else ROOT
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(folder / "impl"), str(folder / "model"))),
        "KRAFLA_SPECS": str(folder / "specs"),
    }
    started = [
        subprocess.Popen(
            [sys.executable, __file__, "play", way, str(FIRST_SEED + number * RUNS)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    found = [json.loads(one.communicate()[0]) for one in started]
    assert not any(one.returncode for one in started), "a process failed"
    judged = sum(one[0] for one in found)
    wall, processor = max(one[1] for one in found), sum(one[2] for one in found)
    print(
        f"  {processes} x {RUNS} runs, {way:7}: {judged:7,} steps judged, {judged / wall:6,.0f} a "
        f"second, {judged / processor:6,.0f} a second of processor time",
        flush=True,
    )
    return judged / wall, judged / processor


def main(_: list[str], figures: Figures) -> None:
    """Measure both ways by turns, in one process and in as many as there are processors."""
    fastest = 0.0
    for processes in sorted({1, os.cpu_count() or 1}):
        before = measured("before" if BEFORE else "private", processes)
        after = measured("shared", processes)
        fastest = max(fastest, after[1])
        names = ("time", "processor time")
        for name, new, old in zip(names, after, before, strict=True):
            ratio = f"{name}, {COMPARED}, {processes} at once"
            figures.add(ratio, new / old, "times", least=GOAL_RATIO)
    figures.add("in lockstep, of processor time", fastest, "judged steps/s", least=GOAL_JUDGED)


if __name__ == "__main__":
    if sys.argv[1:2] == ["play"]:
        play(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(benchmark(main))
