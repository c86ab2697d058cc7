"""Edits of real logs: decode, change single records, encode again with valid lengths and CRCs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from kraft.log.segment import iter_batches
from kraft.records.builder import metadata_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kraft.records.record import MetadataRecord

Encodable = tuple[int, int, dict[str, Any]]

REGISTER, UNREGISTER, PARTITION, CHANGE_PARTITION = 0, 1, 3, 5
FEATURE, PRODUCER_IDS, CHANGE_BROKER, NO_OP = 12, 15, 17, 20
LOG = "00000000000000000000.log"
METADATA = "__cluster_metadata-0"


def to_no_op(_: MetadataRecord) -> Encodable:
    return (NO_OP, 0, {})


def to(api_key: int, version: int, **fields: Any) -> Callable[[MetadataRecord], Encodable]:
    return lambda _: (api_key, version, fields)


def with_fields(**fields: Any) -> Callable[[MetadataRecord], Encodable]:
    return lambda record: (record.api_key, record.version, {**record.fields, **fields})


def edited(path: Path, edits: Mapping[int, Callable[[MetadataRecord], Encodable]]) -> bytes:
    """Return the bytes of a log with other records at these offsets."""
    left = dict(edits)
    parts = []
    for batch in iter_batches(path):
        offsets = range(batch.base_offset, batch.next_offset)
        if not any(offset in left for offset in offsets):
            parts.append(batch.raw)
            continue
        records = [
            left.pop(record.offset)(record)
            if record.offset in left
            else (record.api_key, record.version, record.fields)
            for record in batch.metadata_records()
        ]
        parts.append(
            metadata_batch(batch.base_offset, batch.leader_epoch, batch.base_timestamp, records)
        )
    assert not left, f"no records at {sorted(left)} to edit"
    return b"".join(parts)


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


def spoiled(
    source: Path,
    target: Path,
    edits: Mapping[int, Callable[[MetadataRecord], Encodable]],
    name: str = LOG,
) -> Path:
    """Copy a node's directory with some records of one log file edited; return the copy."""
    copied(source, target)
    (target / METADATA / name).write_bytes(edited(source / METADATA / name, edits))
    return target


def records(path: Path, *api_keys: int) -> list[MetadataRecord]:
    wanted = frozenset(api_keys) or None
    return [record for batch in iter_batches(path) for record in batch.metadata_records(wanted)]


def no_op_after(path: Path, offset: int) -> int:
    """Return the offset of the first NoOpRecord after an offset: a place for a record."""
    return next(record.offset for record in records(path, NO_OP) if record.offset > offset)
