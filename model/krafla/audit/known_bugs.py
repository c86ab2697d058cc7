"""The known bugs of old releases in a history: each is a violation that does not end the judging.

The first record that a bug explains is a finding; how many others it explains is added to that.
Equal changes of equal partitions are noted once and counted, as `Partitions` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from krafla.audit.history_checks import violation
from krafla.audit.partitions import Uncounted, key_of, key_text
from kraft.records.metadata_schemas import PARTITION_CHANGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.history_state import HistoryState
    from krafla.audit.partitions import ChangeCounter
    from krafla.audit.releases import Bugs
    from krafla.audit.result import Finding
    from kraft.records.batch import RecordBatch


class KnownChange(NamedTuple):
    """A finding about a change that a known bug explains, and how often the change occurred.

    `noted` is the offset where the change was noted, None for one that is not counted.
    """

    finding: Finding
    noted: int | None
    times: int


@dataclass(slots=True)
class KnownBugs:
    """The findings about partition changes that known bugs explain, in order."""

    _found: list[tuple[Finding, ChangeCounter]] = field(default_factory=list)
    _suspected: Bugs = ()
    taken_back: list[int] = field(default_factory=list)
    """The offsets of findings that were taken back."""

    def suspect(self, bugs: Bugs) -> None:
        """Remember the bugs that explain the change that is noted next."""
        self._suspected = bugs

    def note(
        self, state: HistoryState, batch: RecordBatch, index: int, counter: ChangeCounter
    ) -> None:
        """Note the change of this index in a batch, if a bug explains it, and its counter."""
        suspected, self._suspected = self._suspected, ()
        if not suspected:
            return
        records = batch.metadata_records(frozenset({PARTITION_CHANGE.api_key}))
        record = next(r for r in records if r.offset == batch.base_offset + index)
        for invariant, said, bug in suspected:
            detail = f"partition {key_text(key_of(record.fields))}: {said}"
            found = replace(violation(state, invariant, detail, record), known_bug=bug)
            self._found.append((found, counter))

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings about records that an operation explains by a known bug."""
        self._found += ((finding, Uncounted(1)) for finding in findings)

    def take_back(self, offsets: Iterable[int | None]) -> None:
        """Forget the findings about records at some offsets: no bug explains them after all."""
        wrong = {offset for offset in offsets if offset is not None}
        if not wrong:
            return
        self.taken_back += sorted(wrong)
        self._found = [one for one in self._found if one[0].offset not in wrong]

    def changes(self) -> list[KnownChange]:
        """Return the findings with the number of changes that each is about."""
        return [KnownChange(found, counter.offset, counter.times) for found, counter in self._found]


def findings_about(others: Iterable[Finding], changes: Iterable[KnownChange]) -> list[Finding]:
    """Return a finding for each bug and kind, the first, with those of the specs."""
    kinds: dict[tuple[str, str | None], list[tuple[Finding, int]]] = {}
    counted = ((one.finding, one.times) for one in changes)
    for finding, times in (*((finding, 1) for finding in others), *counted):
        same = kinds.setdefault((finding.kind, finding.known_bug), [])
        same.append((finding, max(times, 1)))  # 0: the record was refused after it was noted
    return [_with_count(same) for same in kinds.values()]


def _with_count(same: list[tuple[Finding, int]]) -> Finding:
    """Return the first of some findings with the number of other records, and offsets of some."""
    first, others = same[0][0], sum(times for _, times in same) - 1
    if not others:
        return first
    shown = [str(finding.offset) for finding, _ in same[1:4]]
    some = [*shown, "..."] if others > len(shown) else shown
    where = f" ({', '.join(some)})" if shown else ""
    said = "1 more offset" if others == 1 else f"{others} more offsets"
    return replace(first, detail=f"{first.detail}; so at {said}{where}")
