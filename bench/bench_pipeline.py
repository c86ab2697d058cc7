"""What Spark gains and costs: two tasks at once beside one, and beside a process without Spark.

    python bench/bench_pipeline.py [COPIES] [SEEDS] [STEPS]

Reads COPIES of the largest log below KRAFLA_CORPUS, or without that of a made one, into tables and
audits them: with one task at a time, on one processor and on all; with two; and with two on twice
as many copies, whose peak of memory must not be larger. Beside them `krafla audit` judges the same
copies in one process. Then one and two tasks play the same SEEDS, and one process without Spark, on
all processors and on one. One task, and one process, use more than one processor where they can:
Java compiles, and writes, beside Python. Spark's start counts nowhere; equal work must give equal
results. Goals: from 20 copies on two tasks are 1.7 times as fast as one; from 1,000 seeds on two
are 1.8 times as fast as the process without Spark.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_audit import LOG_NAME, provide
from figures import Figures, benchmark

from krafla.audit.render import document
from krafla.audit.run import audit
from krafla.fuzz.engine.campaign import Campaign
from krafla.fuzz.engine.campaign import run_campaign as run_here
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.audit import audit_store
from krafla.pipeline.campaign.plan import CampaignPlan
from krafla.pipeline.campaign.run import run_campaign, store_of
from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.session import session
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError
from kraft.ids import METADATA_DIRECTORY
from kraft.log.text_files import META_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator

COPIES = 2
SEEDS = 400
STEPS = 200
# Fewer copies or seeds say little: the start of each process takes too large a share.
COPIES_WITH_GOAL = 20
SEEDS_WITH_GOAL = 1_000
POLL_SECONDS = 0.2


def main(arguments: list[str], figures: Figures) -> None:
    """Measure ingests and audits, then campaigns."""
    defaults = (COPIES, SEEDS, STEPS)
    copies, seeds, steps, *_ = [*map(int, arguments), *defaults[len(arguments) :]]
    with scratch_folder("bench") as scratch:
        logs(scratch, copies, figures)
        campaigns(scratch, seeds, steps, figures)


def logs(scratch: Path, copies: int, figures: Figures) -> None:
    """Measure the ingest and the audit of copies of a large log."""
    many = scratch / "many"
    for number in range(2 * copies):
        folder = scratch / ("few" if number < copies else "more") / f"c{number}"
        copied(folder, number, scratch)
    shutil.copytree(scratch / "few", many)
    for folder in (scratch / "more").iterdir():
        shutil.move(folder, many)
    seconds, reports = {}, []
    ways = (
        *(("bound", 1, "few"), ("one", 1, "few")),
        *(("two", 2, "few"), ("twice", 2, "many")),
    )
    for name, tasks, source in ways:
        places = {0} if name == "bound" else os.sched_getaffinity(0)
        with on(places), session("bench", f"local[{tasks}]") as spark, peak_mib() as peak:
            out = str(scratch / f"tables-{name}")
            started = time.perf_counter()
            done = ingest(spark, [str(scratch / source)], out)
            read = time.perf_counter()
            report = audit_store(spark, open_store(spark, out))
            ended = time.perf_counter()
        records = report["counts"]["records"]
        print(
            f"  {name:6} local[{tasks}] {records:10,} records: ingest {read - started:7.1f} s,"
            f" audit {ended - read:7.1f} s, {peak[0]:7,.0f} MiB"
        )
        if done.quarantined or report["verdict"] != "held":
            raise KraflaError(f"the logs are not whole: {done.quarantined}")
        seconds[name] = read - started, ended - read, peak[0]
        reports.append(report)
    started = time.perf_counter()
    alone = document(audit([scratch / "few"]))
    seconds["alone"] = 0.0, time.perf_counter() - started, 0.0
    print(f"  alone, one process without Spark: audit {seconds['alone'][1]:7.1f} s")
    if not reports[0] == reports[1] == reports[2] == alone:
        raise KraflaError("the audits of the same logs differ")
    least = 1.7 if copies >= COPIES_WITH_GOAL else None
    bound, one, two, twice = (seconds[name] for name in ("bound", "one", "two", "twice"))
    gain = (one[0] + one[1]) / (two[0] + two[1])
    figures.add("ingest and audit, one task / two", gain, "times", least=least)
    gain = (bound[0] + bound[1]) / (two[0] + two[1])
    figures.add("ingest and audit, one task on one processor / two", gain, "times")
    figures.add("audit in Spark, two tasks / one process", two[1] / seconds["alone"][1], "times")
    figures.add("ingest, two tasks / audit of one process", two[0] / seconds["alone"][1], "times")
    most = 1.1 if copies >= COPIES_WITH_GOAL else None
    figures.add("peak of memory, twice the logs / the logs", twice[2] / two[2], "times", most=most)
    figures.add("peak of memory, two tasks", two[2], "MiB")


def copied(folder: Path, number: int, scratch: Path) -> None:
    """Make a copy that is another content, by the length of its torn tail, of another cluster."""
    whole = scratch / LOG_NAME
    if not whole.exists():
        print(f"log: {provide(whole, [])}, {whole.stat().st_size:,} bytes")
    log = folder / "node" / METADATA_DIRECTORY / LOG_NAME
    log.parent.mkdir(parents=True)
    shutil.copyfile(whole, log)
    with log.open("ab") as file:
        file.write(bytes(number + 1))
    identity = log.parent.with_name(META_PROPERTIES)
    identity.write_text(f"version=1\ncluster.id=cluster-{number}\nnode.id=1\n")


@contextmanager
def on(processors: set[int]) -> Iterator[None]:
    """Bind this process, and those that it starts, to some processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def peak_mib() -> Iterator[list[float]]:
    """Yield a list of one number: the most memory that the processes below this one had, in MiB."""
    peak, ends = [0.0], threading.Event()

    def watch() -> None:
        while not ends.wait(POLL_SECONDS):
            peak[0] = max(peak[0], sum(_proportional_kib(pid) for pid in below()) / 1024)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ends.set()
        thread.join()


