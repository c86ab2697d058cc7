"""A simulated disk: its content, the part that is safe, and what a loss of power leaves.

The disk keeps every operation since the last flush with the data to undo it. At a loss of power all
of them are undone. Then each one is done again, in part, or not at all, at random. So content can
be lost in the middle and kept at the end, and a name can be lost whose content is safe. Each sector
has its state of one moment: if it lacks a part of a write, it has nothing of later writes.

Kafka: java.nio.channels.FileChannel.
"""

from __future__ import annotations

import errno
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.chance import Stream

SECTOR: Final = 512
"""The bytes that a disk writes as a unit."""


class PowerCutError(Exception):
    """The power was cut in the middle of an operation of the process."""


class Tally(NamedTuple):
    """What a loss of power did to the operations that were not flushed."""

    kept: int
    lost: int
    torn: int


class _Change(NamedTuple):
    """One operation on a file: `data` at `position` (None: a truncation), and the old content."""

    position: int
    data: bytes | None
    old_tail: bytes
    old_size: int


class _File:
    """The content of one file, and its changes that are not flushed."""

    __slots__ = ("changes", "content")

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self.changes: list[_Change] = []

    def write(self, position: int, data: bytes) -> None:
        content = self.content
        old = bytes(content[position : position + len(data)]) if position < len(content) else b""
        self.changes.append(_Change(position, data, old, len(content)))
        self._put(position, data)

    def cut(self, size: int) -> None:
        self.changes.append(_Change(size, None, bytes(self.content[size:]), len(self.content)))
        del self.content[size:]

    def lose_power(self, chance: Stream) -> Tally:
        """Undo the changes that are not flushed, then do some again at random."""
        for change in reversed(self.changes):
            del self.content[change.old_size :]
            if change.data is None:
                self.content[change.position :] = change.old_tail
            else:
                self._put(change.position, change.old_tail)
        stale: dict[int, tuple[int, bytes]] = {}
        outcomes = [self._again(change, chance, stale) for change in self.changes]
        self.changes.clear()
        for sector, (begin, before) in stale.items():
            # Only the last sector may be cut short; a stale sector before it keeps its old content.
            if len(self.content) > (sector + 1) * SECTOR:
                self.content[begin : begin + len(before)] = before
        return Tally(outcomes.count("kept"), outcomes.count("lost"), outcomes.count("torn"))

    def _again(self, change: _Change, chance: Stream, stale: dict[int, tuple[int, bytes]]) -> str:
        """Do a change again, except in stale sectors.

        A stale sector lacks a part of a write, and stays so. `stale` has the start of the part that
        the sector did keep of that write, and the old content before it.
        """
        luck = chance.below(4)
        position, data = change.position, change.data
        if data is None:
            if luck and position < len(self.content):
                del self.content[position:]
            return "kept" if luck else "lost"
        first = position + -position % SECTOR
        edges = [position, *range(first, position + len(data), SECTOR), position + len(data)]
        pieces = [(begin, end) for begin, end in pairwise(edges) if begin < end]
        torn = luck > 1
        for begin, end in pieces:
            size = end - begin if luck == 1 or (torn and chance.below(2)) else 0
            if torn and len(pieces) == 1:
                # The size of a file need not be a multiple of the sector size.
                size = max(size, chance.below(len(data) + 1))
            sector = begin // SECTOR
            if sector in stale:
                continue
            before = bytes(self.content[begin : begin + size]).ljust(size, b"\0")
            if size:
                self._put(begin, data[begin - position : begin - position + size])
            if size < end - begin:
                stale[sector] = begin, before
        return "torn" if torn else "kept" if luck else "lost"

    def _put(self, position: int, data: bytes) -> None:
        if position > len(self.content):
            self.content.extend(bytes(position - len(self.content)))
        self.content[position : position + len(data)] = data


class _Renaming(NamedTuple):
    """One operation on names: `old` (None: a new file) becomes `new` (None: removed)."""

    old: str | None
    new: str | None
    file: _File


