"""A running controller beside Kafka's: starts, writes, heartbeats, failovers, memory.

    python bench/bench_node.py [SCALE]

The same client speaks to both, and plays their brokers; the two have the same properties and are
measured in turn. SCALE, 1 by default, is the share of the partitions, heartbeats and seconds; the
goals are those of scale 1. Processor time and memory are those of the controller's process.

* start: from the start of the process to its first answer, and to the first committed write
* create: topics in requests of 500 partitions each, two brokers in every ISR
* idle: two brokers heartbeat, nothing else happens
* heartbeats: 100 brokers, each ten times a second; latency counts from when each was due
* fence: a broker that leads half of the partitions wants to be fenced; its answer comes after the
  last change is committed. Meanwhile another broker heartbeats all the time: its slowest answer
  says for how long the controller does nothing else
* failover: the leader of three is killed or stopped; until another one commits a write
* peers down: the two peers of a controller hang up on every connection at once
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from controller_client import (
    Broker,
    Client,
    create_topics,
    first_answer,
    kept_alive,
    seconds_of,
    until_commit,
)
from controllers import JAVA, KINDS, OURS, Controllers, quorum_of
from figures import Figures, benchmark, number

from krafla.record.processes import Processes
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

REQUESTS, FIRST_REQUESTS, PARTITIONS_OF_REQUEST, PARTITIONS_OF_TOPIC = 20, 4, 500, 10
BROKERS, BEATS_OF_BROKER, BEAT_SECONDS = 100, 10, 5
IDLE_SECONDS = 30
STARTS, FAILOVERS = 3, 3
ATTEMPT_SECONDS = 5
GOAL_IDLE_PERCENT, GOAL_IDLE_MIB = 3.0, 60.0
GOAL_START_SECONDS = 1.5
GOAL_ATTEMPTS = 20.0


class Taken(NamedTuple):
    """A figure of one kind of controller, to be set beside the other's."""

    name: str
    value: float
    unit: str
    most: float | None = None


class Sole:
    """A quorum of one controller, its clients, and its two brokers, alive until `stack` ends."""

    def __init__(self, controllers: Controllers, stack: contextlib.AsyncExitStack) -> None:
        self.stack = stack
        self.controllers = controllers
        (self.node_id,) = controllers.node_ids
        self.port = controllers.port(self.node_id)
        self.brokers: list[Broker] = []
        self.topics = 0

    async def register(self) -> None:
        """Register the two brokers, and keep them alive from now on."""
        self.brokers = [await Broker.register(self.port, broker_id) for broker_id in range(2)]
        await self.stack.enter_async_context(kept_alive(self.brokers))

    async def starts(self, count: int) -> list[Taken]:
        """Start the controller several times; it runs afterwards."""
        answers, commits = [], []
        for repetition in range(count):
            if repetition:
                self.controllers.kill(self.node_id)
            began = time.monotonic()
            self.controllers.start(self.node_id)
            (await first_answer(self.port)).close()
            answers.append(time.monotonic() - began)
            await until_commit([self.port])
            commits.append(time.monotonic() - began)
        self.client = await Client.connect(self.port)
        return [
            Taken("start to the first answer", statistics.median(answers), "s"),
            Taken("start to the first commit", statistics.median(commits), "s", GOAL_START_SECONDS),
        ]

    async def create(self, requests: int) -> list[float]:
        """Create topics with requests; return the seconds of each."""
        count = PARTITIONS_OF_REQUEST // PARTITIONS_OF_TOPIC
        taken = []
        for _ in range(requests):
            names = [f"topic-{self.topics + index}" for index in range(count)]
            self.topics += count
            taken.append(
                await seconds_of(create_topics(self.client, names, PARTITIONS_OF_TOPIC, 2))
            )
        return taken

    def processor_seconds(self) -> float:
        """Return the processor time of the controller."""
        return self.controllers.processor_seconds(self.node_id)

    def resident_mib(self) -> float:
        """Return the memory of the controller."""
        return self.controllers.resident_mib(self.node_id)