def below() -> set[int]:
    """Return the processes below this one: Spark's Java, and its Python workers."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(status.parent.name)] = int(fields[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _proportional_kib(pid: int) -> int:
    """Return the memory of a process; what several share is divided among them."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def campaigns(scratch: Path, seeds: int, steps: int, figures: Figures) -> None:
    """Measure a campaign with one task, with two, and without Spark."""
    system, options = find_system("lease"), RunOptions(steps=steps)
    print(f"campaign of {seeds:,} seeds of at most {steps} steps")
    seconds: dict[str, float] = {}
    digests = set()
    for tasks in (1, 2):
        plan = CampaignPlan(0, seeds - 1, system.runs(0, options), system.chunk)
        with session("bench", f"local[{tasks}]") as spark:
            started = time.perf_counter()
            outcome = run_campaign(plan, store_of(spark, str(scratch / f"runs-{tasks}")), spark)
            seconds[f"local[{tasks}]"] = time.perf_counter() - started
        digests.add(outcome.digest)
    if len(digests) != 1:
        raise KraflaError("the digests of the two campaigns differ")
    for name, processors in (("alone", os.sched_getaffinity(0)), ("bound", {0})):
        # Each in a process of its own: Java starts once in a process.
        with on(processors), ProcessPoolExecutor(1, get_context("spawn")) as other:
            seconds[name] = other.submit(seconds_here, seeds, steps).result()
    for name, took in seconds.items():
        print(f"  {name:9} {took:8.1f} s  {1000 * took / seeds:8.2f} ms a seed")
    least = 1.8 if seeds >= SEEDS_WITH_GOAL else None
    alone, one, two = (seconds[name] for name in ("alone", "local[1]", "local[2]"))
    figures.add("a campaign, without Spark / two tasks", alone / two, "times", least=least)
    gain = seconds["bound"] / two
    figures.add("a campaign, without Spark on one processor / two tasks", gain, "times")
    figures.add("a campaign, one task / without Spark", one / alone, "times")


def seconds_here(seeds: int, steps: int) -> float:
    """Return how long one process takes without Spark, which compiles on other processors."""
    started = time.perf_counter()
    runs = find_system("lease").runs(0, RunOptions(steps=steps))
    report: Any = run_here(Campaign(runs, examples=seeds))
    if report.verdict.value != "held":
        raise KraflaError("the campaign without Spark does not hold")
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(benchmark(main))
