"""Broken logs: the beginning of a real log, then batches of which one breaks a rule.

The log of `crash` is kept up to its first topic: three brokers, 0 to 2, unfenced, and the features
of Kafka 4.1. The batches after it are written here, with valid lengths and CRCs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.krafla.audit.editing import LOG, METADATA

from krafla.audit.result import Weight
from kraft.ids import uuid_text
from kraft.log.segment import iter_batches
from kraft.records.builder import control_batch, metadata_batch

if TYPE_CHECKING:
    from krafla.audit.result import Finding

REAL = Path(__file__).parents[3] / "traces" / "kafka-4.1" / "crash" / "n3000" / METADATA / LOG
TIME = 1_795_264_790_433
TOPIC, OTHER = uuid_text(bytes(range(16))), uuid_text(bytes(range(1, 17)))
UNASSIGNED = uuid_text(bytes(15) + b"\x01")
EPOCHS = {0: 17, 1: 13, 2: 8}
NOTHING = (20, 0, {})
LISTENER = {"name": "CONTROLLER", "host": "h", "port": 9093}
"""An endpoint of a voter."""
Record = tuple[int, int, dict[str, Any]]


@dataclass(frozen=True)
class Broken:
    """Batches after the real ones, and the record to blame: (batch, record)."""

    batches: list[list[Record]]
    blame: tuple[int, int]


@lru_cache(maxsize=1)
def prefix() -> tuple[tuple[bytes, ...], int, tuple[Record, ...]]:
    """Return the bytes of the real batches, their end offset and their metadata records."""
    parts, records, end = [], [], 0
    for batch in iter_batches(REAL):
        found = [] if batch.is_control else batch.metadata_records()
        if any(record.api_key == 2 for record in found):
            break
        parts.append(batch.raw)
        records += [(r.api_key, r.version, dict(r.fields)) for r in found]
        end = batch.next_offset
    return tuple(parts), end, tuple(records)


@lru_cache(maxsize=1)
def registrations() -> dict[int, dict[str, Any]]:
    return {f["brokerId"]: f for key, _, f in prefix()[2] if key == 0}


def directory(broker: int) -> str:
    found = registrations().get(broker)
    return found["logDirs"][0] if found else OTHER


def place(broker: int) -> str:
    """Return the directory in which a new replica of a broker begins: of several, none yet."""
    found = registrations().get(broker)
    return UNASSIGNED if found and len(found["logDirs"]) > 1 else directory(broker)


def register(broker: int, **fields: Any) -> Record:
    return (0, 3, {**registrations().get(broker, registrations()[0]), **fields})


def topic(name: str = "broken", topic_id: str = TOPIC) -> Record:
    return (2, 0, {"name": name, "topicId": topic_id})


def partition(number: int = 0, replicas: tuple[int, ...] = (0, 1, 2), **fields: Any) -> Record:
    plain = {
        "partitionId": number, "topicId": TOPIC, "replicas": replicas, "isr": replicas,
        "removingReplicas": (), "addingReplicas": (), "leader": replicas[0], "leaderEpoch": 0,
        "partitionEpoch": 0, "directories": tuple(map(place, replicas)),
    }  # fmt: skip
    return (3, 2, {**plain, **fields})


def change(number: int = 0, **fields: Any) -> Record:
    if "replicas" in fields:
        fields.setdefault("directories", tuple(map(place, fields["replicas"])))
    return (5, 2, {"partitionId": number, "topicId": TOPIC, **fields})


def broker_change(broker: int, version: int = 0, **fields: Any) -> Record:
    return (17, version, {"brokerId": broker, "brokerEpoch": EPOCHS[broker], **fields})


def feature(name: str, level: int) -> Record:
    return (12, 0, {"name": name, "featureLevel": level})


ELECTED_AGAIN: list[Record] = [(-1, 0, {})]
"""For `from_start`: the batch in which the leader begins another epoch."""


def from_start(folder: Path, *batches: list[Record]) -> Path:
    """Write a log of these batches, after a leader's first; return its directory."""
    data, offset, epoch = [leader_change(0, 1, 3000, (3000,))], 1, 1
    for records in batches:
        if records == ELECTED_AGAIN:
            epoch += 1
            data.append(leader_change(offset, epoch, 3000, (3000,)))
        else:
            data.append(metadata_batch(offset, epoch, TIME, records))
        offset += len(records)
    target = folder / METADATA
    target.mkdir(parents=True)
    (target / LOG).write_bytes(b"".join(data))
    return target


def written(folder: Path, broken: Broken) -> tuple[Path, int]:
    """Write a broken log; return its directory and the offset to blame."""
    parts, offset, _ = prefix()
    data, blame = [*parts], -1
    for number, records in enumerate(broken.batches):
        if number == broken.blame[0]:
            blame = offset + broken.blame[1]
        data.append(metadata_batch(offset, 1, TIME, records))
        offset += len(records)
    target = folder / METADATA
    target.mkdir(parents=True)
    (target / LOG).write_bytes(b"".join(data))
    return target, blame


def first_refusal(found: tuple[Finding, ...], expected: object) -> Finding:
    """Return the first finding that refuses; `expected` says what it should be if there is none."""
    refusals = [f for f in found if f.weight in (Weight.VIOLATION, Weight.UNREADABLE)]
    assert refusals, f"held, expected {expected}: {found}"
    return refusals[0]


def leader_change(
    offset: int, epoch: int, leader: int, voters: tuple[int, ...] = (3000, 3001, 3002)
) -> bytes:
    """Return the bytes of the batch that begins an epoch, for which every voter voted."""
    listed = tuple({"voterId": voter} for voter in voters)
    fields = {"version": 0, "leaderId": leader, "voters": listed, "grantingVoters": listed}
    return control_batch(offset, epoch, TIME, [(2, fields)])


def checkpoint(records: list[Record], epoch: int = 1) -> bytes:
    """Return the bytes of a checkpoint with these records."""
    head = control_batch(0, epoch, TIME, [(3, {"version": 0, "lastContainedLogTimestamp": TIME})])
    foot = control_batch(1 + len(records), epoch, TIME, [(4, {"version": 0})])
    return head + metadata_batch(1, epoch, TIME, records) + foot


def checkpoint_name(end: int, epoch: int = 1) -> str:
    return f"{end:020}-{epoch:010}.checkpoint"


def folded(*more: Record) -> list[Record]:
    """Return the records of a checkpoint of the real batches, and some more, in Kafka's order."""
    fenced = {f["brokerId"]: f["fenced"] == 1 for key, _, f in prefix()[2] if key == 17}
    described = [
        (key, version, {**f, "fenced": fenced.get(f["brokerId"], f["fenced"])} if key == 0 else f)
        for key, version, f in prefix()[2] if key not in (17, 20, 23, 24)
    ] + list(more)  # fmt: skip
    return sorted(described, key=lambda record: SECTIONS[record[0]])


SECTIONS = {12: 0, 21: 0, 0: 1, 27: 2, 2: 3, 3: 3, 4: 4, 14: 5, 15: 6, 18: 7, 11: 8, 10: 9, 20: 10}
"""By api key, where Kafka writes a record of a checkpoint; a NoOpRecord stands in none."""
