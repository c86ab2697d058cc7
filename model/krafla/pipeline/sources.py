"""The files to read: those at or below the given paths, classified by their names."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from krafla.audit.clusters import links_not_followed
from krafla.verdict import KraflaError
from kraft.errors import printable
from kraft.ids import METADATA_DIRECTORY
from kraft.log.checkpoint import BOOTSTRAP_NAME, checkpoint_at
from kraft.log.directory import UNFINISHED_SUFFIXES
from kraft.log.segment import segment_at
from kraft.log.text_files import LEADER_EPOCH_CHECKPOINT, META_PROPERTIES, QUORUM_STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "AUDITED",
    "FileKind",
    "Listing",
    "Source",
    "classified",
    "find_sources",
    "kind_of",
    "slices",
]

_SERVER_LOG: Final = re.compile(r".+\.log(\.[0-9][0-9-]*)?(\.gz)?")
_TRACE: Final = re.compile(r".+\.ndjson(\.gz)?")
SETTINGS_NAMES: Final = ("server.properties", "controller.properties")


class FileKind(Enum):
    """The kind of a file, by its name; the value is its word in the tables."""

    SEGMENT = "segment"
    CHECKPOINT = "checkpoint"
    NODE_STATE = "node state"
    SERVER_LOG = "server log"
    TRACE = "trace"
    SETTINGS = "settings"
    UNFINISHED = "unfinished"
    UNKNOWN = "unknown"


AUDITED: Final = frozenset(
    {FileKind.SEGMENT, FileKind.CHECKPOINT, FileKind.NODE_STATE, FileKind.UNFINISHED}
)
"""The kinds of file that an audit looks at. The bytes of all but the last are kept."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its absolute path, kind, size in bytes, and time of change in nanoseconds."""

    path: str
    kind: FileKind
    bytes: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies at or below some paths.

    ``roots`` are the paths themselves, ``logs`` every directory of a metadata log, all absolute;
    ``left_out`` counts files by their suffix that no reader is for. ``links`` are the symbolic
    links to directories that an audit notes.
    """

    roots: tuple[str, ...]
    sources: tuple[Source, ...]
    logs: tuple[str, ...]
    left_out: dict[str, int]
    links: tuple[str, ...]


def find_sources(paths: Sequence[Path]) -> Listing:
    """Return the files at or below the paths, in order of the paths, each file once.

    Symbolic links to directories are not followed. A file that is named itself counts whatever its
    name. ``KraflaError`` if a path does not exist or a directory cannot be listed.
    """
    found: dict[str, Source] = {}
    logs: set[str] = set()
    left_out: dict[str, int] = {}
    roots = []
    for path in paths:
        root = Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps ".." in it
        roots.append(str(root))
        if root.is_dir():
            for source in _below(root, logs):
                if source.kind is FileKind.UNKNOWN:
                    suffix = printable(Path(source.path).suffix) or "no suffix"
                    left_out[suffix] = left_out.get(suffix, 0) + 1
                else:
                    found[source.path] = source
        elif root.exists() or root.is_symlink():
            found[str(root)] = _source(root, kind_of(root.name))
        else:
            raise KraflaError("there is no such file or folder", printable(str(path)))
    ordered = tuple(found[path] for path in sorted(found))
    links = links_not_followed(root for root in map(Path, roots) if root.is_dir())
    return Listing(
        tuple(roots),
        ordered,
        tuple(sorted(logs)),
        dict(sorted(left_out.items())),
        tuple(map(str, links)),
    )


def kind_of(name: str) -> FileKind:
    """Return the kind of a file of this name, without folders."""
    path = Path(name)
    if segment_at(path) is not None:
        return FileKind.SEGMENT
    if checkpoint_at(path) is not None or name.removesuffix(".gz") == BOOTSTRAP_NAME:
        return FileKind.CHECKPOINT
    if name in (META_PROPERTIES, QUORUM_STATE, LEADER_EPOCH_CHECKPOINT):
        return FileKind.NODE_STATE
    if name in SETTINGS_NAMES:
        return FileKind.SETTINGS
    if name.endswith(UNFINISHED_SUFFIXES):
        return FileKind.UNFINISHED
    if _TRACE.fullmatch(name):
        return FileKind.TRACE
    return FileKind.SERVER_LOG if _SERVER_LOG.fullmatch(name) else FileKind.UNKNOWN


def _below(root: Path, logs: set[str]) -> Iterator[Source]:
    for folder, _, names in os.walk(root, onerror=_refuse):
        place = Path(folder)
        kinds = {name: kind_of(name) for name in sorted(names)}
        is_log = place.name == METADATA_DIRECTORY
        if not is_log and place == root:
            is_log = any(_is_of_log(place / name, kind) for name, kind in kinds.items())
        if is_log:
            logs.add(folder)
            yield from _identity(place)
        for name, kind in kinds.items():
            # A segment elsewhere is of another partition, with records that are not metadata.
            stray = not is_log and (_is_of_log(place / name, kind) or kind is FileKind.UNFINISHED)
            yield _source(place / name, FileKind.UNKNOWN if stray else kind)


def _identity(log: Path) -> Iterator[Source]:
    """Yield the files that name a log's owner, which lie beside it, perhaps outside the root."""
    for name in (META_PROPERTIES, BOOTSTRAP_NAME):
        path = log.parent / name
        if path.exists():
            yield _source(path, kind_of(path.name))


