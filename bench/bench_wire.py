"""Messages written and read by `kraft.wire`, beside kio, in one run.

    python bench/bench_wire.py

Both write the same bytes from values of their own, and read them again. kio's reader is compiled
Rust, its writer is Python; it checks no lengths (docs/internals/wire.md). Each time is the fastest
of several rounds, in which the two take turns. Goal: ours writes at least 3 times as fast as kio.

Last what a stranger can cost a server with a MiB of the smallest structs: the time to read it, the
memory of its values, and how much longer it takes to name the fault of such a body.
"""

from __future__ import annotations

import io
import sys
import time
import tracemalloc
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from figures import Figures, benchmark
from kio.index import load_request_schema
from kio.serial import entity_reader, entity_writer

from krafla.verdict import KraflaError
from kraft.errors import CorruptMessageError
from kraft.ids import uuid_text
from kraft.records.encoders import encode_message
from kraft.wire.messages import MAX_EXPLAINED_BYTES, decode_message
from kraft.wire.schemas.credentials import DESCRIBE_USER_SCRAM_CREDENTIALS_REQUEST
from kraft.wire.schemas.nodes import BROKER_HEARTBEAT_REQUEST
from kraft.wire.schemas.partitions import ALTER_PARTITION_REQUEST
from kraft.wire.schemas.replication import FETCH_REQUEST
from kraft.wire.schemas.topics import CREATE_TOPICS_REQUEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.records.schema import Fields, Schema

ROUNDS = 7
ROUND_SECONDS = 0.05
GOAL_ENCODE = 3.0
MIB = 1024 * 1024
EMPTY = ({"name": ""},)


class Case(NamedTuple):
    """A message to write and read."""

    name: str
    schema: Schema
    version: int
    fields: Fields


def cases() -> list[Case]:
    """Return the messages, from the smallest to the largest."""
    return [
        Case("heartbeat", BROKER_HEARTBEAT_REQUEST, 1, heartbeat()),
        Case("fetch", FETCH_REQUEST, 18, fetch()),
        Case("create 100 topics", CREATE_TOPICS_REQUEST, 7, create_topics(100)),
        Case("alter 1,000 partitions", ALTER_PARTITION_REQUEST, 3, alter_partition(100)),
    ]


def heartbeat() -> Fields:
    """Return the heartbeat of a broker that has no offline directory."""
    return {
        "brokerId": 1,
        "brokerEpoch": 5,
        "currentMetadataOffset": 1234,
        "wantFence": False,
        "wantShutDown": False,
        "offlineLogDirs": (),
    }


def fetch() -> Fields:
    """Return the request of a follower of the metadata log."""
    partition = {
        "partition": 0,
        "currentLeaderEpoch": 3,
        "fetchOffset": 288,
        "lastFetchedEpoch": 3,
        "logStartOffset": -1,
        "partitionMaxBytes": 0,
        "replicaDirectoryId": uuid_text(b"\x01" * 16),
        "highWatermark": 287,
    }
    return {
        "clusterId": uuid_text(b"\x02" * 16),
        "replicaState": {"replicaId": 3000, "replicaEpoch": -1},
        "maxWaitMs": 500,
        "minBytes": 0,
        "maxBytes": 8 << 20,
        "isolationLevel": 0,
        "sessionId": 0,
        "sessionEpoch": -1,
        "topics": ({"topicId": uuid_text(b"\x03" * 16), "partitions": (partition,)},),
        "forgottenTopicsData": (),
        "rackId": "",
    }


def create_topics(count: int) -> Fields:
    """Return a request for topics with one configuration each."""
    config = {"name": "min.insync.replicas", "value": "2"}
    topics = (
        {
            "name": f"topic-{number}",
            "numPartitions": 10,
            "replicationFactor": 3,
            "assignments": (),
            "configs": (config,),
        }
        for number in range(count)
    )
    return {"topics": tuple(topics), "timeoutMs": 30_000, "validateOnly": False}


