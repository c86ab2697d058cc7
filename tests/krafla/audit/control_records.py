"""Logs of control records: the beginning of a log, then batches of which one may break a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.krafla.audit.breaking import (
    LISTENER,
    NOTHING,
    TIME,
    checkpoint_name,
    folded,
    prefix,
)
from tests.krafla.audit.editing import LOG, METADATA

from kraft.ids import uuid_text
from kraft.log.segment import iter_batches
from kraft.records.builder import control_batch, metadata_batch

if TYPE_CHECKING:
    from pathlib import Path

A, B, C, D = (uuid_text(bytes([number]) * 16) for number in (65, 66, 67, 68))
STATIC = (3000, 3001, 3002)
Control = tuple[int, dict[str, Any]]
Batch = tuple[int, str, list[Any]]
BEGIN, END = (23, 0, {"name": "Bootstrap records"}), (24, 0, {})
COPY = (23, 0, {"name": "ZK Migration"})
"""The beginning of the transaction in which a migration copies."""
ABORT = (25, 0, {"reason": "Controller failover"})
METADATA_VERSION = (12, 0, {"name": "metadata.version", "featureLevel": 27})


def leads(leader: int, voters: tuple[Any, ...], granting: tuple[Any, ...]) -> Control:
    """Return a LeaderChangeMessage; voters are ids, or pairs of id and directory."""
    version = int(any(isinstance(voter, tuple) for voter in voters))
    lists = [tuple(_listed(voter, version) for voter in each) for each in (voters, granting)]
    fields = {"leaderId": leader, "voters": lists[0], "grantingVoters": lists[1]}
    return (2, {"version": version, **fields})


def _listed(voter: Any, version: int) -> dict[str, Any]:
    number, directory = voter if isinstance(voter, tuple) else (voter, uuid_text(bytes(16)))
    named = {"voterDirectoryId": directory} if version else {}
    return {"voterId": number, **named}


def level(version: int) -> Control:
    return (5, {"version": 0, "kRaftVersion": version})


def voters(*keys: tuple[int, str]) -> Control:
    supported = {"minSupportedVersion": 0, "maxSupportedVersion": 1}
    listed = tuple(
        {"voterId": number, "voterDirectoryId": directory, "endpoints": (LISTENER,),
         "kRaftVersionFeature": supported}
        for number, directory in keys
    )  # fmt: skip
    return (6, {"version": 0, "voters": listed})


def control(epoch: int, *records: Control) -> Batch:
    return (epoch, "control", list(records))


def data(epoch: int, *records: Any) -> Batch:
    return (epoch, "data", list(records or [NOTHING]))


DYNAMIC: list[Batch] = [
    control(1, leads(1, (1,), (1,)), level(1), voters((1, A))),
    data(1, METADATA_VERSION),
    control(1, voters((1, A), (2, B))),
    control(1, voters((1, A), (2, B), (3, C))),
]
"""A quorum formatted with one voter, 1, and two that have joined: 2 and 3."""


MIGRATING: list[Batch] = [
    control(1, leads(3000, STATIC, STATIC)),
    data(
        1,
        BEGIN,
        (12, 0, {"name": "metadata.version", "featureLevel": 14}),
        (21, 0, {"zkMigrationState": 2}),
        END,
    ),
]
"""A log of `STATIC` voters that begins a migration from ZooKeeper."""


def bytes_of(offset: int, batches: list[Batch]) -> tuple[bytes, list[int]]:
    """Return the bytes of batches from an offset on, and the base offset of each."""
    parts, bases = [], []
    for epoch, kind, records in batches:
        write = control_batch if kind == "control" else metadata_batch
        parts.append(write(offset, epoch, TIME, records))
        bases.append(offset)
        offset += len(records)
    return b"".join(parts), bases


def written(
    folder: Path, batches: list[Batch], *, dynamic: bool, migrating: bool = False
) -> list[int]:
    """Write a log: a real one of static voters, `DYNAMIC` or `MIGRATING`, and then these batches.

    Return the base offset of each of them.
    """
    before, end, _ = prefix()
    start = b"".join(before)
    if dynamic or migrating:
        begun = DYNAMIC if dynamic else MIGRATING
        start, _ = bytes_of(0, begun)
        end = sum(len(records) for _, _, records in begun)
    added, bases = bytes_of(end, batches)
    (folder / METADATA).mkdir()
    (folder / METADATA / LOG).write_bytes(start + added)
    return bases


def checkpoint_of(*controls: Control, records: Any = None, epoch: int = 1) -> bytes:
    """Return a checkpoint with these control records after its header."""
    header = (3, {"version": 0, "lastContainedLogTimestamp": TIME})
    body = folded() if records is None else records
    batches = (
        [control(epoch, header, *controls), data(epoch, *body)]
        if body
        else [control(epoch, header, *controls)]
    )
    return bytes_of(0, [*batches, control(epoch, (4, {"version": 0}))])[0]


def continued(folder: Path, end: int, checkpoint: bytes, batches: list[Batch]) -> list[int]:
    """Write a log that goes on from a checkpoint; return the base offset of each batch."""
    (folder / METADATA).mkdir()
    (folder / METADATA / checkpoint_name(end)).write_bytes(checkpoint)
    added, bases = bytes_of(end, batches)
    (folder / METADATA / f"{end:020}.log").write_bytes(added)
    return bases


def with_control(path: Path, offset: int, **fields: Any) -> bytes:
    """Return the bytes of a log with other fields in the control record at an offset."""
    parts, found = [], False
    for batch in iter_batches(path):
        controls = batch.control_records()
        if not any(record.offset == offset for record in controls):
            parts.append(batch.raw)
            continue
        found = True
        edited = [
            (r.control_type, {**r.fields, **fields} if r.offset == offset else dict(r.fields))
            for r in controls
        ]
        parts.append(
            control_batch(batch.base_offset, batch.leader_epoch, batch.base_timestamp, edited)
        )
    assert found, f"no control record at {offset}"
    return b"".join(parts)
