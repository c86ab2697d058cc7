"""A disk that keeps what was flushed, and loses the rest in a crash."""

from __future__ import annotations

__all__ = ["Disk"]


class Disk:
    """The log of one process, oldest record first."""

    def __init__(self) -> None:
        self._flushed: list[str] = []
        self._written: list[str] = []

    def append(self, record: str) -> None:
        """Write a record that a crash may still lose."""
        self._written.append(record)

    def flush(self) -> None:
        """Make everything written so far outlive a crash."""
        self._flushed += self._written
        self._written = []

    def crash(self) -> None:
        """Lose what was not flushed."""
        self._written = []

    def last(self, default: str) -> str:
        """Return the last record, or ``default`` if there is none."""
        return [default, *self._flushed, *self._written][-1]
