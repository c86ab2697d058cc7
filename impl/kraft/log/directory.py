"""Finding metadata logs below a path, and what belongs to each.

A metadata log is a directory `__cluster_metadata-0`; the node's meta.properties lies in the
directory above. A directory with segments that is asked for by itself may have any name. Files that
are only being written or being removed (`.part`, `.deleted`, `.tmp`) are listed, not read.

Kafka: KafkaMetadataLog, MetaPropertiesEnsemble.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.ids import METADATA_DIRECTORY
from kraft.log.checkpoint import BOOTSTRAP_NAME, Checkpoint, checkpoint_at
from kraft.log.findings import Finding, FindingKind
from kraft.log.segment import Segment, read_segments, segment_at
from kraft.log.text_files import (
    LEADER_EPOCH_CHECKPOINT,
    META_PROPERTIES,
    QUORUM_STATE,
    MetaProperties,
    read_meta_properties,
)
from kraft.records.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kraft.log.segment import LogPlace
    from kraft.records.batch import RecordBatch

UNFINISHED_SUFFIXES: Final = (".part", ".deleted", ".tmp", ".cleaned", ".swap")


@dataclass(frozen=True, slots=True)
class MetadataLog:
    """One node's metadata log on disk; paths are None where the file is not there."""

    directory: Path
    segments: tuple[Segment, ...]
    checkpoints: tuple[Checkpoint, ...]
    ignored: tuple[Path, ...]
    bootstrap: Path | None
    quorum_state: Path | None
    leader_epochs: Path | None
    meta_properties: Path | None


def find_metadata_logs(
    root: Path, *, findings: list[Finding] | None = None
) -> tuple[MetadataLog, ...]:
    """Return the metadata logs at or below `root`, in order of their paths.

    Symbolic links to directories are not followed, except for `root` itself. Appends to `findings`,
    if given, each such link outside metadata logs. Raises UnreadableFileError if `root` is not a
    readable directory.
    """
    if not root.is_dir():
        kind = "not a directory" if root.exists() else "no such directory"
        raise UnreadableFileError(root, kind)
    itself = open_metadata_log(root)
    if itself.segments or itself.checkpoints:
        return (itself,)
    found = []
    for directory, below, _ in os.walk(root, onerror=_refuse):
        place = Path(directory)
        if place.name == METADATA_DIRECTORY:
            found.append(open_metadata_log(place))
        if findings is not None and METADATA_DIRECTORY not in place.parts:
            findings.extend(
                Finding(FindingKind.LINK_NOT_FOLLOWED, place / name, "a link to a directory")
                for name in sorted(below) if (place / name).is_symlink()
            )  # fmt: skip
    return tuple(sorted(found, key=lambda log: log.directory))


def open_metadata_log(directory: Path) -> MetadataLog:
    """Return the files of one metadata log directory, by their names alone.

    Raises UnreadableFileError if it is not a readable directory.
    """
    try:
        paths = sorted(directory.iterdir())
    except OSError as error:
        raise UnreadableFileError(directory, str(error.strerror).lower()) from None
    segments = tuple(sorted(s for s in map(segment_at, paths) if s))
    checkpoints = tuple(sorted(c for c in map(checkpoint_at, paths) if c))
    above = directory.parent
    return MetadataLog(
        directory,
        segments,
        checkpoints,
        tuple(path for path in paths if path.name.endswith(UNFINISHED_SUFFIXES)),
        _existing(directory / BOOTSTRAP_NAME) or _existing(above / BOOTSTRAP_NAME),
        _existing(directory / QUORUM_STATE),
        _existing(directory / LEADER_EPOCH_CHECKPOINT),
        _existing(directory / META_PROPERTIES) or _existing(above / META_PROPERTIES),
    )


def read_metadata_log(
    log: MetadataLog,
    *,
    limits: Limits = DEFAULT_LIMITS,
    findings: list[Finding] | None = None,
    start: LogPlace | None = None,
) -> Iterator[RecordBatch]:
    """Yield the batches of a metadata log over all its segments, in order.

    With `start`, those from there on.
    Raises as `kraft.log.segment.read_segments`. Appends to `findings`, if given, whatever is odd
    but no error, ignored files first.
    """
    if findings is not None:
        findings.extend(
            Finding(FindingKind.IGNORED_FILE, path, "unfinished or being removed")
            for path in log.ignored
        )
    yield from read_segments(log.segments, limits=limits, findings=findings, start=start)


def check_identities(logs: Sequence[MetadataLog]) -> tuple[Finding, ...]:
    """Return what is odd about logs that are read together; each finding names both files.

    It finds several cluster ids, one node id or one directory id in two places, and an unreadable
    meta.properties. Logs without a meta.properties are not compared.
    """
    findings: list[Finding] = []
    known: list[MetaProperties] = []
    for path in sorted({log.meta_properties for log in logs if log.meta_properties}):
        try:
            known.append(read_meta_properties(path))
        except (CorruptRecordError, UnreadableFileError) as error:
            findings.append(Finding(FindingKind.UNREADABLE_IDENTITY, path, str(error)))
    for index, meta in enumerate(known):
        findings.extend(_conflicts(meta, known[:index]))
    return tuple(findings)


def _conflicts(meta: MetaProperties, earlier: Sequence[MetaProperties]) -> Iterator[Finding]:
    if earlier and meta.cluster_id != earlier[0].cluster_id:
        yield Finding(
            FindingKind.SEVERAL_CLUSTERS,
            meta.path,
            f"cluster id {meta.cluster_id}, {earlier[0].path} has {earlier[0].cluster_id}",
        )
    for other in earlier:
        if meta.node_id is not None and meta.node_id == other.node_id:
            yield Finding(
                FindingKind.DUPLICATE_NODE_ID,
                meta.path,
                f"node id {meta.node_id} is also that of {other.path}",
            )
        if meta.directory_id is not None and meta.directory_id == other.directory_id:
            yield Finding(
                FindingKind.DUPLICATE_DIRECTORY_ID,
                meta.path,
                f"directory id {meta.directory_id} is also that of {other.path}",
            )


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def _refuse(error: OSError) -> None:
    raise UnreadableFileError(Path(error.filename), str(error.strerror).lower()) from None
