"""The audit of one history: the batches of a log from the first offset with a known state.

Four specs step through the records of Raft, the lease, controller registrations and partitions
(`SpecSteps`); the log invariants check the image. Judging stops at the first violation:
later findings would only repeat it.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from krafla.audit.checks import JUDGED
from krafla.audit.heartbeats import Heartbeats
from krafla.audit.history_checks import (
    beginning_doubts,
    change_objections,
    refusal_violations,
    unmodelled_abort,
    unmodelled_lease_record,
    violation,
)
from krafla.audit.history_outcome import Ending, Tally, outcome_of
from krafla.audit.history_state import HistoryState
from krafla.audit.image import IMAGE_API_KEYS, Image
from krafla.audit.invariants_partitions import Transition
from krafla.audit.known_bugs import KnownBugs
from krafla.audit.losses import Losses
from krafla.audit.mapping import STATE_API_KEYS, UnmappableRecordError
from krafla.audit.min_insync_replicas import uncleared
from krafla.audit.releases import (
    MV_3_7_IV2,
    REPLACED_LEADER,
    excuse,
    is_changed,
    signs_of,
)
from krafla.audit.spec_steps import SpecSteps
from krafla.audit.transactions import BOOTSTRAP_ONLY
from kraft.records.lease import RegisterBrokerRecord, lease_record
from kraft.records.limits import MAX_RECORDS_PER_BATCH
from kraft.records.metadata_schemas import (
    ABORT_TRANSACTION,
    FEATURE_LEVEL,
    PARTITION,
    REGISTER_CONTROLLER,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.change_records import Change
    from krafla.audit.checks import Checks
    from krafla.audit.history_outcome import HistoryOutcome
    from krafla.audit.noted_changes import NotedChange
    from krafla.audit.partition_state import Loss, PartitionChange, PartitionState
    from krafla.audit.partitions import Objections
    from krafla.audit.result import Finding
    from krafla.audit.specs import LoadingSpec
    from kraft.records.batch import RecordBatch
    from kraft.records.lease import LeaseRecord
    from kraft.records.record import MetadataRecord

_SIGNS: Final = frozenset({FEATURE_LEVEL.api_key, REGISTER_CONTROLLER.api_key})
_WANTED: Final = IMAGE_API_KEYS | STATE_API_KEYS


class History:
    """The judge of one history: `add` judges the next batch, `outcome` returns the findings.

    The history starts at offset 0 with an empty image, or at `start` with a checkpoint's image.
    `checkpoint` is that checkpoint's file. `expected` lists, by end offset, the checkpoints to
    compare with the image. With `at_once`, PartitionLog judges partition changes when their
    operation ends. Without it they are queued, as the steps of the other specs always are, until
    many wait or the history ends.
    """

    checks: ClassVar[Checks] = JUDGED

    def __init__(
        self,
        loading: LoadingSpec,
        start: int,
        image: Image,
        expected: Mapping[int, tuple[Path, ...]],
        checkpoint: Path | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        self._at_once = at_once
        self._state = HistoryState.at(start, image)
        self._specs = SpecSteps(loading, start, image, checkpoint)
        self._expected = expected
        self._findings: list[Finding] = []
        self._aside: list[Finding] = []
        self._known = KnownBugs()
        self._losses = Losses()
        self._heartbeats = Heartbeats()
        self._batch: RecordBatch | None = None

    @property
    def stopped(self) -> bool:
        """Whether a finding has stopped the judging."""
        return bool(self._findings)

    @property
    def reached(self) -> int:
        """The end offset of the last batch added."""
        return self._state.end

    @property
    def image(self) -> Image:
        """The image of all batches added; `add` changes it in place."""
        return self._state.image

    def add(self, batch: RecordBatch) -> None:
        """Judge the next batch. Raises CorruptRecordError, or a subclass, for a bad record."""
        state, checks = self._state, self.checks
        self._batch = batch
        state.begin_batch(batch)
        if batch.leader_epoch != state.epoch:
            self._begin_epoch(batch.leader_epoch)
        counts: dict[tuple[int, int], int] = {}
        self._specs.begin_batch(batch, goes_on=state.is_cut)
        records: list[MetadataRecord] = []
        changes: list[Change] = []
        if not batch.is_control:
            records, changes = state.image.changes.read(batch, _WANTED, counts)
            self._heartbeats.begin_batch(batch)
        self._specs.note_records(batch, records, counts)
        unusual = not batch.is_control and state.image.changes.is_unusual
        self._findings += checks.written(state, batch, is_unusual=unusual)
        stranger = checks.stranger(state.image, batch, counts)
        if not self._findings:
            self._walk(batch, records, changes)
        state.counts.count(counts)
        self._findings[:0] = checks.versions(state, batch, counts)
        if stranger is not None and not self._findings:
            self._findings.append(violation(state, BOOTSTRAP_ONLY, stranger[1], stranger[0]))
        state.metadata_version = state.image.metadata_version
        if not self._findings and not batch.is_control:
            self._aside += beginning_doubts(state, batch)
            self._findings += (*checks.created(state), *checks.features(state))
            state.end_batch()
        state.records += batch.count
        state.end = batch.next_offset
        is_cut = may_go_on(batch)
        if not batch.is_control:
            state.is_cut = is_cut
        if not self._findings and not is_cut:
            self._end_operation(batch)
        if not self._findings:
            self._compare(batch.next_offset)
        if self._findings or self._specs.waits_long:
            self._findings = self._specs.take(self._findings)

    def outcome(self) -> HistoryOutcome:
        """Return the findings about all batches added."""
        ending = self.end()
        return outcome_of(self.tally(), ending)

    def end(self) -> Ending:
        """Take the queued steps, and return where the history ends."""
        state = self._state
        self._findings = self._specs.take(self._findings)
        signs = state.signs | signs_of(state.image)
        return Ending(
            (*self._findings,),
            (*self._specs.doubts(),),
            state.unknown,
            state.end,
            state.records,
            signs,
        )

    def open_changes(self) -> list[NotedChange]:
        """Return the partition changes whose judgment is open."""
        return self._specs.open_changes()

    def tally(self) -> Tally:
        """Return what the batches added here add to the outcome."""
        tally = Tally(self._state.counts)
        self._specs.add_to(tally)
        tally.known, tally.taken_back = self._known.changes(), [*self._known.taken_back]
        tally.aside = [*self._aside]
        return tally

    def compare_start(self) -> None:
        """Compare the checkpoint that the history starts from with other nodes' checkpoints."""
        self._compare(self._state.end)

    def _walk(
        self, batch: RecordBatch, records: list[MetadataRecord], changes: list[Change]
    ) -> None:
        """Judge and replay the records of a batch in order."""
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
            if not self._judge_and_replay(record):
                return
        if done < len(changes) and not self._change(batch, changes[done:]):
            return
        self._specs.say(batch, changes[said:], unsaid, batch.next_offset)

    def _judge_and_replay(self, record: MetadataRecord) -> bool:
        """Judge and replay one record; return False if a finding stops the judging."""
        state, key = self._state, record.api_key
        lease = None
        if key in STATE_API_KEYS:
            lease = lease_record(key, record.fields)
            self._step(record)
        self._findings += self.checks.record(state, record, lease)
        self._specs.note(record)
        if lease is not None:
            self._heartbeats.note_lease(state.image, record.offset, lease)
            self._losses.note_lease(state.image, record.offset, lease)
            self._replay_lease(lease)
            return not self._findings
        if key == PARTITION.api_key:
            self._findings += self.checks.new_partition(state, record)
            state.image.excuse_copied(record.fields)
        state.created.note(record)
        if key == FEATURE_LEVEL.api_key:
            state.note_feature(record)
        if key == ABORT_TRANSACTION.api_key:
            self._abort(record)
        else:
            state.image.apply_other(record)
            if key in _SIGNS:
                state.signs |= signs_of(state.image)
        return not self._findings

    def _replay_lease(self, lease: LeaseRecord) -> None:
        state = self._state
        state.image.apply_lease(lease)
        state.brokers_changed = True
        if isinstance(lease, RegisterBrokerRecord):
            if is_changed(REPLACED_LEADER, state.image):
                state.image.displaced.discard(lease.broker_id)
            state.signs |= signs_of(state.image)

    def _step(self, record: MetadataRecord) -> None:
        """Queue the action of the lease spec that a record maps to."""
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
        """Replay partition changes; return False if one of them is a violation."""
        state = self._state
        uncleared_of, lost = partial(uncleared, state.image), partial(self._lost, batch)
        refusal = state.image.partitions.change(
            changes, self._change_objections, self._note, uncleared_of, lost
        )
        state.counts.changes += len(changes)
        if refusal is None:
            return True
        self._findings += refusal_violations(state, batch, refusal)
        return False

    def _lost(
        self,
        batch: RecordBatch,
        index: int,
        key: bytes,
        before: PartitionState,
        after: PartitionState,
        loss: Loss,
    ) -> None:
        image, offset = self._state.image, batch.base_offset + index
        if loss.nothing and (image.metadata_version or 0) >= MV_3_7_IV2:
            self._heartbeats.note_repeated(offset, key, after)
        self._losses.note(image, offset, key, (before, after), loss)

    def _change_objections(
        self, before: PartitionState, after: PartitionState, change: PartitionChange
    ) -> Objections:
        image = self._state.image
        objections, bugs = change_objections(Transition(before, after, change, image))
        self._known.suspect(() if objections else bugs)
        excuse(image, after, (invariant for invariant, _, _ in bugs))
        image.note_emptied(before, after)
        return objections

    def _note(
        self,
        index: int,
        key: bytes,
        before: PartitionState,
        after: PartitionState,
        change: PartitionChange,
    ) -> NotedChange:
        noted = self._specs.note_change(self._state.image, index, key, (before, after), change)
        if self._batch is not None:
            self._known.note(self._state, self._batch, index, noted)
        return noted

    def _begin_epoch(self, epoch: int) -> None:
        """Leave the operation that the last leader was in, if Kafka may have cut it."""
        state = self._state
        if state.is_cut:
            state.image.left_over |= self._specs.leave_operation(state.image)
            self._losses.forget()
            self._heartbeats.forget()
            state.image.forget_emptied()
        state.epoch, state.is_cut = epoch, False

    def _end_operation(self, batch: RecordBatch) -> None:
        """Judge the partitions where an operation may have ended.

        A batch of MAX_RECORDS_PER_BATCH records is not judged here: Kafka cuts a long operation
        there, so the operation may go on in the next batch.
        """
        image = self._state.image
        self._findings += self._heartbeats.unexplained()
        self._known.take_back(finding.offset for finding in self._findings)
        self._known.add(self._heartbeats.elections(image))
        if not self._findings:
            self._findings += self.checks.operation(self._state, batch)
        if not self._findings:
            self._findings += self._losses.findings(image, batch)
        self._losses.forget()
        self._heartbeats.forget()
        image.forget_emptied()
        if not self._findings:
            self._specs.end_operation(image, batch)
            found = self._specs.take_changes() if self._at_once else None
            self._findings += [] if found is None else [found]

    def _compare(self, offset: int) -> None:
        """Compare the image with the checkpoints that end at an offset."""
        for path in self._expected.get(offset, ()):
            self._specs.raft.note_checkpoint(path, offset)
            self._aside += self.checks.checkpoint(self._state, path, offset)


def may_go_on(batch: RecordBatch) -> bool:
    """Return whether the operation of a batch may go on in the next: Kafka cuts a long one here."""
    return batch.count >= MAX_RECORDS_PER_BATCH
