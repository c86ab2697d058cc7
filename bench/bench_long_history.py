"""A history of five million records audited by tasks, in pieces and whole, beside `krafla audit`.

    python bench/bench_long_history.py [RECORDS [TASKS]]

The log is made: ten thousand partitions whose replicas leave and return. All reports must be
equal. Prints the seconds of each, in how many pieces, and the most memory of each process.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench_audit import BATCH, LOG_NAME, PARTITIONS, made_log
from bench_pipeline import below
from figures import Figures, benchmark

from krafla.audit.pieces import REPLAY_SHARE
from krafla.pipeline import audit_plan
from krafla.pipeline.audit import audit_store
from krafla.pipeline.ingest import ingest, open_store
from krafla.pipeline.session import session
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError
from kraft.ids import METADATA_DIRECTORY
from kraft.records.batch import parse_batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.session import Session

RECORDS = 5_000_000
TASKS = 2
ROUNDS = 4  # of changes, after which each partition is as it was
POLL_SECONDS = 0.2
MIB = 1024
NEVER = 10**12  # so many records no history has


def main(arguments: list[str], figures: Figures) -> None:
    """Audit the log in all ways."""
    records, tasks, *_ = [*map(int, arguments), *(RECORDS, TASKS)[len(arguments) :]]
    with scratch_folder("bench") as scratch:
        log = scratch / "logs" / METADATA_DIRECTORY / LOG_NAME
        log.parent.mkdir(parents=True)
        written = write(log, records)
        print(f"log: {written:,} records, {log.stat().st_size:,} bytes")
        shown: list[str] = []
        with session("bench", f"local[{tasks}]", show=shown.append) as spark:
            with most_memory() as ingest_memory:
                began = time.perf_counter()
                ingest(spark, [str(scratch / "logs")], str(scratch / "tables"))
                read = time.perf_counter()
            tell("ingest", read - began, ingest_memory)
            # An audit is kept in its store, and not made again.
            shutil.copytree(scratch / "tables", scratch / "again")
            whole, _ = audited(spark, scratch / "again", NEVER)
            shown.clear()
            in_pieces, audit_memory = audited(spark, scratch / "tables", 0)
        told = [words for words in shown if "piece" in words and ": " not in words]
        print(*(f"    {words}" for words in told), sep="\n")
        with most_memory() as memory:
            again = time.perf_counter()
            alone = audit_alone(scratch / "logs")
            alone_ended = time.perf_counter()
        tell("krafla audit", alone_ended - again, memory)
        print(f"    report: SHA-256 {digest(alone)}")
    if not told:
        raise KraflaError("the history was judged as a whole: give it more records")
    if not whole.report == in_pieces.report == alone or alone["verdict"] != "held":
        raise KraflaError("an audit in Spark does not say what krafla audit says")
    figures.add(f"an audit whole / by {tasks} tasks in pieces",
                whole.seconds / in_pieces.seconds, "times")  # fmt: skip
    figures.add(f"krafla audit / the audit by {tasks} tasks in pieces",
                (alone_ended - again) / in_pieces.seconds, "times")  # fmt: skip
    python = [mib for name, mib in audit_memory.values() if name == "python"]
    figures.add("memory of a Python worker", max(python, default=0), "MiB")


class Audited(NamedTuple):
    """A report, and how long the audit took."""

    report: dict[str, Any]
    seconds: float


def audited(
    spark: Session, tables: Path, extra_records: int
) -> tuple[Audited, dict[int, tuple[str, float]]]:
    """Audit a store as if more stages cost so many records; return also the memory of processes."""
    kept, audit_plan.EXTRA_RECORDS = audit_plan.EXTRA_RECORDS, extra_records  # type: ignore[misc]  # Final but for this
    try:
        with most_memory() as memory:
            began = time.perf_counter()
            report = audit_store(spark, open_store(spark, str(tables)))
            seconds = time.perf_counter() - began
    finally:
        audit_plan.EXTRA_RECORDS = kept  # type: ignore[misc]  # Final but for this
    tell("audit whole" if extra_records else "audit in pieces", seconds, memory)
    print(f"    report: SHA-256 {digest(report)}")
    return Audited(report, seconds), memory


def write(log: Path, records: int) -> int:
    """Write a log of about so many records; return how many it has.

    The offset of a batch is no part of its checksum, so rounds of changes are written again.
    """
    batches = [parse_batch(raw) for raw in made_log(ROUNDS)]
    again = batches[-ROUNDS * PARTITIONS // BATCH :]
    offset = batches[-1].next_offset
    with log.open("wb") as file:
        for batch in batches:
            file.write(batch.raw)
        while offset < records:
            for batch in again:
                file.write(offset.to_bytes(8, "big") + batch.raw[8:])
                offset += batch.count
    return offset


def audit_alone(folder: Path) -> dict[str, Any]:
    """Return what `krafla audit --json` says about a folder."""
    words = [sys.executable, "-c", "from krafla.cli import main; main()", "audit", "-q", "--json"]
    done = subprocess.run([*words, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise KraflaError(f"exit status {done.returncode}: {done.stderr[-500:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def digest(report: dict[str, Any]) -> str:
    """Return the digest of a report."""
    return hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()


def tell(name: str, seconds: float, memory: dict[int, tuple[str, float]]) -> None:
    """Print what a part took."""
    print(f"  {name}: {seconds:.1f} s")
    for process, (program, mib) in sorted(memory.items()):
        print(f"    {program} {process}: {mib:,.0f} MiB")


@contextmanager
def most_memory() -> Iterator[dict[int, tuple[str, float]]]:
    """Yield the program and the most memory, in MiB, of each process below this one."""
    found: dict[int, tuple[str, float]] = {}
    ends = threading.Event()

    def watch() -> None:
        while not ends.wait(POLL_SECONDS):
            for process in below():
                name, mib = resident(process)
                found[process] = name, max(mib, found.get(process, ("", 0.0))[1])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        ends.set()
        thread.join()


def resident(process: int) -> tuple[str, float]:
    """Return the program of a process, and the memory that it has in MiB."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
        program = Path(f"/proc/{process}/exe").readlink().name
    except OSError:
        return "", 0.0
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    kib = int(fields.get("VmRSS", "0").split()[0])
    return "python" if program.startswith("python") else program, kib / MIB


if __name__ == "__main__":
    print(f"replaying takes {REPLAY_SHARE} of judging")
    sys.exit(benchmark(main))
