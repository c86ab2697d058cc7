"""An image made of a large metadata log, beside Kafka's own reading of it, in one run.

    python bench/bench_image.py [LOG]

LOG is as in ``bench_audit.py``. First, in this process: how long it takes to check the batches, to
make values of their records, and to replay those, in processor time. Then whole processes take
turns: ours, Kafka's MetadataShell, which loads the log into its own image and lists the root of it,
and Kafka's DumpLogSegments, which prints it. Goals: 300,000 records a second from the bytes to the
image, less time than the shell by the median run.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from bench_audit import JAVA_FLAGS, LOG_NAME, Measured, measure, median_seconds, provide, show
from figures import Figures, benchmark

from krafla.record.jars import class_path
from krafla.scratch import scratch_folder
from krafla.tlc.jre import find_jre
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.log.segment import iter_batches

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 3
GOAL_RECORDS_PER_SECOND = 300_000
OURS = """
import sys
from pathlib import Path
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.log.segment import iter_batches
log = Path(sys.argv[1])
replay(EMPTY_IMAGE, (one for batch in iter_batches(log) for one in batch.typed_records()))
"""


def main(arguments: list[str], figures: Figures) -> None:
    """Measure reading in this process, then whole processes."""
    with scratch_folder("bench") as scratch:
        log = scratch / "__cluster_metadata-0" / LOG_NAME
        log.parent.mkdir()
        print(f"log: {provide(log, arguments)}, {log.stat().st_size:,} bytes")
        speed = max(in_process(log) for _ in range(ROUNDS))
        shell_takes = beside_kafka(log)
    figures.add("from bytes to the image", speed, "records/s", least=GOAL_RECORDS_PER_SECOND)
    figures.add("Kafka's shell / ours, median", shell_takes, "times", least=1)


def in_process(log: Path) -> float:
    """Print what one reading took in this process; return the records per second of it."""
    image, count = EMPTY_IMAGE, 0
    values = replayed = 0.0
    began = time.process_time()
    for batch in iter_batches(log):
        started = time.process_time()
        records = batch.typed_records()
        typed = time.process_time()
        image = replay(image, records)
        count += len(records)
        values += typed - started
        replayed += time.process_time() - typed
    whole = time.process_time() - began
    print(
        f"  {count:,} records: batches {whole - values - replayed:.2f} s, values {values:.2f} s, "
        f"replay {replayed:.2f} s"
    )
    return count / whole


def beside_kafka(log: Path) -> float:
    """Print what whole processes took; return the median of the shell's as a multiple of ours."""
    java = [str(find_jre().home / "bin" / "java"), *JAVA_FLAGS, "-cp", class_path()]
    commands = {
        "krafla": [sys.executable, "-c", OURS, str(log)],
        "Kafka's shell": [
            *java, "org.apache.kafka.shell.MetadataShell", "--snapshot", str(log), "ls", "/"
        ],
        "Kafka's dump": [
            *java, "kafka.tools.DumpLogSegments", "--cluster-metadata-decoder", "--files", str(log)
        ],
    }  # fmt: skip
    runs: dict[str, list[Measured]] = {name: [] for name in commands}
    for number in range(ROUNDS + 1):
        for name, command in commands.items():
            taken = measure(command)
            if number:  # the first warms the disk cache and Python's bytecode cache
                runs[name].append(taken)
    show(runs)
    return median_seconds(runs["Kafka's shell"]) / median_seconds(runs["krafla"])


if __name__ == "__main__":
    sys.exit(benchmark(main))
