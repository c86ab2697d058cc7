"""How many partition changes of a history were judged, added up over its pieces.

A change may be noted in one piece, occur again in the next, and be judged in a third.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from krafla.audit.check_counts import SpecCounts


@dataclass(slots=True)
class ChangeTally:
    """The partition changes of a piece.

    `taken` counts the distinct steps judged, `judged` the records, `passed` the records skipped, by
    the reason. `open` has, by the offset where a change was noted, the reason why it is not judged
    yet, and how often it occurred. `settled` says what became of changes that an earlier piece left
    open: None if they were judged, a reason, or the offset of the change that they wait with.
    `again` counts how often changes occurred that an earlier piece noted.
    """

    taken: int = 0
    judged: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    open: dict[int, tuple[str, int]] = field(default_factory=dict)
    settled: dict[int, str | int | None] = field(default_factory=dict)
    again: dict[int, int] = field(default_factory=dict)

    def add(self, reason: str | None, times: int) -> None:
        """Add records that were judged, or were skipped for a reason."""
        if reason is None:
            self.judged += times
        else:
            self.passed[reason] += times

    def add_open(self, offset: int, reason: str, times: int) -> None:
        """Add records whose judgment is open."""
        self.open[offset] = (reason, times + self.open.get(offset, (reason, 0))[1])

    def then(self, later: ChangeTally) -> ChangeTally:
        """Return the tally of this piece and the next one together."""
        both = ChangeTally(
            self.taken + later.taken,
            self.judged + later.judged,
            Counter(self.passed),
            dict(later.open),
            dict(self.settled),
            {},
        )
        for passed, times in later.passed.items():
            both.add(passed, times)
        for offset, (reason, times) in self.open.items():
            found = later.settled.get(offset, offset)
            if isinstance(found, int):
                both.add_open(found, both.open.get(found, (reason, 0))[0], times)
            else:
                both.add(found, times)
        for offset in self.again.keys() | later.again.keys():
            both.again[offset] = self.again.get(offset, 0) + later.again.get(offset, 0)
        return both

    def counts(self) -> SpecCounts:
        """Return the counts of a history that has ended: what is open is skipped."""
        passed = Counter(self.passed)
        for reason, times in self.open.values():
            passed[reason] += times
        return SpecCounts(self.taken, self.judged, dict(sorted(passed.items())))