async def measure_sole(sole: Sole, requests: int, starts: int) -> list[Taken]:
    """Measure starts, then the first topics; two brokers have registered afterwards."""
    taken = await sole.starts(starts)
    await sole.register()
    used = sole.processor_seconds()
    seconds = await sole.create(requests)
    print(f"    first {requests} requests: {sum(seconds):.2f} s, "
          f"{sole.processor_seconds() - used:.2f} s of a processor")  # fmt: skip
    return taken


async def measure_idle(soles: list[Sole], seconds: float) -> dict[str, list[Taken]]:
    """Measure both while nothing happens but heartbeats."""
    partitions = soles[0].topics * PARTITIONS_OF_TOPIC
    used = [sole.processor_seconds() for sole in soles]
    await asyncio.sleep(seconds)
    used = [sole.processor_seconds() - one for sole, one in zip(soles, used, strict=True)]
    return {
        sole.controllers.kind: [
            Taken("idle, processor", 100 * one / seconds, "%", GOAL_IDLE_PERCENT),
            Taken(
                f"memory at {partitions:,} partitions", sole.resident_mib(), "MiB", GOAL_IDLE_MIB
            ),
        ]
        for sole, one in zip(soles, used, strict=True)
    }


async def measure_create(sole: Sole, requests: int) -> list[Taken]:
    """Measure the other topics."""
    used = sole.processor_seconds()
    seconds = await sole.create(requests)
    return [
        Taken("create, a request of 500", statistics.median(seconds) * 1e3, "ms"),
        Taken("create, the slowest request", max(seconds) * 1e3, "ms"),
        Taken(
            "create, processor for a request",
            (sole.processor_seconds() - used) / requests * 1e3,
            "ms",
        ),
    ]


