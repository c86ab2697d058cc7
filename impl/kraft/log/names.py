"""The names that Kafka gives to the files of a metadata log.

Kafka: LogFileUtils, Snapshots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.ids import METADATA_DIRECTORY, OffsetAndEpoch
from kraft.log.checkpoint import CHECKPOINT_NAME
from kraft.log.segment import SEGMENT_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

PARTITION_METADATA: Final = "partition.metadata"
PART_SUFFIX: Final = ".checkpoint.part"
DELETED_SUFFIX: Final = ".deleted"
TEMPORARY_SUFFIX: Final = ".tmp"
_COMPANIONS: Final = (".index", ".timeindex", ".txnindex", ".snapshot")


def in_log(name: str) -> str:
    """Return the name of a file in the directory of the metadata log."""
    return f"{METADATA_DIRECTORY}/{name}"


def segment_name(base_offset: int) -> str:
    """Return the name of the segment that begins at an offset."""
    return in_log(f"{base_offset:020d}.log")


def snapshot_name(snapshot_id: OffsetAndEpoch) -> str:
    """Return the name of a complete snapshot. Kafka: Snapshots.snapshotPath."""
    return in_log(f"{snapshot_id.end_offset:020d}-{snapshot_id.epoch:010d}.checkpoint")


def part_name(snapshot_id: OffsetAndEpoch) -> str:
    """Return the name of a snapshot that is being written.

    Kafka has a random number between the id and the suffix. Kafka: Snapshots.createTempFile.
    """
    return in_log(f"{snapshot_id.end_offset:020d}-{snapshot_id.epoch:010d}-0{PART_SUFFIX}")


def deleted_name(name: str) -> str:
    """Return the name of a file that waits for its deletion.

    Of a snapshot, this is what Kafka calls it too. Kafka: Snapshots.markForDelete.
    """
    return name + DELETED_SUFFIX


def companions(base_offset: int) -> tuple[str, ...]:
    """Return the names of the indexes and producer states that Kafka keeps beside a segment.

    They are made from the segment, and Kafka makes them anew at every start.
    """
    return tuple(in_log(f"{base_offset:020d}{suffix}") for suffix in _COMPANIONS)


def segment_offsets(names: Iterable[str]) -> tuple[int, ...]:
    """Return the base offsets of the segments among these names, ascending."""
    matches = (SEGMENT_NAME.fullmatch(_base(name)) for name in names)
    return tuple(sorted(int(match[1]) for match in matches if match and not match[2]))


def snapshot_ids(names: Iterable[str]) -> tuple[OffsetAndEpoch, ...]:
    """Return the ids of the complete snapshots among these names, ascending."""
    matches = (CHECKPOINT_NAME.fullmatch(_base(name)) for name in names)
    ids = (OffsetAndEpoch(int(m[1]), int(m[2])) for m in matches if m and not m[3])
    return tuple(sorted(ids))


def is_unfinished(name: str) -> bool:
    """Return whether a file is only half written or half removed; a start removes it."""
    return name.endswith((PART_SUFFIX, DELETED_SUFFIX, TEMPORARY_SUFFIX))


def _base(name: str) -> str:
    return name.rpartition("/")[2]
