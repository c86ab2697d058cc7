"""The fingerprints that a task knows: at most so many of its own, and those it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Seen"]

# A set of so many fingerprints takes about 100 MB.
_OWN_MOST = 1_000_000


class Seen:
    """A set of fingerprints that may forget: what it forgets is only found, and merged, again.

    ``visited`` are sorted and never forgotten. Without a bound (``forgets`` is false) none is.
    """

    def __init__(self, visited: Any | None = None, *, forgets: bool = True) -> None:
        self._visited = visited if visited is not None and len(visited) else None
        self._own: set[int] = set()
        self._outside: set[int] = set()
        self._forbidden: set[int] = set()
        self._most = _OWN_MOST if forgets else None

    def fresh(self, prints: Sequence[int], allowed: Sequence[int] | None = None) -> list[int]:
        """Return the positions of unknown fingerprints, the first of each, of allowed steps."""
        own, outside = self._own, self._outside
        new: dict[int, int] = {}
        for position, fingerprint in enumerate(prints):
            if fingerprint in own or fingerprint in outside:
                continue
            if allowed is None or allowed[position]:
                new.setdefault(fingerprint, position)
        if self._visited is None or not new:
            return list(new.values())
        asked = numpy.fromiter(new, dtype=numpy.int64, count=len(new))
        places = numpy.searchsorted(self._visited, asked)
        places[places == len(self._visited)] = 0
        known = self._visited[places] == asked
        return [position for position, old in zip(new.values(), known, strict=True) if not old]

    def add(self, fingerprint: int) -> bool:
        """Add a fingerprint; return whether it is new among this task's own."""
        if fingerprint in self._own:
            return False
        if len(self._own) == self._most:
            self._own.clear()
        self._own.add(fingerprint)
        return True

    def leave_out(self, prints: Iterable[int]) -> None:
        """Remember states out of the model's bounds."""
        self._remember(self._outside, prints)

    def forbidden(self, prints: Sequence[int], allowed: Sequence[int]) -> list[int]:
        """Return the positions of unknown fingerprints after forbidden steps, the first of each.

        They are known from then on to this function alone: another step may lead there.
        """
        own, told = self._own, self._forbidden
        new: dict[int, int] = {}
        for position, fingerprint in enumerate(prints):
            if not allowed[position] and fingerprint not in own and fingerprint not in told:
                new.setdefault(fingerprint, position)
        self._remember(told, new)
        return list(new.values())

    def _remember(self, kept: set[int], prints: Iterable[int]) -> None:
        if self._most is not None and len(kept) >= self._most:
            kept.clear()
        kept.update(prints)