async def measure_heartbeats(sole: Sole, brokers: int, seconds: float) -> list[Taken]:
    """Measure heartbeats that come at their times, whether those before are answered or not."""
    first = len(sole.brokers)
    others = [await Broker.register(sole.port, first + index) for index in range(brokers)]
    latencies: list[float] = []
    period = 1 / BEATS_OF_BROKER
    began = time.monotonic() + 0.1

    async def beat(broker: Broker, start: float) -> None:
        for nth in range(round(seconds * BEATS_OF_BROKER)):
            due = start + nth * period
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await broker.heartbeat()
            latencies.append(time.monotonic() - due)

    used = sole.processor_seconds()
    tasks = (beat(one, began + period * n / brokers) for n, one in enumerate(others))
    await asyncio.gather(*tasks)
    took, used = time.monotonic() - began, sole.processor_seconds() - used
    for broker in others:
        broker.close()
    latencies.sort()
    return [
        Taken("heartbeats answered", len(latencies) / took, "1/s"),
        Taken("heartbeat, median", latencies[len(latencies) // 2] * 1e3, "ms"),
        Taken("heartbeat, slowest of 100", latencies[len(latencies) * 99 // 100] * 1e3, "ms"),
        Taken("heartbeat, processor", used / len(latencies) * 1e6, "us"),
    ]


async def measure_fence(sole: Sole) -> list[Taken]:
    """Measure the fencing of the first broker."""
    slowest, is_fenced = 0.0, False

    async def beat() -> None:
        nonlocal slowest
        while not is_fenced:
            slowest = max(slowest, await seconds_of(sole.brokers[1].heartbeat()))
            await asyncio.sleep(0.001)

    used = sole.processor_seconds()
    beating = asyncio.create_task(beat())
    await asyncio.sleep(0.1)
    took = await seconds_of(sole.brokers[0].heartbeat(want_fence=True))
    is_fenced = True
    await beating
    partitions = sole.topics * PARTITIONS_OF_TOPIC
    name = f"fence, {partitions // 2:,} led of {partitions:,}"
    return [
        Taken(name, took, "s"),
        Taken("fence, slowest heartbeat of another", slowest, "s"),
        Taken("fence, processor", sole.processor_seconds() - used, "s"),
        Taken(f"memory at {partitions:,} partitions", sole.resident_mib(), "MiB"),
    ]


async def measure_failovers(controllers: Controllers, count: int) -> list[Taken]:
    """Measure how long there is no leader after a kill, and after a stop in good order."""
    ports = {controllers.port(node_id): node_id for node_id in controllers.node_ids}
    for node_id in controllers.node_ids:
        controllers.start(node_id)
    found = []
    for name, signal_number in (("kill -9", signal.SIGKILL), ("SIGTERM", signal.SIGTERM)):
        times = []
        for _ in range(count):
            for port in ports:
                (await first_answer(port)).close()
            leader = ports[await until_commit(list(ports))]
            # A follower that has just started may have nothing yet, and would not be elected.
            await asyncio.sleep(1.0)
            others = [port for port, node_id in ports.items() if node_id != leader]
            controllers.send(leader, signal_number)
            times.append(await seconds_of(until_commit(others)))
            controllers.reap(leader)
            controllers.start(leader)
        found.append(Taken(f"{name} of the leader to a commit", statistics.median(times), "s"))
    for node_id in controllers.running:
        controllers.kill(node_id)
    return found


async def measure_attempts(controllers: Controllers, seconds: float) -> list[Taken]:
    """Measure how often a controller connects to peers that hang up at once."""
    first, *others = controllers.node_ids
    attempts = 0

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal attempts
        attempts += 1
        writer.transport.abort()

    servers = [
        await asyncio.start_server(hang_up, "127.0.0.1", controllers.port(node_id))
        for node_id in others
    ]
    controllers.start(first)
    (await first_answer(controllers.port(first))).close()
    await asyncio.sleep(1.0)
    before = attempts
    await asyncio.sleep(seconds)
    found = (attempts - before) / seconds
    controllers.kill(first)
    for server in servers:
        server.close()
    return [Taken("connection attempts, peers down", found, "1/s", GOAL_ATTEMPTS)]


def compare(figures: Figures, ours: list[Taken], java: list[Taken]) -> None:
    """Take the figures of ours, and their ratios to those of Java, which are printed."""
    for one, other in zip(ours, java, strict=True):
        print(f"  {JAVA}: {other.name}: {number(other.value)} {other.unit}")
        figures.add(one.name, one.value, one.unit, most=one.most)
        if other.value:
            figures.add(f"{one.name}, {OURS} / {JAVA}", one.value / other.value, "times")


async def measure(figures: Figures, folder: Path, processes: Processes, scale: float) -> None:
    """Measure a controller that is alone, then quorums of three."""

    def controllers(kind: str, size: int, name: str) -> Controllers:
        return Controllers(kind, quorum_of(size, folder / f"{kind}-{name}"), processes)

    def scaled(count: float) -> int:
        return max(1, round(count * scale))

    async def in_turn(
        what: str,
        one: Callable[..., Awaitable[list[Taken]]],
        subjects: Sequence[Any],
        *arguments: float,
    ) -> None:
        print(what, flush=True)
        ours, java = [await one(subject, *arguments) for subject in subjects]
        compare(figures, ours, java)

    async with contextlib.AsyncExitStack() as stack:
        soles = [Sole(controllers(kind, 1, "sole"), stack) for kind in KINDS]
        first, repetitions = scaled(FIRST_REQUESTS), scaled(STARTS)
        await in_turn("start, and the first topics", measure_sole, soles, first, repetitions)
        print("idle", flush=True)
        idle = await measure_idle(soles, scaled(IDLE_SECONDS))
        compare(figures, idle[OURS], idle[JAVA])
        await in_turn("create topics", measure_create, soles, scaled(REQUESTS - FIRST_REQUESTS))
        beats = scaled(BROKERS), scaled(BEAT_SECONDS)
        await in_turn("heartbeats", measure_heartbeats, soles, *beats)
        await in_turn("fence a broker", measure_fence, soles)
    for sole in soles:
        sole.controllers.kill(sole.node_id)
    quorums = [controllers(kind, 3, "quorum") for kind in KINDS]
    await in_turn("failover", measure_failovers, quorums, scaled(FAILOVERS))
    lonely = [controllers(kind, 3, "lonely") for kind in KINDS]
    await in_turn("peers down", measure_attempts, lonely, scaled(ATTEMPT_SECONDS))


def main(arguments: list[str], figures: Figures) -> None:
    """Measure both kinds."""
    try:
        scale = float(arguments[0]) if arguments else 1.0
    except ValueError:
        raise KraflaError("SCALE is a number", arguments[0]) from None
    with scratch_folder("bench") as folder, Processes() as processes:
        asyncio.run(measure(figures, folder, processes, scale))


if __name__ == "__main__":
    sys.exit(benchmark(main))
