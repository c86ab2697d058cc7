"""Logs of old releases: brokers 0 to 2 of a release, unfenced, at a metadata version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.krafla.audit.breaking import (
    OTHER,
    TIME,
    TOPIC,
    UNASSIGNED,
    Record,
    checkpoint,
    checkpoint_name,
    feature,
    from_start,
)
from tests.krafla.audit.editing import METADATA

from kraft.ids import uuid_text
from kraft.image.entries import LOST
from kraft.records.builder import metadata_batch
from kraft.records.metadata_schemas import METADATA_SCHEMAS
from kraft.records.schema import fields_of

if TYPE_CHECKING:
    from pathlib import Path

BROKERS = (0, 1, 2)
ENDPOINT = {"name": "PLAINTEXT", "host": "h", "port": 9092, "securityProtocol": 0}
DIRECTORIES = {b: uuid_text(bytes([9] * 15 + [b])) for b in BROKERS}
LEAST_NAMED = 4
ELR = feature("eligible.leader.replicas.version", 1)
MINIMUM = (4, 0, {
    "resourceType": 4, "resourceName": "", "name": "min.insync.replicas", "value": "1",
})  # fmt: skip
"""Bootstrap records that enable eligible leader replicas set it from 4.1-IV0 on."""
RECORD_VERSIONS = ((17, 3), (8, 2), (7, 1), (1, 0))


def as_of_its_version(api_key: int, version: int, fields: dict[str, Any]) -> Record:
    """Return a record without the fields that its version does not have."""
    names = {one.name for one in fields_of(METADATA_SCHEMAS[api_key].fields, version)}
    return (api_key, version, {name: value for name, value in fields.items() if name in names})


@dataclass
class OldLog:
    """A log at a metadata version, written by nodes that support versions up to `most`.

    Kafka writes no record of a version below 4: a log without one is at version 1.
    """

    level: int
    most: int
    features: tuple[Record, ...] = ()
    batches: list[list[Record]] = field(default_factory=list)
    epochs: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = [feature("metadata.version", self.level)] if self.level >= LEAST_NAMED else []
        named += [*self.features, *([MINIMUM] if self.level >= 26 and ELR in self.features else [])]
        self.batches += [named] if named else []
        for broker in BROKERS:
            self.add(self.register(broker, epoch=self.end))
            self.add(self.unfence(broker))

    @property
    def end(self) -> int:
        return 1 + sum(map(len, self.batches))

    def add(self, *records: Record) -> int:
        """Append a batch; return the offset of its last record."""
        self.batches.append([as_of_its_version(*record) for record in records])
        return self.end - 1

    def register(
        self, broker: int, *, epoch: int, version: int | None = None, **more: Any
    ) -> Record:
        dictated = next(v for least, v in RECORD_VERSIONS if self.level >= least)
        self.epochs[broker] = epoch
        names = ("metadata.version", *(f[2]["name"] for f in self.features))
        supported = tuple(
            {"name": n, "minSupportedVersion": self._least if n == names[0] else 0,
             "maxSupportedVersion": self.most if n == names[0] else 1} for n in names
        )  # fmt: skip
        fields = {
            "brokerId": broker, "isMigratingZkBroker": False, "brokerEpoch": epoch,
            "incarnationId": uuid_text(bytes([7] * 15 + [broker])), "endPoints": (ENDPOINT,),
            "features": supported, "rack": None, "fenced": True, "inControlledShutdown": False,
            "logDirs": (DIRECTORIES[broker],),
        }  # fmt: skip
        return (0, dictated if version is None else version, {**fields, **more})

    def unfence(self, broker: int) -> Record:
        epoch = self.epochs[broker]
        if self.level < 6:
            return (8, 0, {"id": broker, "epoch": epoch})
        return (17, 0, {"brokerId": broker, "brokerEpoch": epoch, "fenced": -1})

    def fence(self, broker: int) -> Record:
        epoch = self.epochs[broker]
        if self.level < 6:
            return (7, 0, {"id": broker, "epoch": epoch})
        return (17, 0, {"brokerId": broker, "brokerEpoch": epoch, "fenced": 1})

    @property
    def _least(self) -> int:
        return 7 if self.most > 21 else 1

    @property
    def _version(self) -> int:
        return 2 if self.level >= 23 else int(self.level >= 17)

    def topic(self, replicas: tuple[int, ...] = BROKERS, **more: Any) -> None:
        plain = {
            "partitionId": 0, "topicId": TOPIC, "replicas": replicas, "isr": replicas,
            "removingReplicas": (), "addingReplicas": (), "leader": replicas[0], "leaderEpoch": 0,
            "partitionEpoch": 0, "directories": tuple(DIRECTORIES[b] for b in replicas),
        }  # fmt: skip
        named = (2, 0, {"name": "old", "topicId": TOPIC})
        self.add(named, (3, self._version, {**plain, **more}))

    def change(self, **fields: Any) -> Record:
        if self.level >= 17 and "replicas" in fields:
            fields["directories"] = tuple(DIRECTORIES[b] for b in fields["replicas"])
        return (5, self._version, {"partitionId": 0, "topicId": TOPIC, **fields})

    def write(self, folder: Path) -> Path:
        return from_start(folder, *self.batches)


def continued(folder: Path, records: list[Record], *batches: list[Record], start: int = 50) -> int:
    """Write a checkpoint with these records, and these batches after it; return where they start.

    Without batches there is no log.
    """
    target = folder / METADATA
    target.mkdir(parents=True)
    (target / checkpoint_name(start)).write_bytes(
        checkpoint([as_of_its_version(*r) for r in records])
    )
    data, offset = [], start
    for batch in batches:
        data.append(metadata_batch(offset, 1, TIME, [as_of_its_version(*r) for r in batch]))
        offset += len(batch)
    if data:
        (target / f"{start:020}.log").write_bytes(b"".join(data))
    return start


NEW_INCARNATION = {"incarnationId": OTHER}


def without_a_leader():
    """Return a log in which the spec does not step a partition, because it lost a directory."""
    log = OldLog(27, 27)
    log.topic((0, 1))
    log.add(log.change(directories=(DIRECTORIES[0], LOST)))
    log.add(log.change(directories=(LOST, LOST)), log.change(leader=-1))
    log.add(log.change(directories=(DIRECTORIES[0], LOST)))
    return log


def leaving(log, broker, shuts_down=True):
    """Return the record by which a broker begins a shutdown, or is fenced."""
    said = {"inControlledShutdown": 1} if shuts_down else {"fenced": 1}
    return (17, int(shuts_down), {"brokerId": broker, "brokerEpoch": log.epochs[broker], **said})


def without_directory(log, broker):
    """Return the record that a broker has no directory left."""
    return (17, 2, {"brokerId": broker, "brokerEpoch": log.epochs[broker], "logDirs": ()})


def elected_by_a_heartbeat(level, most=27, *, partitions=1, replicas=(0,)):
    """Return a log, and three records of a heartbeat of broker 0, which led before it was fenced.

    They unfence it, elect it in one of its two directories, and report that one as lost.
    """
    log = OldLog(level, most, (ELR,) if level >= 25 else ())
    log.add(log.fence(0))
    again = {"logDirs": (DIRECTORIES[0], OTHER), **NEW_INCARNATION}
    log.add(log.register(0, epoch=log.end, **again))
    log.add(log.unfence(0))
    log.topic(
        replicas, directories=tuple(UNASSIGNED if b == 0 else DIRECTORIES[b] for b in replicas)
    )
    named, plain = log.batches[-1]
    each = [{"partitionId": number} for number in range(partitions)]
    log.batches[-1] = [named, *((*plain[:2], {**plain[2], **one}) for one in each)]
    placed = tuple(DIRECTORIES[b] for b in replicas)
    log.add(*(log.change(directories=placed, **one) for one in each))
    gone: dict[str, Any] = {"leader": -1}
    back: dict[str, Any] = {"leader": 0}
    if level >= 25:
        gone |= {"isr": (), "eligibleLeaderReplicas": (0,), "lastKnownElr": (0,)}
        back |= {"isr": (0,), "eligibleLeaderReplicas": (), "lastKnownElr": ()}
    elif len(replicas) > 1:
        log.add(*(log.change(isr=(0,), **one) for one in each))
    log.add(*(log.change(**gone, **one) for one in each), log.fence(0))
    lost = (17, 2, {"brokerId": 0, "brokerEpoch": log.epochs[0], "logDirs": (OTHER,)})
    return log, [log.unfence(0), log.change(**back), lost]


ELECTED_LAST_KNOWN = {"leader": 0, "isr": (0,), "leaderRecoveryState": 1, "lastKnownElr": ()}


def restarted_uncleanly(most, *more):
    """Return a log in which broker 0, the last in sync and fenced now, was the last known leader.

    It is so for its partition, and those with `more` fields.
    """
    log = OldLog(25, most, (ELR,))
    log.topic((0, 1))
    named, plain = log.batches[-1]
    log.batches[-1] = [named, plain, *((*plain[:2], {**plain[2], **one}) for one in more)]
    log.add(*(log.change(isr=(0,), **one) for one in ({}, *more)))
    gone = {"isr": (), "leader": -1, "lastKnownElr": (0,)}
    again = log.register(0, epoch=log.end, **NEW_INCARNATION)
    log.add(*(log.change(**gone, **one) for one in ({}, *more)), again)
    return log
