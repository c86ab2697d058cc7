"""What metrics cost a controller: while it idles, at a scrape, and for each partition.

    python bench/bench_metrics.py [SECONDS]

Four controllers idle side by side for so many seconds (60), two of them with metrics: what each
needs of a processor. Then one is scraped again and again. Last, partitions are counted, as the
first scrape after a change does. Goal: metrics raise the idle cost by at most a tenth.
"""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from figures import Figures, benchmark

from krafla.record.layout import HOST, free_ports
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError
from kraft.ids import BrokerId, PartitionId, TopicId, uuid_text
from kraft.image.entries import Partition
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.node.metrics.image_counts import count_image

KRAFT = (sys.executable, "-P", "-m", "kraft")
IDLE_SECONDS = 60.0
START_SECONDS = 30.0
SETTLE_SECONDS = 5.0
SCRAPES = 50
ROUNDS = 7
GOAL_IDLE = 1.1


class Controller:
    """A sole controller as a process; without `metrics` it measures nothing."""

    def __init__(self, folder: Path, *, metrics: bool) -> None:
        port, self.metrics_port = free_ports(2)
        path = folder / "server.properties"
        path.write_text(
            "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
            f"controller.quorum.voters=1@{HOST}:{port}\nlisteners=CONTROLLER://{HOST}:{port}\n"
            f"log.dirs={folder / 'data'}\n"
        )
        cluster = ["-t", uuid_text(b"\x01" * 16), "-c", str(path)]
        subprocess.run(
            [*KRAFT, "storage", "format", *cluster], check=True, stdout=subprocess.DEVNULL
        )
        shown = ["--metrics", f"{HOST}:{self.metrics_port}"] if metrics else []
        self.process = subprocess.Popen(
            [*KRAFT, "server", "start", str(path), *shown], stdout=subprocess.DEVNULL
        )

    def __enter__(self) -> Controller:
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.wait()

    def processor_seconds(self) -> float:
        """Return the processor time of all threads so far."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        found = [int(one.read_text().split()[0]) for one in threads]
        if not found:
            raise KraflaError("the processor time of a process is read from Linux's /proc alone")
        return sum(found) / 1e9

    def scrape(self) -> None:
        """Read all metrics."""
        url = f"http://{HOST}:{self.metrics_port}/metrics"
        with urllib.request.urlopen(url, timeout=START_SECONDS) as answer:
            answer.read()

    def until_it_serves(self) -> None:
        """Return when it has started."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return self.scrape()
            except urllib.error.URLError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise KraflaError("a controller did not start") from None
                time.sleep(0.1)


def main(arguments: list[str], figures: Figures) -> None:
    """Take the figures."""
    seconds = float(arguments[0]) if arguments else IDLE_SECONDS
    with scratch_folder("bench-metrics") as folder, ExitStack() as stack:
        controllers = []
        for number in range(4):
            own = folder / str(number)
            own.mkdir()
            controllers.append(stack.enter_context(Controller(own, metrics=number % 2 == 1)))
        for one in controllers[1::2]:
            one.until_it_serves()
        time.sleep(SETTLE_SECONDS)
        measure_idle(controllers, seconds, figures)
        measure_scrapes(controllers[1], figures)
    for count in (10_000, 100_000):
        measure_count(count, figures)


def measure_idle(controllers: list[Controller], seconds: float, figures: Figures) -> None:
    """Take what idling costs without and with metrics, of two controllers each."""
    before = [one.processor_seconds() for one in controllers]
    time.sleep(seconds)
    used = [one.processor_seconds() - at for one, at in zip(controllers, before, strict=True)]
    without, measured = sum(used[0::2]) / 2 / seconds, sum(used[1::2]) / 2 / seconds
    print(f"an idle controller, for {seconds:.0f} s")
    figures.add("idle, in a second", without * 1e3, "ms")
    figures.add("idle with metrics, in a second", measured * 1e3, "ms")
    figures.add("idle, with metrics / without", measured / without, "times", most=GOAL_IDLE)


def measure_scrapes(controller: Controller, figures: Figures) -> None:
    """Take what a scrape costs the controller."""
    before = controller.processor_seconds()
    for _ in range(SCRAPES):
        controller.scrape()
    used = controller.processor_seconds() - before
    figures.add("a scrape", used / SCRAPES * 1e3, "ms")


def measure_count(count: int, figures: Figures) -> None:
    """Take how long it takes to count so many partitions."""
    brokers = tuple(BrokerId(number) for number in range(3))
    image = MetadataImage(
        partitions=EMPTY_IMAGE.partitions.update(
            {
                (TopicId(f"t{number // 50}"), PartitionId(number % 50)): Partition(
                    brokers, (), brokers, leader=0 if number % 7 else -1
                )
                for number in range(count)
            }
        )
    )
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        count_image(image)
        times.append(time.process_time() - began)
    figures.add(f"{count:,} partitions, counted", min(times) * 1e3, "ms")


if __name__ == "__main__":
    sys.exit(benchmark(main))
