"""A history that is judged further: restored, given batches, and saved again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.audit.history_outcome import outcome_of
from krafla.audit.history_save import restore, restore_values, save, save_values
from krafla.audit.saved_values import SavedStateError
from krafla.collector import gc_paused
from krafla.pipeline.watch.cells import ROOT, begun_by_another

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.history_outcome import HistoryOutcome, Tally
    from krafla.audit.result import Finding
    from krafla.audit.specs import LoadingSpec
    from krafla.pipeline.layout import Bench
    from kraft.records.batch import RecordBatch

__all__ = ["LiveHistory", "told_finding"]


class LiveHistory:
    """A history that goes on from a saved state and the tally of what was judged before.

    `expected` are checkpoints by their end offsets, which lie below the bench.
    """

    def __init__(
        self,
        state: bytes,
        tally: bytes,
        loading: LoadingSpec,
        expected: dict[int, tuple[Path, ...]],
        bench: Bench,
    ) -> None:
        try:
            self._history = restore(state, loading, expected)
            self._before: Tally = restore_values(tally)
        except SavedStateError as error:
            raise begun_by_another(str(error)) from None
        self._root = bench.root

    @property
    def stopped(self) -> bool:
        """Whether a violation has stopped the judging."""
        return self._history.stopped

    @gc_paused()
    def add(self, batch: RecordBatch) -> None:
        """Judge the next batch. Raises CorruptRecordError, or a subclass, for a bad record."""
        self._history.add(batch)

    @gc_paused()
    def outcome(self) -> HistoryOutcome:
        """Return the outcome so far; it may say that the history has stopped."""
        ending = self._history.end()
        outcome = outcome_of(self._tally(), ending)
        return replace(outcome, findings=(*map(self._told, outcome.findings),))

    @gc_paused()
    def saved(self) -> tuple[bytes, bytes]:
        """Return the state and the tally from which another process goes on."""
        return save(self._history), save_values(self._tally())

    def _tally(self) -> Tally:
        found = self._before.then(self._history.tally())
        # Findings about checkpoints name a bench that is gone tomorrow.
        found.aside = [*map(self._told, found.aside)]
        found.of_raft = [*map(self._told, found.of_raft)]
        return found

    def _told(self, finding: Finding) -> Finding:
        return told_finding(finding, self._root)


def told_finding(finding: Finding, root: Path) -> Finding:
    """Return a finding about a file on a bench with the name of that file, as `label_of` has it."""
    path = finding.path
    if path is not None and path.is_relative_to(root):
        path = ROOT / path.relative_to(root)
    return replace(finding, detail=finding.detail.replace(str(root), str(ROOT)), path=path)
