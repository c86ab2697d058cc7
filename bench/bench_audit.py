"""The audit of a large metadata log beside Kafka's own dump of it, whole processes, in one run.

    python bench/bench_audit.py [LOG]

LOG is a `.log` file; the default is the largest below KRAFLA_CORPUS, or without that a made one.
The two take turns. Kafka's DumpLogSegments runs from Maven's jars (fetched once; KAFKA_LIBS names a
folder that has them) with the flags that make it start fastest, and only prints the log; the audit
decodes the same records, steps through the spec and judges them. Goals: less time than Kafka, by
the fastest and by the median run, and less than 500 MB.
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

from krafla.record.jars import class_path
from krafla.scratch import scratch_folder
from krafla.tlc.jre import find_jre
from kraft.ids import uuid_text
from kraft.records.builder import metadata_batch

ROUNDS = 7
GOAL_MEGABYTES = 500
JAVA_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
LOG_NAME = "00000000000000000000.log"
PARTITIONS = 10_000
ROUNDS_OF_CHANGES = 25
BATCH = 1_000


class Measured(NamedTuple):
    """What one process took."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def main(arguments: list[str]) -> int:
    """Print the table; return 0 if the goals were met."""
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
    return report(audits, dumps)


def report(audits: list[Measured], dumps: list[Measured]) -> int:
    """Print what was measured; return 0 if the goals were met."""
    print(f"{ROUNDS} rounds each  {'fastest':>9} {'median':>9} {'CPU':>9} {'memory':>9}")
    for name, runs in (("krafla audit", audits), ("Kafka's dump", dumps)):
        seconds = [run.seconds for run in runs]
        cpu = min(run.cpu_seconds for run in runs)
        memory = max(run.megabytes for run in runs)
        print(
            f"{name:<14}{min(seconds):>8.2f}s {statistics.median(seconds):>8.2f}s"
            f" {cpu:>8.2f}s {memory:>6.0f} MB"
        )
    fastest = min(a.seconds for a in audits) / min(d.seconds for d in dumps)
    median = statistics.median(a.seconds for a in audits) / statistics.median(
        d.seconds for d in dumps
    )
    memory = max(run.megabytes for run in audits)
    print(f"ratio: {fastest:.2f} by the fastest, {median:.2f} by the median")
    return 0 if fastest < 1 and median < 1 and memory < GOAL_MEGABYTES else 1


def measure(command: list[str]) -> Measured:
    """Run a command to its end; it must succeed."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode}: {' '.join(command)}")
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


def made_log() -> list[bytes]:
    """Return the batches of a log in which three brokers move replicas of many partitions."""
    chance = random.Random(1)
    parts: list[bytes] = []
    offset = 0

    def add(records: list[tuple[int, int, dict[str, object]]]) -> None:
        nonlocal offset
        parts.append(metadata_batch(offset, 1, 1_700_000_000_000, records))
        offset += len(records)

    version = {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 27}
    add([(12, 0, {"name": "metadata.version", "featureLevel": 27})])
    for broker in range(3):
        endpoint = {"name": "PLAINTEXT", "host": "h", "port": 9092, "securityProtocol": 0}
        register = {
            "brokerId": broker,
            "incarnationId": uuid_text(chance.randbytes(16)),
            "brokerEpoch": offset,
            "endPoints": (endpoint,),
            "features": (version,),
            "rack": None,
        }
        epoch = offset
        add([(0, 3, register)])
        add([(17, 0, {"brokerId": broker, "brokerEpoch": epoch, "fenced": -1})])
    partitions: list[dict[str, object]] = []
    state = {"isr": (0, 1, 2), "leader": 0, "leaderEpoch": 0, "partitionEpoch": 0}
    directories = (uuid_text(bytes(15) + b"\x01"),) * 3
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
    for number in range(ROUNDS_OF_CHANGES):
        change = {"leader": (number + 1) % 3, "replicas": (0, 1, 2), "directories": directories}
        for start in range(0, PARTITIONS, BATCH):
            add([(5, 2, {**each, **change}) for each in partitions[start : start + BATCH]])
    return parts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
