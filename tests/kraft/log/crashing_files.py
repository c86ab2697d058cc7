"""A disk in memory that stops before any of its operations, and loses what was not flushed."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from kraft.log.examination import SECTOR, SHORT_HOLE

if TYPE_CHECKING:
    import random


class CrashError(Exception):
    """The process ended before an operation."""


@dataclass
class Content:
    """A file's bytes, those that are flushed, and what was done to it since."""

    data: bytes = b""
    flushed: bytes = b""
    pending: list[bytes | int] = field(default_factory=list)


@dataclass
class Change:
    """A change of names since a directory was flushed: `new` is None for a removal."""

    old: str | None
    new: str | None
    content: Content


class CrashingFiles:
    """Satisfies `Files`. Before operation number `crash_at`, counted from 0, it crashes."""

    def __init__(self, crash_at: int | None = None) -> None:
        self.crash_at = crash_at
        self.operations = 0
        self._names: dict[str, Content] = {}
        self._flushed_names: dict[str, Content] = {}
        self._changes: list[Change] = []

    @classmethod
    def of(cls, contents: dict[str, bytes]) -> CrashingFiles:
        """Return a disk with these files, all flushed."""
        files = cls()
        files._names = {name: Content(data, data) for name, data in contents.items()}
        files._flushed_names = dict(files._names)
        return files

    def contents(self) -> dict[str, bytes]:
        """Return the bytes of every file by its name."""
        return {name: content.data for name, content in sorted(self._names.items())}

    def after_crash(self, loses: random.Random | str) -> CrashingFiles:
        """Return the disk after a crash that takes "all", "nothing", or by chance."""
        names = dict(self._flushed_names)
        for change in self._changes:
            if not _stays(loses):
                continue
            if change.old is not None and names.get(change.old) is change.content:
                del names[change.old]
            if change.new is not None:
                names[change.new] = change.content
        return CrashingFiles.of({name: _torn(content, loses) for name, content in names.items()})

    def place(self, name: str) -> Path:
        return Path("/disk") / name

    def names(self, directory: str) -> tuple[str, ...]:
        return tuple(sorted(n for n in self._names if n.rpartition("/")[0] == directory))

    def read(self, name: str) -> bytes:
        return self._content(name).data

    def append(self, name: str, data: bytes) -> None:
        self._count()
        if name not in self._names:
            self._names[name] = Content()
            self._changes.append(Change(None, name, self._names[name]))
        content = self._names[name]
        content.data += data
        content.pending.append(data)

    def truncate(self, name: str, size: int) -> None:
        self._count()
        content = self._content(name)
        assert size <= len(content.data)
        content.data = content.data[:size]
        content.pending.append(size)

    def flush(self, name: str) -> None:
        self._count()
        content = self._content(name)
        content.flushed, content.pending = content.data, []

    def rename(self, name: str, new_name: str) -> None:
        self._count()
        content = self._content(name)
        assert name.rpartition("/")[0] == new_name.rpartition("/")[0]
        del self._names[name]
        self._names[new_name] = content
        self._changes.append(Change(name, new_name, content))

    def remove(self, name: str) -> None:
        self._count()
        self._changes.append(Change(name, None, self._content(name)))
        del self._names[name]

    def flush_directory(self, directory: str) -> None:
        self._count()
        elsewhere = {
            name: content
            for name, content in self._flushed_names.items()
            if name.rpartition("/")[0] != directory
        }
        here = {name: self._names[name] for name in self.names(directory)}
        self._flushed_names = {**elsewhere, **here}
        self._changes = [c for c in self._changes if _directory(c) != directory]

    def _content(self, name: str) -> Content:
        if name not in self._names:
            raise FileNotFoundError(name)
        return self._names[name]

    def _count(self) -> None:
        if self.operations == self.crash_at:
            raise CrashError
        self.operations += 1


def _directory(change: Change) -> str:
    return (change.old or change.new or "").rpartition("/")[0]


def _stays(loses: random.Random | str) -> bool:
    return loses == "nothing" if isinstance(loses, str) else loses.random() < 0.5


def _torn(content: Content, loses: random.Random | str) -> bytes:
    if loses == "nothing":
        return content.data
    if isinstance(loses, str):
        return content.flushed
    data = content.flushed
    for step in content.pending[: loses.randint(0, len(content.pending))]:
        data = data[:step] if isinstance(step, int) else data + step
    # The last bytes that were appended are torn, somewhere after what is flushed.
    if content.pending and not any(isinstance(step, int) for step in content.pending):
        data = data[: loses.randint(len(content.flushed), len(data))]
    return _with_a_hole(data, len(content.flushed), loses)


def _with_a_hole(data: bytes, flushed: int, loses: random.Random) -> bytes:
    """Return the bytes without one of the sectors that were not flushed, every other time."""
    edges = [flushed, *range(flushed - flushed % SECTOR + SECTOR, len(data), SECTOR), len(data)]
    holes = [
        (begin, end)
        for begin, end in pairwise(edges)
        if end - begin >= SHORT_HOLE or begin < end == len(data)
    ]
    if not holes or loses.random() < 0.5:
        return data
    begin, end = loses.choice(holes)
    return data[:begin] + bytes(end - begin) + data[end:]
