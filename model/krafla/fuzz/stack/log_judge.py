"""The committed log of a run, judged by the rules and the spec that judge real Kafka's logs.

A violation that `krafla audit` would report in the log that the cluster has written is reported
here as soon as a batch is committed. Nothing is excused as a bug of older releases (KAFKA-18106).
PartitionLog is asked as each operation ends. The specs of Raft, the lease and the registrations of
controllers are asked once many steps wait, and at the end.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from krafla.audit.history import History
from krafla.audit.image import Image
from krafla.audit.registry import REGISTRY
from krafla.audit.result import Weight
from krafla.audit.specs import LEASE, LoadingSpec
from krafla.fuzz.engine.violation import Violated
from kraft.records.batch import parse_batch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.audit.result import Finding
    from kraft.log.batches import LogBatch

__all__ = ["LOG_PROPERTIES", "LogJudge"]

_OF_FILES: Final = frozenset(("L8", "L13"))
"""The rules that the reader of a file checks; Raft's own properties check them here."""
LOG_IS_JUDGED: Final = "LogIsJudgedInv"
LOG_PROPERTIES: Final = (
    *(
        one
        for one, entry in REGISTRY.items()
        if entry.checked_on != ("checkpoints",) and one not in _OF_FILES
    ),
    LOG_IS_JUDGED,
)
"""The ids of the invariants that a committed log alone can break; docs/audit-invariants.md.

SnapshotIsFoldInv compares checkpoints with the log. The last one says that the judge never had to
stop because it has no rule for something.
"""


class LogJudge:
    """Judges the committed log of one run, batch by batch, up to ``end``."""

    def __init__(self) -> None:
        self._history = History(_spec(), 0, Image(excuses=False), {}, at_once=True)
        self.end = 0

    @property
    def steps(self) -> int:
        """The number of steps of the lease's spec in the log, as far as it was judged."""
        return self._history.outcome().spec_counts[LEASE].steps

    @property
    def image(self) -> Image:
        """The audit's image of all before ``end``."""
        return self._history.image

    def add(self, batches: Iterable[LogBatch]) -> None:
        """Judge batches that a node has heard of as committed, and skip those that are known.

        Raises Violated.
        """
        for batch in batches:
            if batch.base_offset < self.end:
                continue
            self.end = batch.end_offset
            self._history.add(parse_batch(batch.raw))
            if self._history.stopped:
                self.finish()

    def finish(self) -> None:
        """Judge what the spec has not judged yet. Raises Violated."""
        for finding in self._history.outcome().findings:
            if finding.known_bug is not None:
                continue  # `kraft` does what Kafka 4.1 does, and has its bugs.
            if finding.weight is Weight.VIOLATION:
                raise Violated(finding.kind, _sentence(finding))
            raise Violated(LOG_IS_JUDGED, f"{finding.kind}: {_sentence(finding)}")


def _sentence(finding: Finding) -> str:
    """Return what was found, and where in the log."""
    return f"{finding.detail} (offset {finding.offset} of the committed log)"


@cache
def _spec() -> LoadingSpec:
    """Return the spec of the lease, loaded once in a process."""
    return LoadingSpec()
