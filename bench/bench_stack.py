"""How fast the simulated stack is, what judging it costs, and how large an image is.

Three controllers and three brokers with all faults of the stack. The same runs are played with all
properties and the audit's judge, and without any; then an image with 10,000 partitions is made.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc

from figures import Figures, benchmark

from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.stack.system import KINDS, SYSTEM
from kraft.controller.operations.written import NOTHING_WRITTEN, replay_batch
from kraft.ids import BrokerId, DirectoryId, Offset, PartitionId, TopicId, uuid_text
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.topics import PartitionRecord, TopicRecord
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.configuration import RaftConfiguration, draw_knobs
from kraft.sim.raft.runs import watch
from kraft.sim.stack.configuration import draw_stack_knobs

CONFIGURATION = RaftConfiguration(voters=3, observers=3, kinds=KINDS)
RUNS = 8
WARM_UPS = 3
GOAL_EVENTS = 10_000
TOPICS, PARTITIONS_OF_TOPIC = 1_000, 10
GOAL_MIB = 300


def cases() -> list[Case]:
    """Return the runs that are measured."""
    return [
        Case(CONFIGURATION, seed, None, draw_knobs(seed, CONFIGURATION), draw_stack_knobs(seed))
        for seed in range(100, 100 + RUNS)
    ]


def measure_speed(figures: Figures) -> None:
    """Measure the events for each second of processor time, all judges on."""
    # The JVM compiles TLC's evaluator while it runs, in threads whose time counts: a campaign has
    # that after it in its first minute.
    for case in cases() * WARM_UPS:
        SYSTEM.play(case)
    gc.disable()
    started = time.process_time()
    played = [SYSTEM.play(case) for case in cases()]
    judged = time.process_time() - started
    started = time.process_time()
    for case in cases():
        watch(
            Simulation(
                case.configuration, case.seed, None, case.knobs, workload=SYSTEM.workload(case)
            )
        )
    bare = time.process_time() - started
    gc.enable()
    for one in played:
        assert one.finding is None, one.finding
    events = sum(one.steps for one in played)
    figures.add("with all judges", events / judged, "events/s", least=GOAL_EVENTS)
    figures.add("with all judges / with none", judged / bare, "times")


def measure_image(figures: Figures) -> None:
    """Measure the MiB of what a controller knows of 10,000 partitions."""
    tracemalloc.start()
    written = replay_batch(
        NOTHING_WRITTEN, (FeatureLevelRecord("metadata.version", 27),), Offset(0)
    )
    for topic in range(TOPICS):
        topic_id = TopicId(uuid_text((topic + 200).to_bytes(16, "big")))
        replicas = tuple(BrokerId((topic + one) % 6) for one in range(3))
        directories = tuple(
            DirectoryId(uuid_text((one + 300).to_bytes(16, "big"))) for one in replicas
        )
        records = [TopicRecord(f"topic-{topic}", topic_id)]
        records += [
            PartitionRecord(
                PartitionId(index), topic_id, replicas, replicas, leader=replicas[0],
                leader_epoch=0, partition_epoch=0, directories=directories,
            )
            for index in range(PARTITIONS_OF_TOPIC)
        ]  # fmt: skip
        written = replay_batch(written, records, written.end)
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    count = len(written.image.partitions)
    figures.add(f"{count:,} partitions with their index", size, "MiB", most=GOAL_MIB)


def main(_: list[str], figures: Figures) -> None:
    """Measure runs, then an image."""
    measure_speed(figures)
    measure_image(figures)


if __name__ == "__main__":
    sys.exit(benchmark(main))
