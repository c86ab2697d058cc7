"""Counters of an audit: what the invariants checked, and what the specs stepped through."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class SpecCounts:
    """How much of a history a spec judged: distinct steps and records.

    `passed_over` counts records that the spec does not model, by the reason.
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
    """How many things of each sort the invariants checked in a history.

    `records` counts by api key. A change counts even if the verdict on an equal change was reused.
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

    def then(self, later: CheckCounts) -> CheckCounts:
        """Return these counts with those of what comes later; record types stay in order."""
        records = dict(self.records)
        for api_key, number in later.records.items():
            records[api_key] = records.get(api_key, 0) + number
        return CheckCounts(
            self.batches + later.batches,
            self.operations + later.operations,
            self.changes + later.changes,
            self.checkpoints + later.checkpoints,
            records,
        )

    def of(self, name: str) -> int:
        """Return the counter of a name; `every` counts all records but control records."""
        if name == "every":
            return sum(self.records.values())
        counter: int = getattr(self, name)
        return counter


def total_spec_counts(histories: Iterable[Mapping[str, SpecCounts]]) -> dict[str, SpecCounts]:
    """Return the sums over histories, by spec."""
    found: dict[str, SpecCounts] = {}
    for history in histories:
        for spec, stepped in history.items():
            found[spec] = found[spec] + stepped if spec in found else stepped
    return found
