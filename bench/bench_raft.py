"""How fast the simulation of Raft is, what the checks cost, and whether memory stays.

Runs with all default faults, 5 voters and 2 observers. Kafka's own RaftEventSimulationTest is
measured beside it if KRAFLA_KAFKA_SIMULATION names a folder with its jars in `lib` and the class
`d.Driver` in `classes`; if not, the figure of Kafka 4.1.0 on the same kind of machine is printed.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from figures import Figures, benchmark

from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.raft.checks import Checks
from krafla.fuzz.raft.system import SYSTEM
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import SECOND, Knobs, RaftConfiguration
from kraft.sim.raft.runs import run

CONFIGURATION = RaftConfiguration(voters=5, observers=2)
RUNS = 20
GOAL_EVENTS = 30_000
GOAL_SECONDS = 150
# Kafka 4.1.0, RaftEventSimulationTest, 5 voters, one core: simulated seconds a second.
KAFKA_SECONDS = 51.9
TIMES_KAFKA = 3
MINUTES = (10, 30, 60)
# Memory may grow by so much from the first of these to the last, in MiB.
GROWTH_MAXIMUM = 64


def measure_speed(figures: Figures) -> float:
    """Measure events; return the simulated seconds for each second of processor time."""
    gc.disable()
    SYSTEM.play(Case(CONFIGURATION, 1))
    started = time.process_time()
    played = [SYSTEM.play(Case(CONFIGURATION, seed)) for seed in range(100, 100 + RUNS)]
    checked = time.process_time() - started
    for one in played:
        assert one.finding is None, one.finding
    started = time.process_time()
    for seed in range(100, 100 + RUNS):
        run(CONFIGURATION, seed)
    bare = time.process_time() - started
    gc.enable()
    events = sum(one.steps for one in played)
    simulated = sum(one.tallies["totals"]["simulated_ns"] for one in played) / SECOND
    name = "with all properties"
    figures.add(name, events / checked, "events/s", least=GOAL_EVENTS)
    figures.add(f"simulated seconds, {name}", simulated / checked, "s/s", least=GOAL_SECONDS)
    figures.add(f"{name} / with none", checked / bare, "times")
    return simulated / checked


def measure_kafka() -> float:
    """Print one line; return the simulated seconds a second of Kafka's own simulation."""
    folder = os.environ.get("KRAFLA_KAFKA_SIMULATION")
    if not folder:
        print(
            f"  Kafka's simulation: {KAFKA_SECONDS} simulated s/s, as published; not measured here"
        )
        return KAFKA_SECONDS
    classes = f"{Path(folder, 'classes')}:{Path(folder, 'lib')}/*"
    command = ["java", "-cp", classes, "d.Driver", "prop", "20", "100"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(one for one in output.splitlines() if one.startswith("TOTAL 5 "))
    seconds = float(line.split()[7])
    print(f"  Kafka's simulation, 5 voters: {seconds:,.1f} simulated s/s, measured beside this")
    return seconds


def measure_memory(figures: Figures) -> None:
    """Measure by how many MiB an hour of simulated time grows."""
    configuration = replace(CONFIGURATION, chaos=MINUTES[-1] * 60 * SECOND, kinds=("kill", "loss"))
    simulation = Simulation(configuration, 7, None, Knobs())
    checks = Checks()
    sizes = []
    for minutes in MINUTES:
        while simulation.time < minutes * 60 * SECOND and (step := simulation.step()) is not None:
            checks.observe(step)
        sizes.append(_resident())
    assert checks.violation is None, checks.violation
    said = ", ".join(f"{size:,.0f} MiB at {n}" for size, n in zip(sizes, MINUTES, strict=True))
    print(f"  resident memory by simulated minutes: {said}")
    figures.add(
        f"growth over {MINUTES[-1]} simulated minutes", sizes[-1] - sizes[0], "MiB",
        most=GROWTH_MAXIMUM,
    )  # fmt: skip


def _resident() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(_: list[str], figures: Figures) -> None:
    """Measure speed and memory."""
    seconds = measure_speed(figures)
    ratio = seconds / measure_kafka()
    figures.add("simulated seconds / Kafka's simulation", ratio, "times", least=TIMES_KAFKA)
    measure_memory(figures)


if __name__ == "__main__":
    sys.exit(benchmark(main))