class SimulatedDisk:
    """The disk of one machine. It implements `kraft.log.storage_files.Files`.

    The power is cut after `cut_after` more operations. `latency` is the duration of a flush in
    nanoseconds; `spent` sums them up until the caller resets it. A full disk raises OSError.
    `misdirect` sends one write elsewhere.
    """

    __slots__ = (
        "_files", "_pending", "_safe", "_stray",
        "cut_after", "is_full", "label", "latency", "spent",
    )  # fmt: skip

    def __init__(self, label: str, latency: int = 0) -> None:
        self.label = label
        self.latency = latency
        self.spent = 0
        self.is_full = False
        self.cut_after: int | None = None
        self._files: dict[str, _File] = {}
        self._safe: dict[str, _File] = {}
        self._pending: list[_Renaming] = []
        self._stray: tuple[Stream, Callable[[str], None]] | None = None

    def place(self, name: str) -> Path:
        """Return the path of a file for messages."""
        return Path(self.label, name)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names of the files in a directory, sorted."""
        prefix = f"{directory}/" if directory else ""
        found = (name for name in self._files if name.startswith(prefix))
        return tuple(sorted(name for name in found if "/" not in name[len(prefix) :]))

    def read(self, name: str) -> bytes:
        """Return the whole content of a file."""
        return bytes(self._find(name).content)

    def append(self, name: str, data: bytes) -> None:
        """Write at the end of a file; create it if needed."""
        file = self._for_writing(name)
        self._write(name, file, len(file.content), data)

    def truncate(self, name: str, size: int) -> None:
        """Cut a file to a size that is at most its present size."""
        file = self._find(name)
        if size > len(file.content):
            raise ValueError(f"{name}: {size} is more than its {len(file.content)} bytes")
        self._operate()
        file.cut(size)

    def flush(self, name: str) -> None:
        """Wait until the content of a file survives a crash."""
        file = self._find(name)
        self._operate()
        self.spent += self.latency
        file.changes.clear()

    def rename(self, name: str, new_name: str) -> None:
        """Rename a file within its directory, replacing a file of the new name."""
        file = self._find(name)
        self._operate()
        del self._files[name]
        self._files[new_name] = file
        self._pending.append(_Renaming(name, new_name, file))

    def remove(self, name: str) -> None:
        """Remove a name."""
        file = self._find(name)
        self._operate()
        del self._files[name]
        self._pending.append(_Renaming(name, None, file))

    def flush_directory(self, directory: str) -> None:
        """Wait until the names in a directory, and the directory itself, survive a crash."""
        self._operate()
        self.spent += self.latency
        left = []
        for change in self._pending:
            name = change.new if change.new is not None else change.old or ""
            if name.rpartition("/")[0] == directory:
                self._apply(change)
            else:
                left.append(change)
        self._pending = left

    def lose_power(self, chance: Stream) -> Tally:
        """Keep what is safe, and some of the rest at random; return the tally."""
        kept = lost = torn = 0
        for change in self._pending:
            if chance.below(2):
                self._apply(change)
                kept += 1
            else:
                lost += 1
        self._pending.clear()
        self._files = dict(self._safe)
        for name in sorted(self._files):
            tally = self._files[name].lose_power(chance)
            kept, lost, torn = kept + tally.kept, lost + tally.lost, torn + tally.torn
        return Tally(kept, lost, torn)

    def settle(self) -> None:
        """Make everything written safe."""
        for file in self._files.values():
            file.changes.clear()
        self._pending.clear()
        self._safe = dict(self._files)
        self.spent = 0

    def image(self) -> dict[str, bytes]:
        """Return the present content of all files, by name."""
        return {name: bytes(self._files[name].content) for name in sorted(self._files)}

    def restore(self, image: dict[str, bytes]) -> None:
        """Replace all files by these; they are safe."""
        self._files = {name: _File(content) for name, content in image.items()}
        self._safe = dict(self._files)
        self._pending.clear()

    def rot(self, chance: Stream) -> str | None:
        """Flip one bit of a file that is not empty; return the file and the byte, if any."""
        names = [name for name in sorted(self._files) if self._files[name].content]
        if not names:
            return None
        name = chance.choice(names)
        content = self._files[name].content
        position = chance.below(len(content))
        content[position] ^= 1 << chance.below(8)
        return f"{name}, byte {position}"

    def misdirect(self, chance: Stream, told: Callable[[str], None]) -> None:
        """Let the next write that is not at the start of a file land before its position.

        Then `told` is called with the name of the file and the byte.
        """
        self._stray = (chance, told)

    @property
    def has_stray(self) -> bool:
        """Whether a misdirected write is still to come."""
        return self._stray is not None

    def forget_stray(self) -> None:
        """Let all writes land at their position."""
        self._stray = None

    def _find(self, name: str) -> _File:
        try:
            return self._files[name]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "no such file", str(self.place(name))) from None

    def _for_writing(self, name: str) -> _File:
        if self.is_full:
            raise OSError(errno.ENOSPC, "no space left on the disk", str(self.place(name)))
        self._operate()
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = _File()
            self._pending.append(_Renaming(None, name, file))
        return file

    def _write(self, name: str, file: _File, position: int, data: bytes) -> None:
        if self._stray is not None and position and data:
            chance, told = self._stray
            self._stray = None
            position = chance.below(position)
            told(f"{name}, byte {position}")
        file.write(position, data)

    def _operate(self) -> None:
        if self.cut_after is None:
            return
        if self.cut_after <= 0:
            self.cut_after = None
            raise PowerCutError
        self.cut_after -= 1

    def _apply(self, change: _Renaming) -> None:
        if change.old is not None and self._safe.get(change.old) is change.file:
            del self._safe[change.old]
        if change.new is not None:
            self._safe[change.new] = change.file
