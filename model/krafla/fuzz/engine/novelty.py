"""What a run did that few runs did: its features, and the runs that are worth more of their kind.

A feature is a short path of abstract steps: actions without their parameters, or what machines did.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krafla.fuzz.engine.runs import Run

__all__ = ["Novelty", "Parent", "Paths", "Tried"]

_PARENTS_MAX: Final = 40
_LENGTH: Final = 3


class Paths:
    """Collects the features of one run: paths of up to three labels, each with its first place."""

    def __init__(self) -> None:
        self.found: dict[int, int] = {}
        self._seen: dict[tuple[Any, ...], int] = {}
        self._last: dict[Any, tuple[Any, ...]] = {}

    def add(self, label: Any, place: int, line: Any = None) -> None:
        """Add the next label of a line of steps; the same label twice in a row is one."""
        before = self._last.get(line, ())
        if before and before[-1] == label:
            return
        path = (*before, label)[-_LENGTH:]
        self._last[line] = path
        for length in range(1, len(path) + 1):
            part = path[-length:]
            if part not in self._seen:
                self._seen[part] = place
                self.found.setdefault(feature_of(part), place)


_numbers: dict[Any, int] = {}


def feature_of(value: Any) -> int:
    """Return the number of a feature, of 63 bits: the same in each process."""
    number = _numbers.get(value)
    if number is None:
        digest = hashlib.blake2b(repr(value).encode(), digest_size=8).digest()
        number = _numbers[value] = int.from_bytes(digest, "big") >> 1
    return number


@dataclass(frozen=True, slots=True)
class Tried:
    """A run, the plan that gave it, and its features with the place at which each came first.

    ``plan`` is a JSON object. A place is a step, or on machines a time.
    """

    run: Run
    plan: bytes
    features: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Parent:
    """A run to breed from: its plan, and the place of what is rarest in it."""

    number: int
    plan: bytes
    place: int


@dataclass(slots=True)
class Novelty:
    """How many runs had each feature, and the runs with the rarest.

    It is a function of the runs that were added, round by round, whatever their order in a round.
    """

    counts: Counter[int] = field(default_factory=Counter)
    _best: list[tuple[int, bytes, Mapping[int, int]]] = field(default_factory=list)

    def add(self, runs: Iterable[tuple[int, bytes, Mapping[int, int]]]) -> None:
        """Add a round: the number, the plan and the features of each run without a finding."""
        fresh = list(runs)
        for _, _, features in fresh:
            self.counts.update(features.keys())
        ranked = sorted([*self._best, *fresh], key=lambda one: (-self._worth(one[2]), one[0]))
        self._best = ranked[:_PARENTS_MAX]

    @property
    def parents(self) -> list[Parent]:
        """Return the runs to breed from, the best first."""
        return [
            Parent(number, plan, features[min(features, key=lambda one: (self.counts[one], one))])
            for number, plan, features in self._best
            if features
        ]

    def _worth(self, features: Mapping[int, int]) -> float:
        return sum(1.0 / self.counts[one] for one in sorted(features))
