"""A simulated disk: what is written, what of that is safe, and what a loss of power leaves.

Every operation since the last flush is kept with what undoes it. When the power fails, all of them
are undone, and then each by itself is done again, in part, or not at all, by chance. So content
can be lost in the middle and kept at the end, and a name can be lost whose content is safe. A
sector is what it was at one moment: it has nothing of a write if it lacks a part of one before.

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
"""Bytes that a disk writes whole or not at all."""


class PowerCutError(Exception):
    """The process is gone in the middle of what it asked of its disk."""


class Tally(NamedTuple):
    """What a loss of power did to the operations that were not flushed."""

    kept: int
    lost: int
    torn: int


class _Change(NamedTuple):
    """One operation on a file: `data` at `position`, or a cut if None; and what was there."""

    position: int
    data: bytes | None
    old_tail: bytes
    old_size: int


class _File:
    """The content of one file, and its changes that were not flushed."""

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
        """Undo what was not flushed, then do again what chance keeps of it."""
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
            # Only the end of a file is known to the byte: what is followed is of whole writes.
            if len(self.content) > (sector + 1) * SECTOR:
                self.content[begin : begin + len(before)] = before
        return Tally(outcomes.count("kept"), outcomes.count("lost"), outcomes.count("torn"))

    def _again(self, change: _Change, chance: Stream, stale: dict[int, tuple[int, bytes]]) -> str:
        """Do a change again, but in the sectors that are stale.

        Such a sector lacks a part of a write, and stays so. Noted are where that part of the write
        begins which it has, and what was there before.
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
                # The size of a file need not be a whole number of sectors.
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
    """One operation on names: `old` (None: a new file) becomes `new` (None: it is removed)."""

    old: str | None
    new: str | None
    file: _File


class SimulatedDisk:
    """The disk of one machine. It implements `kraft.log.storage_files.Files`.

    `cut_after`: the power is cut when so many more operations were done. `latency` is what a flush
    takes, in nanoseconds, and `spent` adds that up until somebody takes it away. A full disk raises
    OSError; `misdirect` sends one write elsewhere.
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
        """Return where a file is, as messages name it."""
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
        """Write at the end of a file; creates it."""
        file = self._for_writing(name)
        self._write(name, file, len(file.content), data)

    def truncate(self, name: str, size: int) -> None:
        """Cut a file to a size that is at most its own."""
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
        """Give a file another name in the same directory, replacing what had it."""
        file = self._find(name)
        self._operate()
        del self._files[name]
        self._files[new_name] = file
        self._pending.append(_Renaming(name, new_name, file))

    def remove(self, name: str) -> None:
        """Take away a name."""
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
        """Leave what is safe, and of the rest what chance keeps; return how much that was."""
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
        """Make all that is written safe: the disk had time."""
        for file in self._files.values():
            file.changes.clear()
        self._pending.clear()
        self._safe = dict(self._files)
        self.spent = 0

    def image(self) -> dict[str, bytes]:
        """Return what is in the files now, by name."""
        return {name: bytes(self._files[name].content) for name in sorted(self._files)}

    def restore(self, image: dict[str, bytes]) -> None:
        """Have these files and no others, all of them safe."""
        self._files = {name: _File(content) for name, content in image.items()}
        self._safe = dict(self._files)
        self._pending.clear()

    def rot(self, chance: Stream) -> str | None:
        """Flip one bit of one file that is not empty; return the file and the byte, if any."""
        names = [name for name in sorted(self._files) if self._files[name].content]
        if not names:
            return None
        name = chance.choice(names)
        content = self._files[name].content
        position = chance.below(len(content))
        content[position] ^= 1 << chance.below(8)
        return f"{name}, byte {position}"

    def misdirect(self, chance: Stream, told: Callable[[str], None]) -> None:
        """Let the next write behind the start of a file land before its place.

        `told` is called when it has, with the name of the file and the byte.
        """
        self._stray = (chance, told)

    @property
    def has_stray(self) -> bool:
        """Whether a misdirected write is still to come."""
        return self._stray is not None

    def forget_stray(self) -> None:
        """Let all writes land where they should."""
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
