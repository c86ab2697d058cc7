"""Tampered logs, drawn at random: a real log in which one batch has a few other records.

Lengths and CRCs are valid, so the audit sees each record. A mutant may still be legal.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kraft.ids import uuid_text
from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from random import Random

Record = tuple[int, int, dict[str, Any]]

INTEGERS = (0, 1, -1, -2, 2, 3, 7, 3000, 2**15 - 1, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, float("nan"), float("inf"))
TEXTS = (
    "",
    "a",
    "\x00",
    "é",
    "x" * 300,
    "metadata.version",
    "kraft.version",
    "min.insync.replicas",
)
UUIDS = tuple(uuid_text(raw) for raw in (bytes(16), bytes(15) + b"\x01", bytes(range(16))))
UUID_LENGTH = 22
# Most fields that may be null are lists of brokers.
WHERE_NULL = ((), (0,), (1, 0), (0, 1, 2), 0, 1, "a")
BATCHES_MOST = 120


@dataclass(frozen=True)
class Batch:
    """A batch of a real log; `records` are None of a control batch."""

    raw: bytes
    base_offset: int
    epoch: int
    timestamp: int
    count: int
    records: tuple[Record, ...] | None


def batches(log: Path) -> tuple[Batch, ...]:
    """Return the first batches of a log."""
    found = []
    for one in iter_batches(log):
        records = None
        if not one.is_control:
            records = tuple((r.api_key, r.version, dict(r.fields)) for r in one.metadata_records())
        found.append(
            Batch(
                one.raw, one.base_offset, one.leader_epoch, one.base_timestamp, one.count, records
            )
        )
    return tuple(found[:BATCHES_MOST])


def tampered(log: tuple[Batch, ...], others: tuple[Record, ...], chance: Random) -> bytes:
    """Return a log with one to three changes in one batch, few of which leave it as it was.

    `others` are records to put in. Raises ValueError or TypeError for a value that no record has.
    """
    at = chance.choice([n for n, batch in enumerate(log) if batch.records])
    chosen = log[at]
    records = list(chosen.records or ())
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        _change(records, others, chance)
    base, end = chosen.base_offset, chosen.base_offset + len(records)
    parts = [batch.raw for batch in log[:at]]
    parts.append(metadata_batch(base, chosen.epoch, chosen.timestamp, records))
    # The rest of the log follows, or the tampered batch is the last.
    for batch in log[at + 1 :] if chance.random() < 0.7 else ():
        # No CRC covers the offset of a batch.
        parts.append(struct.pack(">q", end) + batch.raw[8:])
        end += batch.count
    return b"".join(parts)


def _change(records: list[Record], others: tuple[Record, ...], chance: Random) -> None:
    """Take out, repeat, exchange or put in a record, or change a field of one."""
    kind, at = chance.randrange(9), chance.randrange(len(records))
    api_key, version, fields = records[at]
    if kind == 0 and len(records) > 1:
        records.pop(at)
    elif kind == 1:
        records.insert(at, records[at])
    elif kind == 2:
        to = chance.randrange(len(records))
        records[at], records[to] = records[to], records[at]
    elif kind == 3 or not fields:
        records.insert(at, chance.choice(others))
    else:
        name = chance.choice(list(fields))
        records[at] = (api_key, version, {**fields, name: _other(fields[name], chance)})


def _other(value: Any, chance: Random) -> Any:  # one for each type of a field
    """Return another value of the same type, or for a null one and a set one of the other."""
    if value is None:
        return chance.choice(WHERE_NULL)
    if chance.random() < 0.1:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice((value + 1, value - 1, chance.choice(INTEGERS)))
    if isinstance(value, float):
        return chance.choice(FLOATS)
    if isinstance(value, str):
        if len(value) == UUID_LENGTH:
            return chance.choice(UUIDS)
        return chance.choice((value + "x", value[:-1], chance.choice(TEXTS)))
    if isinstance(value, bytes):
        return chance.choice((b"", value + b"\x00", value[:-1]))
    if isinstance(value, dict) and value:
        name = chance.choice(list(value))
        return {**value, name: _other(value[name], chance)}
    if isinstance(value, tuple):
        return _other_elements(value, chance)
    return value


def _other_elements(elements: Iterable[Any], chance: Random) -> tuple[Any, ...]:
    found = list(elements)
    if not found:
        return (chance.choice((0, 1, 2)),)
    kind, at = chance.randrange(5), chance.randrange(len(found))
    if kind == 0:
        found.pop(at)
    elif kind == 1:
        found.insert(at, found[at])
    elif kind == 2:
        found.reverse()
    elif kind == 3:
        found.clear()
    else:
        found[at] = _other(found[at], chance)
    return tuple(found)
