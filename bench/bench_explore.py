"""What a state graph costs: time beside TLC, memory beside networkx, and the size of its page.

    python bench/bench_explore.py [MODEL ...]

The default is a smoke model and one of 91,575 states (MCBrokerLeaseSelfFenceRestart has 351,835).
Each is explored by `krafla explore` with everything it prints and a page of 50,000 states, and
checked by `krafla check` with one thread of TLC, as processes of their own. Goal: less than 2,000
MiB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from typing import TYPE_CHECKING, NamedTuple

import networkx
from figures import Figures, benchmark

from krafla import manifest
from krafla.graph import as_networkx, build, components
from krafla.graph.state_graph import Groups
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

GOAL_MIB = 2_000
LARGE = "MCBrokerLeaseTwoFailOver"
SMALL = "MCBrokerLeaseSmoke"


class Measured(NamedTuple):
    """What one process took."""

    seconds: float
    mib: float


def main(names: list[str], figures: Figures) -> None:
    """Measure each model, and what its steps take in memory."""
    print(f"{'model':<32} {'states':>9} {'explore':>9} {'TLC':>9} {'memory':>9} {'page':>9}")
    models = {model.name: model for model in manifest.load().models}
    most = 0.0
    for name in names or [SMALL, LARGE]:
        with scratch_folder("bench") as scratch:
            page = scratch / "page.html"
            explored = measure(["explore", name, "--html", str(page)])
            checked = measure(["check", name, "--workers", "1"])
            size = page.stat().st_size / 2**20
        most = max(most, explored.mib)
        print(
            f"{name:<32} {models[name].distinct or 0:>9,} {explored.seconds:>8.1f}s "
            f"{checked.seconds:>8.1f}s {explored.mib:>5.0f} MiB {size:>5.1f} MiB"
        )
        figures.add(f"explore / TLC, {name}", explored.seconds / checked.seconds, "times")
    # Last: to Linux the peak of a child is at least what its parent held when it was started.
    figures.add("memory of explore", most, "MiB", most=GOAL_MIB)
    compare_memory(SMALL, figures)


def measure(arguments: list[str]) -> Measured:
    """Run krafla to its end; it must not fail."""
    program = [sys.executable, "-c", "from krafla.cli import main; main()", *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise KraflaError(f"exit status {process.returncode}: krafla {' '.join(arguments)}")
    return Measured(seconds, usage.ru_maxrss / 1024)


def compare_memory(name: str, figures: Figures) -> None:
    """Measure what the steps of a model take as arrays, and as networkx's own dictionaries."""
    (model,) = manifest.load().select((name,))
    graph = build(model)
    found = graph.found
    tracemalloc.start()
    columns = (found.sources, found.targets, found.labels, found.branches)
    copies = [column[:] for column in columns]
    groups = Groups.by(found.sources, len(graph))
    arrays, _ = tracemalloc.get_traced_memory()
    del copies, groups
    before, _ = tracemalloc.get_traced_memory()
    plain = networkx.MultiDiGraph()
    for source, target, label in zip(found.sources, found.targets, found.labels, strict=True):
        if target >= 0:
            plain.add_edge(source, target, action=found.actions[label])
    dictionaries = tracemalloc.get_traced_memory()[0] - before
    steps = plain.number_of_edges()
    tracemalloc.stop()
    simple = networkx.DiGraph(plain)
    del plain
    by_arrays = clock(lambda: components(graph))
    by_view = clock(lambda: list(networkx.strongly_connected_components(as_networkx(graph))))
    by_dictionaries = clock(lambda: list(networkx.strongly_connected_components(simple)))
    print(f"{name}: {len(graph):,} states, {found.edges:,} steps")
    print(
        f"  components: view {by_view:.2f} s ({by_arrays:.2f} s with their facts), "
        f"networkx's own {by_dictionaries:.2f} s"
    )
    figures.add("a step in the arrays", arrays / found.edges, "bytes")
    figures.add("a step in networkx's own", dictionaries / steps, "bytes")
    figures.add("components, view / networkx's own", by_view / by_dictionaries, "times")


def clock(question: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    question()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(benchmark(main))
