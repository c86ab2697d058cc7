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
from figures import Figures, benchmark

from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline import pool
from krafla.pipeline.campaign.plan import CampaignPlan
from krafla.pipeline.campaign.run import run_campaign, store_of
from krafla.pipeline.ingest import ingest, plan_ingest
from krafla.pipeline.session import session
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError
from kraft.ids import METADATA_DIRECTORY
from kraft.log.segment import iter_batches

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = 700
STEPS = 200
GOAL = 1.6


def main(arguments: list[str], figures: Figures) -> None:
    """Measure a campaign, then an ingest."""
    seeds, steps, *_ = [*map(int, arguments), *(SEEDS, STEPS)[len(arguments) :]]
    with scratch_folder("bench") as scratch:
        # Of fewer seeds the start of each process takes too large a share.
        least = GOAL if seeds >= SEEDS else None
        ratio = campaigns(scratch, seeds, steps)
        figures.add("a campaign, one process / two", ratio, "times", least=least)
        ingests(scratch, figures)


def campaigns(scratch: Path, seeds: int, steps: int) -> float:
    """Print what two processes take beside one; return the ratio."""
    runs = find_system("lease").runs(0, RunOptions(steps=steps))
    plan = CampaignPlan(0, seeds - 1, runs, 25)
    print(f"campaign of {seeds:,} seeds of at most {steps} steps")
    seconds, digests = [], set()
    for processes in (1, 2):
        with session("bench", f"local[{processes}]") as spark:
            started = time.perf_counter()
            store = store_of(spark, str(scratch / str(processes)))
            outcome = run_campaign(plan, store, spark)
            seconds.append(time.perf_counter() - started)
        digests.add(outcome.digest)
        rate = outcome.counts["steps"] / seconds[-1]
        print(f"  local[{processes}] {seconds[-1]:8.1f} s  {rate:9,.0f} judged steps/s")
    if len(digests) != 1:
        raise KraflaError("the digests of the two campaigns differ")
    return seconds[0] / seconds[1]


def ingests(scratch: Path, figures: Figures) -> None:
    """Measure an ingest of a large log beside its decoding in one process."""
    log = scratch / "logs" / METADATA_DIRECTORY / LOG_NAME
    log.parent.mkdir(parents=True)
    print(f"log: {provide(log, [])}, {log.stat().st_size:,} bytes")
    started = time.perf_counter()
    records = sum(len(b.metadata_records() or b.control_records()) for b in iter_batches(log))
    alone = time.perf_counter() - started
    print(f"  decode, one process {alone:8.2f} s  {records / alone:9,.0f} records/s")
    with pool.session("bench", "local[2]") as spark:
        spark.map(str, [0, 1])
        started = time.perf_counter()
        done = ingest(plan_ingest([log.parent], scratch / "tables"), spark)
        whole = time.perf_counter() - started
    if done.rows["records"] != records:
        raise KraflaError("the tables lack records")
    print(f"  ingest, local[2]    {whole:8.2f} s  {records / whole:9,.0f} records/s")
    figures.add("an ingest / decoding alone", whole / alone, "times")


if __name__ == "__main__":
    sys.exit(benchmark(main))
