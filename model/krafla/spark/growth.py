"""How far the files of a stream have been read, and how far they can be read now.

A segment grows: it is read up to the end of its last whole batch, and from there on later. Other
files come as a whole, and are read once they have not changed for a while.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.pipeline.pieces import INT64_MAX, Before
from krafla.pipeline.sources import FileKind
from kraft.errors import CorruptRecordError, UnreadableFileError
from kraft.log.files import GZIP_SUFFIX
from kraft.log.text_files import META_PROPERTIES, parse_meta_properties
from kraft.records.batch import HEADER, HEADER_BYTES, LOG_OVERHEAD, BatchHeader, check_framing

if TYPE_CHECKING:
    from krafla.pipeline.sources import Source
    from krafla.pipeline.storage import Storage, Storages, StoredFile
    from kraft.records.limits import Limits

__all__ = ["STREAMED", "FileProgress", "Watch", "cluster_id_of", "grows", "has_batch"]

STREAMED: Final = frozenset({FileKind.SEGMENT, FileKind.CHECKPOINT})
_STEP: Final = 1024 * 1024
_META_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class FileProgress:
    """How far one file has been read.

    `bytes` end where a batch ends. `generation` counts how often the file turned out to be another
    than the one that had been read. `last` describes the last batch: where it begins, its base and
    last offset, its epoch, its CRC. `rest` is the end of what follows and is no batch, once that
    was handed out; else 0. `size` and `changed_ns` are the file's when it was looked at last,
    `digest` is the CRC-32 of a file that is read as a whole.
    """

    bytes: int = 0
    generation: int = 0
    last: tuple[int, int, int, int, int] | None = None
    rest: int = 0
    size: int = 0
    changed_ns: int = 0
    digest: int = 0

    @property
    def before(self) -> Before | None:
        """What the next batch follows."""
        return None if self.last is None else Before(*self.last[1:4])

    @property
    def end(self) -> int:
        """The byte up to which everything was handed out."""
        return max(self.bytes, self.rest)

    def as_json(self) -> dict[str, Any]:
        """Return the value as one that JSON has."""
        return {
            "bytes": self.bytes, "generation": self.generation,
            "last": "" if self.last is None else " ".join(map(str, self.last)),
            "rest": self.rest, "size": self.size, "changed_ns": self.changed_ns,
            "digest": self.digest,
        }  # fmt: skip

    @staticmethod
    def of_json(value: dict[str, Any]) -> FileProgress:
        """Return what `as_json` has written."""
        words = value["last"].split()
        return FileProgress(**{**value, "last": tuple(map(int, words)) or None})


def grows(source: Source) -> bool:
    """Return whether a file is read as it grows, not as a whole."""
    return source.kind is FileKind.SEGMENT and not source.path.endswith(GZIP_SUFFIX)


@dataclass(frozen=True, slots=True)
class Watch:
    """A look at the files of a storage at a time, in nanoseconds since 1970."""

    limits: Limits
    settle_ns: int
    now_ns: int

    def reach(
        self,
        storage: Storage,
        source: Source,
        known: FileProgress | None,
        room: int,
        is_closed: bool,
    ) -> FileProgress | None:
        """Return how far a file can be read now, taking at least one batch, but little above room.

        The same value if there is nothing new; None for a file that is not to be read yet.
        `is_closed`: a later segment is there, so that this one has been written to its end.
        """
        seen = source.bytes, source.changed_ns
        if known is not None and known.end >= source.bytes and seen == (
            known.size, known.changed_ns
        ):  # fmt: skip
            return known
        try:
            if grows(source):
                return self._grown(storage, source, known, room, is_closed)
            return self._whole(storage, source, known)
        except UnreadableFileError:
            # A task meets it again, and tells it.
            if known is not None:
                return known
            return FileProgress(0, 0, None, max(source.bytes, 1), *seen)

    def _grown(
        self,
        storage: Storage,
        source: Source,
        known: FileProgress | None,
        room: int,
        is_closed: bool,
    ) -> FileProgress | None:
        start = FileProgress() if known is None else known
        if not _is_same(storage, source, start):
            start = FileProgress(generation=start.generation + 1)
        with storage.open(source.path, start.bytes, source.bytes) as file:
            size, last, ending = _walk(file, start, room, self.limits)
        rest = 0
        ends_here = ending is _Ending.IMPOSSIBLE or (ending is _Ending.TORN and is_closed)
        if ends_here and self._is_settled(source):
            rest = source.bytes
        if known is not None and (size, start.generation, rest) == (
            known.bytes, known.generation, known.rest
        ):  # fmt: skip
            return known
        if known is None and not size and not rest:
            return None
        return FileProgress(size, start.generation, last, rest, source.bytes, source.changed_ns)

    def _whole(
        self, storage: Storage, source: Source, known: FileProgress | None
    ) -> FileProgress | None:
        if not self._is_settled(source):
            return known
        digest = 0
        with storage.open(source.path, 0, source.bytes) as file:
            while block := file.read(_STEP):
                digest = zlib.crc32(block, digest)
        found = FileProgress(
            source.bytes, 0, None, 0, source.bytes, source.changed_ns, digest
        )  # fmt: skip
        if known is None:
            return found
        is_new = (known.size, known.digest) != (source.bytes, digest)
        return replace(found, generation=known.generation + is_new)

    def _is_settled(self, source: Source) -> bool:
        return self.now_ns - source.changed_ns >= self.settle_ns


def cluster_id_of(storages: Storages, folder: str) -> str:
    """Return the cluster id that the node of a log names, empty if there is none to be read."""
    path = f"{folder.rpartition('/')[0]}/{META_PROPERTIES}"
    try:
        with storages.of(path).open(path) as file:
            text = _read(file, _META_BYTES).decode()
        return parse_meta_properties(text, Path(META_PROPERTIES)).cluster_id or ""
    except (CorruptRecordError, UnreadableFileError, UnicodeDecodeError):
        return ""


def has_batch(storage: Storage, path: str, last: tuple[int, int, int, int, int]) -> bool:
    """Return whether a file has the batch at its place that `FileProgress.last` describes."""
    with storage.open(path, last[0]) as file:
        start = _read(file, HEADER_BYTES)
    return len(start) == HEADER_BYTES and _described(last[0], _header(start)) == last


class _Ending(Enum):
    """What lies behind the last whole batch."""

    NOTHING = "nothing, or zeros"
    MORE = "more batches"
    TORN = "the beginning of a batch"
    IMPOSSIBLE = "what no batch begins with"


def _is_same(storage: Storage, source: Source, known: FileProgress) -> bool:
    """Return whether a file still has, at its place, the batch that was read last of it."""
    if source.bytes < known.bytes:
        return False
    return known.last is None or has_batch(storage, source.path, known.last)


def _walk(
    file: StoredFile, start: FileProgress, room: int, limits: Limits
) -> tuple[int, tuple[int, int, int, int, int] | None, _Ending]:
    """Return the end of the whole batches from a place on, the last of them, what is behind."""
    at, last = start.bytes, start.last
    while True:
        raw = _read(file, HEADER_BYTES)
        if not any(raw):
            return at, last, _Ending.NOTHING
        if len(raw) < HEADER_BYTES:
            return at, last, _Ending.TORN
        header = _header(raw)
        try:
            check_framing(header.base_offset, header.length, header.magic, limits)
        except CorruptRecordError:
            return at, last, _Ending.IMPOSSIBLE
        if header.base_offset + header.last_offset_delta > INT64_MAX:
            return at, last, _Ending.IMPOSSIBLE
        body = header.length + LOG_OVERHEAD - HEADER_BYTES
        if _skip(file, body) < body:
            return at, last, _Ending.TORN
        last = _described(at, header)
        at += header.length + LOG_OVERHEAD
        if at - start.bytes >= room:
            return at, last, _Ending.MORE


def _header(raw: bytes) -> BatchHeader:
    return BatchHeader._make(HEADER.unpack(raw))


def _described(at: int, header: BatchHeader) -> tuple[int, int, int, int, int]:
    last_offset = header.base_offset + header.last_offset_delta
    return at, header.base_offset, last_offset, header.leader_epoch, header.crc


def _read(file: StoredFile, length: int) -> bytes:
    parts = []
    while length > 0 and (part := file.read(length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _skip(file: StoredFile, length: int) -> int:
    """Return how many bytes were passed over, fewer only at the end."""
    left = length
    while left > 0 and (part := file.read(min(left, _STEP))):
        left -= len(part)
    return length - left
