"""One history, judged: the batches of a log from where its state is known to its end.

Two judges work on it side by side. Specs step through the records of the lease (`SpecRun`), of the
registrations of controllers and of partitions; the log invariants are asked about the folded
image. All stop at the first violation: what follows it would only repeat it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from krafla.audit.check_counts import CheckCounts, Stepped
from krafla.audit.history_checks import (
    change_objections,
    compared,
    lost,
    responsible,
    wrong_version,
)
from krafla.audit.image import IMAGE_API_KEYS, Image
from krafla.audit.invariants import (
    CHECKPOINT_CONTINUED,
    CHECKPOINT_FOLDED,
    CHECKPOINTS_EQUAL,
    MAX_RECORDS_PER_BATCH,
    REPLICAS_REGISTERED,
    Invariant,
    PartitionInvariant,
    Subject,
    evidence_of,
    partition_objections,
    replicas_objection,
)
from krafla.audit.invariants_log import (
    EPOCH_BEGINS,
    VERSION_FIRST,
    VERSIONS_DICTATED,
    beginning_objection,
    epoch_objection,
)
from krafla.audit.invariants_partitions import CHANGE_INVARIANTS, Transition, state_objections
from krafla.audit.invariants_reassignment import REASSIGNMENT_INVARIANTS
from krafla.audit.invariants_topics import BATCH_INVARIANTS, Created
from krafla.audit.lease_invariants import broken_by_unmappable
from krafla.audit.mapping import SPEC, STATE_API_KEYS, UnmappableRecordError
from krafla.audit.partition_state import PartitionChange, PartitionState, state_of
from krafla.audit.partitions import Change, Objections, key_of, key_text
from krafla.audit.registry import RECORD_INVARIANTS
from krafla.audit.result import Finding, Weight
from krafla.audit.spec_steps import Stepping
from kraft.records.lease import lease_record
from kraft.records.metadata_schemas import ABORT_TRANSACTION, PARTITION, PARTITION_CHANGE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from krafla.audit.partition_steps import Noted
    from krafla.audit.specs import LoadingSpec
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

_WANTED: Final = IMAGE_API_KEYS | STATE_API_KEYS
_CHANGES: Final = (*REASSIGNMENT_INVARIANTS, *CHANGE_INVARIANTS)


@dataclass(frozen=True, slots=True)
class Outcome:
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
    asked: CheckCounts
    stepped: dict[str, Stepped]


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
        self._image = image
        self._specs = Stepping(loading, start, image)
        self._expected = expected
        self._findings: list[Finding] = []
        self._aside: list[Finding] = []
        self._brokers_changed = True
        self._end = start
        self._records = 0
        self._path: Path | None = None
        self._created = Created()
        self._begins = start == 0
        self._continued = start > 0
        self._version_before = image.metadata_version
        self._epoch: int | None = None
        self.asked = CheckCounts()

    @property
    def stopped(self) -> bool:
        """Whether something was found behind which nothing is judged any more."""
        return bool(self._findings)

    def add(self, batch: RecordBatch) -> None:
        """Judge the next batch. Raises CorruptRecordError and its kinds for its records."""
        self._path = batch.path
        self.asked.batches += 1
        counts: dict[tuple[int, int], int] = {}
        self._specs.begin_batch(batch)
        records: list[MetadataRecord] = []
        changes: list[Change] = []
        if not batch.is_control:
            records, changes = self._image.changes.read(batch, _WANTED, counts)
        self._walk(batch, records, changes)
        self.asked.count(counts)
        self._versions(batch, counts)
        if not self._findings and not batch.is_control:
            self._end_batch(batch)
        self._records += batch.count
        self._end = batch.next_offset
        if not self._findings and batch.count < MAX_RECORDS_PER_BATCH:
            self._end_operation(batch)
        if not self._findings:
            self._begin_epoch(batch)
            self._compare(batch.next_offset)
        if self._findings or self._specs.waits_long:
            self._findings = self._specs.ask(self._findings)

    def outcome(self) -> Outcome:
        """Return the answer for all batches added."""
        self._findings = self._specs.ask(self._findings)
        doubts = [] if self._specs.doubt is None else [self._specs.doubt]
        findings = (*self._findings, *doubts, *self._aside)
        stops = [f.offset for f in self._findings if f.offset is not None]
        return Outcome(
            findings,
            min(stops, default=None),
            self._end,
            self._records,
            self._specs.lease.taken,
            self.asked,
            self._specs.stepped(),
        )

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
        image, key = self._image, record.api_key
        lease = None
        if key in STATE_API_KEYS:
            lease = lease_record(key, record.fields)
            self._step(record)
        subject = Subject(image, record, lease)
        for invariant in RECORD_INVARIANTS.get(key, ()):
            objection = invariant.objection(subject)
            if objection is not None:
                self._violated(invariant, objection, record)
        self._specs.note(record)
        if lease is not None:
            image.apply_lease(lease)
            self._brokers_changed = True
            return not self._findings
        if key == PARTITION.api_key:
            self._new_partition(record)
        self._created.note(record)
        if key == ABORT_TRANSACTION.api_key:
            self._abort(record)
        else:
            image.apply_other(record)
        return not self._findings

    def _new_partition(self, record: MetadataRecord) -> None:
        objection = replicas_objection(self._image, (), record.fields["replicas"])
        if objection is not None:
            self._violated(REPLICAS_REGISTERED, objection, record)
            return
        for invariant, said in state_objections(state_of(record.fields), self._image):
            self._violated(invariant, said, record)

    def _step(self, record: MetadataRecord) -> None:
        """Queue the action of the spec that a record of the lease stands for."""
        try:
            self._specs.note_lease(self._image, record)
        except UnmappableRecordError as error:
            rule = Invariant(
                f"{SPEC}!Next", "every record of the lease is one action of the spec", SPEC
            )
            said = str(error)
            self._violated(rule, said, record, invariants=broken_by_unmappable(said))

    def _abort(self, record: MetadataRecord) -> None:
        before = self._image.before_transaction()
        if before is None:
            return
        if before.registrations != self._image.registrations:
            self._findings.append(
                Finding(
                    Weight.INCONCLUSIVE,
                    "not modelled",
                    "an aborted transaction changes registrations, which the spec does not know",
                    self._path,
                    record.position,
                    record.offset,
                )
            )
            return
        entities = self._image.entities
        fresh = entities.topic_names.keys() - before.entities.topic_names.keys()
        before.entities.aborted_topics |= entities.aborted_topics | fresh
        self._image = before
        self._specs.go_back(before)
        self._created = Created()

    def _change(self, batch: RecordBatch, changes: list[Change]) -> bool:
        """Fold partition changes; return False if one of them is a violation."""
        refusal = self._image.partitions.change(changes, self._change_objections, self._note)
        self.asked.changes += len(changes)
        if refusal is None:
            return True
        (record,) = (
            r
            for r in batch.metadata_records(frozenset({PARTITION_CHANGE.api_key}))
            if r.offset == batch.base_offset + refusal.record_index
        )
        key = key_of(record.fields)
        if not refusal.objections:
            self._violated(lost(self._image, key), f"there is no partition {key_text(key)}", record)
        for invariant, objection in refusal.objections:
            self._violated(invariant, f"partition {key_text(key)}: {objection}", record)
        return False

    def _change_objections(
        self, before: PartitionState, after: PartitionState, change: PartitionChange
    ) -> Objections:
        return change_objections(Transition(before, after, change, self._image))

    def _note(
        self,
        index: int,
        key: bytes,
        before: PartitionState,
        after: PartitionState,
        change: PartitionChange,
    ) -> Noted:
        return self._specs.note_change(self._image, index, key, (before, after), change)

    def _versions(self, batch: RecordBatch, counts: dict[tuple[int, int], int]) -> None:
        version = self._image.metadata_version
        found = wrong_version(batch, counts, (version, self._version_before))
        self._version_before = version
        if found is not None:
            self._violated(VERSIONS_DICTATED, found[1], found[0], first=True)

    def _end_batch(self, batch: RecordBatch) -> None:
        """Judge what a batch created, and how the log begins."""
        for invariant in BATCH_INVARIANTS:
            found = invariant.objection(self._created, self._image)
            if found is not None:
                self._violated(invariant, found[1], found[0])
        self._created = Created()
        if self._begins:
            objection = beginning_objection(self._image)
            if objection is not None:
                self._violated(VERSION_FIRST, objection, None, batch=batch)
            self._begins = self._image.before_transaction() is not None

    def _begin_epoch(self, batch: RecordBatch) -> None:
        """Judge how an epoch begins; a history that does not begin the log may begin within one."""
        if self._epoch is not None or not self._continued:
            objection = epoch_objection(batch, self._epoch)
            if objection is not None:
                self._violated(EPOCH_BEGINS, objection, None, batch=batch)
        self._epoch = batch.leader_epoch

    def _end_operation(self, batch: RecordBatch) -> None:
        """Judge the partitions where an operation may have ended.

        A batch of as many records as an operation is cut into may end within one: then its
        partitions are looked at when the next batch ends.
        """
        self.asked.operations += 1
        partitions = self._image.partitions
        states = partitions.settle()
        if self._brokers_changed:
            states = partitions.present()
            self._brokers_changed = False
        active = self._image.active()
        broken: dict[str, tuple[PartitionInvariant, str, bytes]] = {}
        for state in sorted(states):
            objections = partition_objections(self._image, state, active)
            key = partitions.holder(state) if objections else None
            if key is not None:
                for invariant, objection in objections:
                    broken.setdefault(invariant.id, (invariant, objection, key))
        for invariant, objection, key in broken.values():
            detail = f"partition {key_text(key)}: {objection}"
            self._violated(invariant, detail, responsible(batch, key), batch=batch)
        found = self._specs.end_operation(self._image, batch, judge=not self._findings)
        if found is not None:
            self._findings.append(found)

    def compare_start(self) -> None:
        """Compare the checkpoint that the history starts from with those of other nodes."""
        self._compare(self._end)

    def _compare(self, offset: int) -> None:
        """Compare the image with the checkpoints that end at an offset."""
        for path in self._expected.get(offset, ()):
            self.asked.checkpoints += 1
            whole = CHECKPOINT_CONTINUED if self._continued else CHECKPOINT_FOLDED
            if self._continued and not self._records:
                whole = CHECKPOINTS_EQUAL
            self._aside += compared(self._image, path, offset, whole)

    def _violated(
        self,
        invariant: Invariant,
        objection: str,
        record: MetadataRecord | None,
        *,
        batch: RecordBatch | None = None,
        first: bool = False,
        invariants: tuple[str, ...] = (),
    ) -> None:
        position = offset = None
        if record is not None:
            position, offset = record.position, record.offset
        elif batch is not None:
            position, offset = batch.position, batch.base_offset
        from krafla.audit.record_text import record_text  # only where something is wrong

        text = None if record is None else record_text(record)
        evidence = replace(evidence_of(invariant, text), invariants=invariants)
        finding = Finding(
            Weight.VIOLATION, invariant.id, objection, self._path, position, offset, evidence
        )
        self._findings.insert(0 if first else len(self._findings), finding)
