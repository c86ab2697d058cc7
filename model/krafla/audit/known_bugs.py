"""The known bugs of old releases in a history: each is a violation that does not end the judging.

The first record that a bug explains is a finding; how many others it explains is added to that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from krafla.audit.history_checks import violation
from krafla.audit.partitions import key_of, key_text
from kraft.records.metadata_schemas import PARTITION_CHANGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.history_state import HistoryState
    from krafla.audit.releases import Bugs
    from krafla.audit.result import Finding
    from kraft.records.batch import RecordBatch


@dataclass(slots=True)
class KnownBugs:
    """The findings about partition changes that known bugs explain, in order."""

    _found: list[Finding] = field(default_factory=list)
    _suspected: Bugs = ()

    def suspect(self, bugs: Bugs) -> None:
        """Remember the bugs that explain the change that is noted next."""
        self._suspected = bugs

    def note(self, state: HistoryState, batch: RecordBatch, index: int) -> None:
        """Note the change of this index in a batch, if a bug explains it."""
        suspected, self._suspected = self._suspected, ()
        if not suspected:
            return
        records = batch.metadata_records(frozenset({PARTITION_CHANGE.api_key}))
        record = next(r for r in records if r.offset == batch.base_offset + index)
        for invariant, said, bug in suspected:
            detail = f"partition {key_text(key_of(record.fields))}: {said}"
            self._found.append(replace(violation(state, invariant, detail, record), known_bug=bug))

    def findings(self, others: Iterable[Finding]) -> list[Finding]:
        """Return a finding for each bug and kind, the first, with those of the specs."""
        first: dict[tuple[str, str | None], list[Finding]] = {}
        for finding in (*others, *self._found):
            first.setdefault((finding.kind, finding.known_bug), []).append(finding)
        return [_with_count(same) for same in first.values()]


def _with_count(same: list[Finding]) -> Finding:
    if len(same) == 1:
        return same[0]
    offsets = [f.offset for f in same[1:4]]
    others = f"{', '.join(map(str, offsets))}{', ...' if len(same) > 4 else ''}"
    detail = f"{same[0].detail}; so at {len(same) - 1} more offsets ({others})"
    return replace(same[0], detail=detail)
