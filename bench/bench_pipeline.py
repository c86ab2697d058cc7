"""What Spark gains and costs: a campaign on two processes beside one, an ingest beside a decode.

    python bench/bench_pipeline.py [SEEDS] [STEPS]

Both campaigns play the same seeds, each in a fresh Spark, its start not counted; their digests must
be equal. The ingest reads the largest log below KRAFLA_CORPUS, or without that a made one, into
tables; beside it one process decodes every record of the same log and keeps nothing. Goal: two
processes are at least 1.6 times as fast as one, from 2,000 seeds on.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from bench_audit import LOG_NAME, provide

from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.campaign import CampaignPlan, run_campaign
from krafla.pipeline.ingest import ingest, plan_ingest
from krafla.pipeline.session import session
from krafla.scratch import scratch_folder
from kraft.ids import METADATA_DIRECTORY
from kraft.log.segment import iter_batches

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = 2_000
STEPS = 200
GOAL = 1.6


def main(arguments: list[str]) -> int:
    """Return 0 if the goal was met, else 1."""
    seeds, steps, *_ = [*map(int, arguments), *(SEEDS, STEPS)[len(arguments) :]]
    with scratch_folder("bench") as scratch:
        ratio = campaigns(scratch, seeds, steps)
        ingests(scratch)
    met = ratio >= GOAL
    bound = "" if seeds >= SEEDS else f" (not asked of fewer than {SEEDS:,} seeds)"
    print(f"goal {GOAL} times: {'met' if met else 'missed'}{bound}")
    return 0 if met or bound else 1


def campaigns(scratch: Path, seeds: int, steps: int) -> float:
    """Print what two processes take beside one; return the ratio."""
    runs = find_system("lease").runs(0, RunOptions(steps=steps))
    plan = CampaignPlan(0, seeds - 1, runs, 25)
    print(f"campaign of {seeds:,} seeds of at most {steps} steps")
    seconds, digests = [], set()
    for processes in (1, 2):
        with session("bench", f"local[{processes}]") as spark:
            started = time.perf_counter()
            outcome = run_campaign(plan, scratch / str(processes), spark)
            seconds.append(time.perf_counter() - started)
        digests.add(outcome.digest)
        rate = outcome.counts["steps"] / seconds[-1]
        print(f"  local[{processes}] {seconds[-1]:8.1f} s  {rate:9,.0f} judged steps/s")
    if len(digests) != 1:
        raise SystemExit("the two campaigns differ")
    ratio = seconds[0] / seconds[1]
    print(f"  ratio {ratio:.2f}, the same digest")
    return ratio


def ingests(scratch: Path) -> None:
    """Print what an ingest of a large log takes beside its decoding in one process."""
    log = scratch / "logs" / METADATA_DIRECTORY / LOG_NAME
    log.parent.mkdir(parents=True)
    print(f"log: {provide(log, [])}, {log.stat().st_size:,} bytes")
    started = time.perf_counter()
    records = sum(len(b.metadata_records() or b.control_records()) for b in iter_batches(log))
    alone = time.perf_counter() - started
    print(f"  decode, one process {alone:8.2f} s  {records / alone:9,.0f} records/s")
    with session("bench", "local[2]") as spark:
        spark.map(str, [0, 1])
        started = time.perf_counter()
        done = ingest(plan_ingest([log.parent], scratch / "tables"), spark)
        whole = time.perf_counter() - started
    if done.rows["records"] != records:
        raise SystemExit("the tables lack records")
    rate = records / whole
    print(
        f"  ingest, local[2]    {whole:8.2f} s  {rate:9,.0f} records/s: {whole / alone:.1f} times"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