def _is_of_log(path: Path, kind: FileKind) -> bool:
    return kind is FileKind.SEGMENT or (
        kind is FileKind.CHECKPOINT and path.name.removesuffix(".gz") != BOOTSTRAP_NAME
    )


def _source(path: Path, kind: FileKind) -> Source:
    try:
        status = path.stat(follow_symlinks=True)
    except OSError:
        return Source(str(path), kind, 0, 0)
    return Source(str(path), kind, status.st_size, status.st_mtime_ns)


def _refuse(error: OSError) -> None:
    raise KraflaError(str(error.strerror).lower(), printable(str(error.filename)))


def classified(root: str, rows: Iterable[tuple[str, int, int]]) -> Listing:
    """Return what the files at or below a URI are, by their names and folders.

    A row has a file's URI, its bytes, and its time of change in nanoseconds. A segment or
    checkpoint that is not in the folder of a metadata log is of another partition, with records
    that are not metadata; a root with segments of its own may have any name.
    """
    found: dict[str, Source] = {}
    logs: set[str] = set()
    left_out: dict[str, int] = {}
    for path, size, changed_ns in rows:
        folder, _, name = path.rpartition("/")
        kind = kind_of(name)
        of_log = _is_of_log(Path(name), kind)
        in_log = folder.rpartition("/")[2] == METADATA_DIRECTORY or folder == root
        if of_log and (in_log or path == root):
            logs.add(folder)
        elif of_log or (kind is FileKind.UNFINISHED and not in_log):
            kind = FileKind.UNKNOWN
        if kind is FileKind.UNKNOWN and path != root:
            suffix = printable(PurePosixPath(name).suffix) or "no suffix"
            left_out[suffix] = left_out.get(suffix, 0) + 1
        else:
            found[path] = Source(path, kind, size, changed_ns)
    ordered = tuple(found[path] for path in sorted(found))
    return Listing((root,), ordered, tuple(sorted(logs)), dict(sorted(left_out.items())), ())


def slices(sources: Iterable[Source], count: int) -> list[tuple[Source, ...]]:
    """Return the sources in at most this many parts of about equal size, always the same way."""
    parts: list[list[Source]] = [[] for _ in range(count)]
    sizes = [0] * count
    for source in sorted(sources, key=lambda one: (-one.bytes, one.path)):
        smallest = sizes.index(min(sizes))
        parts[smallest].append(source)
        # A file costs something even when it is empty.
        sizes[smallest] += source.bytes + 4096
    return [tuple(sorted(part, key=lambda one: one.path)) for part in parts if part]
