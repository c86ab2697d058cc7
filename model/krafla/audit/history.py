"""One history, judged: the batches of a log from where its state is known to its end.

Two judges work on it side by side. Specs step through the records of the lease (`SpecRun`), of the
registrations of controllers and of partitions; the log invariants are asked about the folded
image. All stop at the first violation: what follows it would only repeat it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.history_checks import (
    beginning_violations,
    change_objections,
    checkpoint_findings,
    creation_violations,
    epoch_violations,
    new_partition_violations,
    operation_violations,
    record_violations,
    refusal_violations,
    unmodelled_abort,
    unmodelled_lease_record,
    version_violations,
)
from krafla.audit.history_state import HistoryState
from krafla.audit.image import IMAGE_API_KEYS, Image
from krafla.audit.invariants import MAX_RECORDS_PER_BATCH
from krafla.audit.invariants_partitions import Transition
from krafla.audit.mapping import STATE_API_KEYS, UnmappableRecordError
from krafla.audit.spec_steps import SpecSteps
from kraft.records.lease import lease_record
from kraft.records.metadata_schemas import ABORT_TRANSACTION, PARTITION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.check_counts import CheckCounts, SpecCounts
    from krafla.audit.partition_state import PartitionChange, PartitionState
    from krafla.audit.partition_steps import NotedChange
    from krafla.audit.partitions import Change, Objections
    from krafla.audit.result import Finding
    from krafla.audit.specs import LoadingSpec
    from kraft.records.batch import RecordBatch
    from kraft.records.lease import LeaseRecord
    from kraft.records.record import MetadataRecord

_WANTED: Final = IMAGE_API_KEYS | STATE_API_KEYS


@dataclass(frozen=True, slots=True)
class HistoryOutcome:
    """What judging a history gave: findings, the offset it was judged up to, steps of the spec.

    `asked` counts what the invariants were asked about, `stepped` by spec what the other two had to
    say.

    `stopped_at` is the offset behind which nothing was judged, because of a finding there.
    """

    findings: tuple[Finding, ...]
    stopped_at: int | None
    judged_to: int
    records: int
    steps: int
    check_counts: CheckCounts
    spec_counts: dict[str, SpecCounts]


class History:
    """Judges a history batch by batch; `outcome` asks for the answer.

    It starts at offset 0 with nothing, or at `start` with the image of a checkpoint. `expected`
    has, for an offset, the checkpoints that end there.
    """

    def __init__(
        self,
        loading: LoadingSpec,
        start: int,
        image: Image,
        expected: Mapping[int, tuple[Path, ...]],
    ) -> None:
        self._state = HistoryState.at(start, image)
        self._specs = SpecSteps(loading, start, image)
        self._expected = expected
        self._findings: list[Finding] = []
        self._aside: list[Finding] = []

    @property
    def stopped(self) -> bool:
        """Whether a finding has stopped the judging."""
        return bool(self._findings)

    def add(self, batch: RecordBatch) -> None:
        """Judge the next batch. Raises CorruptRecordError and its kinds for its records."""
        state = self._state
        state.begin_batch(batch)
        counts: dict[tuple[int, int], int] = {}
        self._specs.begin_batch(batch)
        records: list[MetadataRecord] = []
        changes: list[Change] = []
        if not batch.is_control:
            records, changes = state.image.changes.read(batch, _WANTED, counts)
        self._walk(batch, records, changes)
        state.counts.count(counts)
        self._findings[:0] = version_violations(state, batch, counts)
        state.metadata_version = state.image.metadata_version
        if not self._findings and not batch.is_control:
            self._findings += (*creation_violations(state), *beginning_violations(state, batch))
            state.end_batch()
        state.records += batch.count
        state.end = batch.next_offset
        if not self._findings and batch.count < MAX_RECORDS_PER_BATCH:
            self._end_operation(batch)
        if not self._findings:
            self._findings += epoch_violations(state, batch)
            state.epoch = batch.leader_epoch
            self._compare(batch.next_offset)
        if self._findings or self._specs.waits_long:
            self._findings = self._specs.ask(self._findings)

    def outcome(self) -> HistoryOutcome:
        """Return the answer for all batches added."""
        self._findings = self._specs.ask(self._findings)
        doubts = [] if self._specs.doubt is None else [self._specs.doubt]
        findings = (*self._findings, *doubts, *self._aside)
        stops = [f.offset for f in self._findings if f.offset is not None]
        return HistoryOutcome(
            findings,
            min(stops, default=None),
            self._state.end,
            self._state.records,
            self._specs.lease.taken,
            self._state.counts,
            self._specs.counts(),
        )

    def compare_start(self) -> None:
        """Compare the checkpoint that the history starts from with those of other nodes."""
        self._compare(self._state.end)

    def _walk(
        self, batch: RecordBatch, records: list[MetadataRecord], changes: list[Change]
    ) -> None:
        """Fold a batch in the order of its records, judging each on the way."""
        done = 0
        unsaid, said = batch.base_offset, 0
        for record in records:
            until = bisect_left(changes, (record.offset - batch.base_offset,), lo=done)
            if until > done and not self._change(batch, changes[done:until]):
                return
            done = until
            if record.api_key in STATE_API_KEYS:
                self._specs.say(batch, changes[said:done], unsaid, record.offset)
                unsaid, said = record.offset + 1, done
            if not self._judge_and_fold(record):
                return
        if done < len(changes) and not self._change(batch, changes[done:]):
            return
        self._specs.say(batch, changes[said:], unsaid, batch.next_offset)

    def _judge_and_fold(self, record: MetadataRecord) -> bool:
        """Fold one record; return False if that is where the history stops."""
        state, key = self._state, record.api_key
        lease = None
        if key in STATE_API_KEYS:
            lease = lease_record(key, record.fields)
            self._step(record)
        self._findings += record_violations(state, record, lease)
        self._specs.note(record)
        if lease is not None:
            self._fold_lease(lease)
            return not self._findings
        if key == PARTITION.api_key:
            self._findings += new_partition_violations(state, record)
        state.created.note(record)
        if key == ABORT_TRANSACTION.api_key:
            self._abort(record)
        else:
            state.image.apply_other(record)
        return not self._findings

    def _fold_lease(self, lease: LeaseRecord) -> None:
        self._state.image.apply_lease(lease)
        self._state.brokers_changed = True

    def _step(self, record: MetadataRecord) -> None:
        """Queue the action of the spec that a record of the lease stands for."""
        try:
            self._specs.note_lease(self._state.image, record)
        except UnmappableRecordError as error:
            self._findings.append(unmodelled_lease_record(self._state, record, str(error)))

    def _abort(self, record: MetadataRecord) -> None:
        before = self._state.image.before_transaction()
        if before is None:
            return
        if before.registrations != self._state.image.registrations:
            self._findings.append(unmodelled_abort(self._state, record))
            return
        self._state.abort_to(before)
        self._specs.go_back(before)

    def _change(self, batch: RecordBatch, changes: list[Change]) -> bool:
        """Fold partition changes; return False if one of them is a violation."""
        state = self._state
        refusal = state.image.partitions.change(changes, self._change_objections, self._note)
        state.counts.changes += len(changes)
        if refusal is None:
            return True
        self._findings += refusal_violations(state, batch, refusal)
        return False

    def _change_objections(
        self, before: PartitionState, after: PartitionState, change: PartitionChange
    ) -> Objections:
        return change_objections(Transition(before, after, change, self._state.image))

    def _note(
        self,
        index: int,
        key: bytes,
        before: PartitionState,
        after: PartitionState,
        change: PartitionChange,
    ) -> NotedChange:
        return self._specs.note_change(self._state.image, index, key, (before, after), change)

    def _end_operation(self, batch: RecordBatch) -> None:
        """Judge the partitions where an operation may have ended.

        A batch of as many records as an operation is cut into may end within one: then its
        partitions are looked at when the next batch ends.
        """
        self._findings += operation_violations(self._state, batch)
        image = self._state.image
        found = self._specs.end_operation(image, batch, judge=not self._findings)
        if found is not None:
            self._findings.append(found)

    def _compare(self, offset: int) -> None:
        """Compare the image with the checkpoints that end at an offset."""
        for path in self._expected.get(offset, ()):
            self._aside += checkpoint_findings(self._state, path, offset)
