"""How often each invariant was asked: counters that the audit of a history keeps as it goes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class SpecCounts:
    """What a spec had to say of a history: steps it was asked for, records that it judged.

    An equal step is asked for once. `passed_over` counts records that the spec cannot speak of, by
    what stands in its way.
    """

    steps: int
    judged: int
    passed_over: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: SpecCounts) -> SpecCounts:
        passed = Counter(self.passed_over) + Counter(other.passed_over)
        return SpecCounts(
            self.steps + other.steps, self.judged + other.judged, dict(sorted(passed.items()))
        )


@dataclass(slots=True)
class CheckCounts:
    """What a history had of each sort of thing that invariants are asked about.

    `records` counts by api key. An answer that is remembered for an equal change counts as asked.
    """

    batches: int = 0
    operations: int = 0
    changes: int = 0
    checkpoints: int = 0
    records: dict[int, int] = field(default_factory=dict)

    def count(self, counts: dict[tuple[int, int], int]) -> None:
        """Add the records of a batch, counted by api key and version."""
        for (api_key, _), number in counts.items():
            self.records[api_key] = self.records.get(api_key, 0) + number

    def of(self, name: str) -> int:
        """Return the counter of a name; `every` counts all records but control records."""
        if name == "every":
            return sum(self.records.values())
        counter: int = getattr(self, name)
        return counter


def total_spec_counts(histories: Iterable[Mapping[str, SpecCounts]]) -> dict[str, SpecCounts]:
    """Return by spec what was stepped through in all of some histories."""
    found: dict[str, SpecCounts] = {}
    for history in histories:
        for spec, stepped in history.items():
            found[spec] = found[spec] + stepped if spec in found else stepped
    return found