def alter_partition(topics: int) -> Fields:
    """Return a request for ten partitions of each topic, with three replicas in sync."""
    isr = tuple({"brokerId": broker, "brokerEpoch": 5} for broker in range(3))
    partitions = tuple(
        {
            "partitionIndex": number,
            "leaderEpoch": 3,
            "newIsrWithEpochs": isr,
            "leaderRecoveryState": 0,
            "partitionEpoch": 7,
        }
        for number in range(10)
    )
    found = tuple(
        {"topicId": uuid_text(number.to_bytes(16, "big")), "partitions": partitions}
        for number in range(1, topics + 1)
    )
    return {"brokerId": 1, "brokerEpoch": 5, "topics": found}


def main(_: list[str], figures: Figures) -> None:
    """Measure each message both ways."""
    for case in cases():
        measure(case, figures)
    measure_stranger(figures)


def measure_stranger(figures: Figures) -> None:
    """Take the figures of a body with as many structs as fit a MiB."""
    schema, version = DESCRIBE_USER_SCRAM_CREDENTIALS_REQUEST, 0
    raw = encode_message(schema, version, {"users": EMPTY * (MIB // 2)})
    broken = encode_message(schema, version, {"users": EMPTY * (MAX_EXPLAINED_BYTES // 3)})[:-1]
    seconds = seconds_of(lambda: decode_message(schema, version, raw), 1)
    tracemalloc.start()
    decode_message(schema, version, raw)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"empty structs, {len(raw):,} bytes")
    figures.add("empty structs, decode", seconds * 1e3, "ms")
    figures.add("empty structs, memory / bytes", peak / len(raw), "times")
    reading = seconds / len(raw)
    naming = seconds_of(lambda: refuse(schema, version, broken), 1) / len(broken)
    figures.add("empty structs, to name a fault / to read", naming / reading, "times")


def refuse(schema: Schema, version: int, raw: bytes) -> None:
    """Read a body that is cut short."""
    with suppress(CorruptMessageError):
        decode_message(schema, version, raw)


def measure(case: Case, figures: Figures) -> None:
    """Take the figures of one message."""
    kind = load_request_schema(case.schema.api_key, case.version)
    read: Any = entity_reader(kind)
    write: Any = entity_writer(kind)
    raw = encode_message(case.schema, case.version, case.fields)
    value, _ = read(raw, 0)

    def written_by_kio() -> bytes:
        out = io.BytesIO()
        write(out, value)
        return out.getvalue()

    if written_by_kio() != raw or decode_message(case.schema, case.version, raw) != case.fields:
        raise KraflaError("kio and kraft.wire write different bytes", case.name)
    encoding = fastest(
        lambda: encode_message(case.schema, case.version, case.fields), written_by_kio
    )
    decoding = fastest(lambda: decode_message(case.schema, case.version, raw), lambda: read(raw, 0))
    print(f"{case.name}, {len(raw):,} bytes")
    figures.add(f"{case.name}, encode", encoding[0] * 1e6, "us")
    figures.add(f"{case.name}, decode", decoding[0] * 1e6, "us")
    ratio = encoding[1] / encoding[0]
    figures.add(f"{case.name}, encode, kio / ours", ratio, "times", least=GOAL_ENCODE)
    figures.add(f"{case.name}, decode, kio / ours", decoding[1] / decoding[0], "times")


def fastest(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that one call of each takes in the fastest of the rounds."""
    calls = {work: calls_of(work) for work in (ours, theirs)}
    times = {ours: float("inf"), theirs: float("inf")}
    for _ in range(ROUNDS):
        for work in times:
            times[work] = min(times[work], seconds_of(work, calls[work]) / calls[work])
    return times[ours], times[theirs]


def calls_of(work: Callable[[], object]) -> int:
    """Return how many calls fill a round, at least."""
    calls = 1
    while seconds_of(work, calls) < ROUND_SECONDS:
        calls *= 2
    return calls


def seconds_of(work: Callable[[], object], calls: int) -> float:
    """Return the processor time of some calls."""
    began = time.process_time()
    for _ in range(calls):
        work()
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(benchmark(main))
