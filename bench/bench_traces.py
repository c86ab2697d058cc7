"""How long traces take to write and read, and whether that grows as they do.

The trace is a recorded one of the broker lease, repeated: thirteen variables, of which each step
changes a few.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from figures import Figures, benchmark

from krafla.traces import Trace, dumps, loads, read_whole_trace

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "traces/accepted/lease/controlled-shutdown-waits.ndjson"
SHORT, LONG = 1_000, 10_000
# Ten times the steps may take this much more than ten times as long.
MOST_EXTRA = 1.5


def main(_: list[str], figures: Figures) -> None:
    """Measure whether writing and reading are linear in the number of steps."""
    recorded = read_whole_trace(RECORDED)
    seconds = {steps: measured(recorded, steps) for steps in (SHORT, LONG)}
    for place, what in enumerate(("written", "read")):
        short, long = seconds[SHORT][place], seconds[LONG][place]
        growth = long / short / (LONG / SHORT)
        print(f"  {LONG:,} steps {what} in {long:.2f} s, {SHORT:,} in {short:.3f} s")
        figures.add(f"{what}, beside linear growth", growth, "times", most=MOST_EXTRA)
    figures.add("a step in its file", seconds[LONG][2] / LONG, "bytes")


def measured(recorded: Trace, steps: int) -> tuple[float, float, int]:
    """Return the least seconds of three rounds to write and to read, and the bytes."""
    taken = (recorded.steps * (steps // len(recorded) + 1))[:steps]
    trace = recorded.with_steps(taken)
    written, found = [], []
    for _ in range(3):
        started = time.perf_counter()
        text = dumps(trace)
        written.append(time.perf_counter() - started)
        started = time.perf_counter()
        again = loads(text)
        found.append(time.perf_counter() - started)
        assert again == trace
    return min(written), min(found), len(text.encode())


if __name__ == "__main__":
    sys.exit(benchmark(main))
