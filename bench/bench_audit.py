"""The audit of a large metadata log beside Kafka's own dump of it, whole processes, in one run.

    python bench/bench_audit.py [LOG]

LOG is a `.log` file; the default is the largest below KRAFLA_CORPUS, or without that a made one.
The two take turns. Kafka's DumpLogSegments runs from Maven's jars (fetched once; KAFKA_LIBS names a
folder that has them) with the flags that make it start fastest, and only prints the log; the audit
decodes the same records, steps through the spec and judges them. Goals: at most 0.8 of Kafka's
time, by the fastest and by the median run, and less than 200 MiB.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from figures import Figures, benchmark

from krafla.record.jars import class_path
from krafla.scratch import scratch_folder
from krafla.tlc.jre import find_jre
from krafla.verdict import KraflaError
from kraft.ids import uuid_text
from kraft.records.builder import control_batch, metadata_batch

ROUNDS = 5
GOAL_MIB = 200
JAVA_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
LOG_NAME = "00000000000000000000.log"
PARTITIONS = 10_000
ROUNDS_OF_CHANGES = 25
BATCH = 1_000
# One replica leaves and returns, then the other; the leader stays.
ISRS = ((0, 1), (0, 1, 2), (0, 2), (0, 1, 2))
TIMESTAMP = 1_700_000_000_000


class Measured(NamedTuple):
    """What one process took."""

    seconds: float
    cpu_seconds: float
    mib: float


def main(arguments: list[str], figures: Figures) -> None:
    """Measure both, by turns."""
    with scratch_folder("bench") as scratch:
        log = scratch / "__cluster_metadata-0" / LOG_NAME
        log.parent.mkdir()
        print(f"log: {provide(log, arguments)}, {log.stat().st_size:,} bytes")
        audit = [sys.executable, "-c", "from krafla.cli import main; main()", "audit", "-q"]
        dump = [str(find_jre().home / "bin" / "java"), *JAVA_FLAGS, "-cp", class_path()]
        dump += ["kafka.tools.DumpLogSegments", "--cluster-metadata-decoder", "--files", str(log)]
        audits, dumps = [], []
        for number in range(ROUNDS + 1):
            pair = measure([*audit, str(log.parent)]), measure(dump)
            if number:  # the first pair warms the disk cache and Python's bytecode cache
                audits.append(pair[0])
                dumps.append(pair[1])
    report(audits, dumps, figures)


def report(audits: list[Measured], dumps: list[Measured], figures: Figures) -> None:
    """Take the figures of both."""
    show({"krafla audit": audits, "Kafka's dump": dumps})
    fastest = min(a.seconds for a in audits) / min(d.seconds for d in dumps)
    figures.add("audit / Kafka's dump, fastest", fastest, "times", most=0.8)
    median = median_seconds(audits) / median_seconds(dumps)
    figures.add("audit / Kafka's dump, median", median, "times", most=0.8)
    figures.add("audit", median_seconds(audits), "s")
    figures.add("memory of the audit", max(run.mib for run in audits), "MiB", most=GOAL_MIB)


def show(measured: dict[str, list[Measured]]) -> None:
    """Print a table of whole processes."""
    rounds = len(next(iter(measured.values())))
    print(f"{rounds} rounds each  {'fastest':>9} {'median':>9} {'CPU':>9} {'memory':>11}")
    for name, runs in measured.items():
        print(
            f"{name:<14}{min(run.seconds for run in runs):>8.2f}s {median_seconds(runs):>8.2f}s"
            f" {min(run.cpu_seconds for run in runs):>8.2f}s"
            f" {max(run.mib for run in runs):>7.0f} MiB"
        )


def median_seconds(runs: list[Measured]) -> float:
    """Return the median of the time that runs took."""
    return statistics.median(run.seconds for run in runs)


def measure(command: list[str]) -> Measured:
    """Run a command to its end; it must succeed."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise KraflaError(f"exit status {process.returncode}: {' '.join(command)[:200]}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def provide(target: Path, arguments: list[str]) -> str:
    """Write the log to measure to `target`; return what it is."""
    if arguments:
        source = Path(arguments[0])
    else:
        folder = os.environ.get("KRAFLA_CORPUS")
        if not folder:
            target.write_bytes(b"".join(made_log()))
            return f"made, {PARTITIONS:,} partitions changed {ROUNDS_OF_CHANGES} times"
        found = [*Path(folder).rglob("*.log"), *Path(folder).rglob(f"{LOG_NAME}.gz")]
        source = max(
            (f for f in found if f.parent.name == "__cluster_metadata-0"),
            key=lambda f: f.stat().st_size,
        )
    opener = gzip.open if source.suffix == ".gz" else open
    with opener(source, "rb") as stream, target.open("wb") as out:
        shutil.copyfileobj(stream, out)
    return source.parent.parent.name


def made_log(rounds: int = ROUNDS_OF_CHANGES) -> list[bytes]:
    """Return the batches of a log in which replicas of many partitions leave and return."""
    chance = random.Random(1)
    parts: list[bytes] = []
    offset = 0

    def add(records: list[tuple[int, int, dict[str, object]]]) -> None:
        nonlocal offset
        parts.append(metadata_batch(offset, 1, TIMESTAMP, records))
        offset += len(records)

    version = {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 27}
    leader = {"version": 0, "leaderId": 100, "voters": ({"voterId": 100},)}
    parts.append(
        control_batch(0, 1, TIMESTAMP, [(2, {**leader, "grantingVoters": ({"voterId": 100},)})])
    )
    offset = 1
    add([(12, 0, {"name": "metadata.version", "featureLevel": 27})])
    directories = tuple(uuid_text(chance.randbytes(16)) for _ in range(3))
    for broker in range(3):
        endpoint = {"name": "PLAINTEXT", "host": "h", "port": 9092, "securityProtocol": 0}
        register = {
            "brokerId": broker,
            "incarnationId": uuid_text(chance.randbytes(16)),
            "brokerEpoch": offset,
            "endPoints": (endpoint,),
            "features": (version,),
            "rack": None,
            "logDirs": (directories[broker],),
        }
        epoch = offset
        add([(0, 3, register)])
        add([(17, 0, {"brokerId": broker, "brokerEpoch": epoch, "fenced": -1})])
    partitions: list[dict[str, object]] = []
    state = {"isr": (0, 1, 2), "leader": 0, "leaderEpoch": 0, "partitionEpoch": 0}
    lists = {"replicas": (0, 1, 2), "removingReplicas": (), "addingReplicas": ()}
    born = {**state, **lists, "directories": directories}
    for number in range(PARTITIONS // 5):
        topic = uuid_text(chance.randbytes(16))
        fresh: list[dict[str, object]] = [
            {"partitionId": index, "topicId": topic} for index in range(5)
        ]
        named: dict[str, object] = {"name": f"topic-{number}", "topicId": topic}
        add([(2, 0, named), *((3, 2, {**each, **born}) for each in fresh)])
        partitions += fresh
    for number in range(rounds):
        change = {"isr": ISRS[number % len(ISRS)]}
        for start in range(0, PARTITIONS, BATCH):
            add([(5, 2, {**each, **change}) for each in partitions[start : start + BATCH]])
    return parts


if __name__ == "__main__":
    sys.exit(benchmark(main))
