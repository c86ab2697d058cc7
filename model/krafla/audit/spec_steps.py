"""One history in four specs: Raft, the lease, the registrations of controllers, the partitions.

Records are queued as steps; `take` runs the specs on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.broker_registrations import registration_of
from krafla.audit.check_counts import SpecCounts
from krafla.audit.history_checks import with_place
from krafla.audit.lease_steps import LeaseRun
from krafla.audit.mapping import LogStep, OtherRecords, lease_step
from krafla.audit.partition_steps import PartitionRun
from krafla.audit.raft_steps import RaftRun
from krafla.audit.registration_steps import REGISTRATION_API_KEYS, RegistrationRun
from krafla.audit.releases import bug_of_amendment
from krafla.audit.result import Finding, Weight
from kraft.records.lease import RegisterBrokerRecord, lease_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from krafla.audit.change_records import Change
    from krafla.audit.history_outcome import Tally
    from krafla.audit.image import Image
    from krafla.audit.noted_changes import NotedChange
    from krafla.audit.partition_state import PartitionChange, PartitionState
    from krafla.audit.specs import LoadingSpec
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

_QUEUE: Final = 2000
"""The number of queued steps at which reading the log waits for the specs."""
_CHANGES: Final = 200
"""The number of queued partition changes: it is smaller, as each keeps its batch in memory."""


class SpecSteps:
    """The specs of one history, which starts from a checkpoint unless it begins the log.

    `doubt` is the finding, if any, that a number is too large for the lease's spec.
    """

    def __init__(
        self, loading: LoadingSpec, start: int, image: Image, checkpoint: Path | None = None
    ) -> None:
        self.raft = RaftRun(loading, start, checkpoint)
        self.lease = LeaseRun(loading, start, dict(image.registrations))
        self.doubt: Finding | None = None
        self._steps: list[LogStep] = []
        self._others = OtherRecords()
        self._controllers = RegistrationRun(loading, start, image)
        self._moves = PartitionRun(loading)
        self._batch: RecordBatch | None = None
        self._epoch: int | None = None
        self._known_end = start

    @property
    def waits_long(self) -> bool:
        """Whether the queue is full."""
        return len(self._steps) >= _QUEUE or self._moves.queued >= _CHANGES

    def begin_batch(self, batch: RecordBatch, *, goes_on: bool) -> None:
        """Note that a batch begins, and read its control records.

        The active controller computes offsets from the log end that it knows. Between two of its
        batches Raft may write control records, such as a change of voters. The controller does not
        count these, so an operation may begin, in its view, before them. It does count the batch
        that opens an epoch. With `goes_on`, the batch may continue the operation of the one before
        it: then a new broker epoch may be the offset where that began.

        Raises CorruptRecordError, or a subclass, for a bad control record.

        Kafka: OffsetControlManager.nextWriteOffset, KafkaRaftClient.prepareAppend.
        """
        self._batch = batch
        self.raft.note_control(batch)
        opens = batch.leader_epoch != self._epoch
        self._epoch = batch.leader_epoch
        if opens:
            self._known_end = batch.base_offset
        if opens or not (batch.is_control or goes_on):
            self._others.begin_batch(self._known_end)
        if opens or not batch.is_control:
            self._known_end = batch.next_offset
        self._controllers.note_control(batch)

    def note_records(
        self,
        batch: RecordBatch,
        records: Sequence[MetadataRecord],
        counts: Mapping[tuple[int, int], int],
    ) -> None:
        """Note the metadata records of a batch, whose types are in `counts`."""
        self.raft.note(batch, records, counts)

    def say(self, batch: RecordBatch, changes: list[Change], start: int, end: int) -> None:
        """Note records outside the lease, from `start` to `end` (exclusive), with these changes."""
        count = end - start
        trailing = count if len(changes) == count else 0
        if not trailing:
            for index, _, _ in reversed(changes):
                if batch.base_offset + index != end - 1 - trailing:
                    break
                trailing += 1
        self.say_run(batch, start, end, trailing)

    def say_run(self, batch: RecordBatch, start: int, end: int, trailing: int) -> None:
        """Note records outside the lease, of which the last `trailing` are changes."""
        if end > start and self._known_end >= batch.next_offset:
            self._others.add(end - 1, trailing, end - start)

    def note_lease(self, image: Image, record: MetadataRecord) -> None:
        """Note a record of the lease before it is replayed. Raises UnmappableRecordError."""
        broker = record.fields["brokerId" if "brokerId" in record.fields else "id"]
        path = None if self._batch is None else self._batch.path
        registered = image.registrations.get(broker)
        step = lease_step(record, registered, path)
        if step.action == "AmendRegistration" and registered is not None:
            value = lease_record(record.api_key, record.fields)
            assert isinstance(value, RegisterBrokerRecord), "only a registration amends another"
            bug = bug_of_amendment(image, registered, registration_of(value), record.offset)
            step = step._replace(known_bug=bug)
        self._moves.note_event(image, step.action, broker)
        self._steps += [*self._others.take(), step]

    def note(self, record: MetadataRecord) -> None:
        """Note a record if it is about controller registrations."""
        if record.api_key in REGISTRATION_API_KEYS:
            self._controllers.note(record, None if self._batch is None else self._batch.path)

    def note_change(
        self,
        image: Image,
        index: int,
        key: bytes,
        states: tuple[PartitionState, PartitionState],
        change: PartitionChange,
    ) -> NotedChange:
        """Note a change of a partition by its index in the batch; return its counter."""
        base = 0 if self._batch is None else self._batch.base_offset
        return self._moves.note(image, base + index, key, states, change)

    def go_back(self, image: Image) -> None:
        """Continue from the image before an aborted transaction."""
        self._controllers.go_back(image)

    def end_operation(self, image: Image, batch: RecordBatch) -> None:
        """Queue the partition changes of an operation that ends with a batch."""
        if self._moves.ended_with_event:
            image.partitions.forget_transitions()
        self._moves.end_operation(batch)

    def leave_operation(self, image: Image) -> frozenset[int]:
        """Forget an operation that never ends; return the brokers that began to shut down in it."""
        image.partitions.forget_transitions()
        return self._moves.leave_operation()

    def take(self, findings: list[Finding]) -> list[Finding]:
        """Take the queued steps; return the findings up to the first violation of a spec."""
        taken = (
            self._take_lease(), self.take_changes(), self._controllers.take(), self.raft.take(),
        )  # fmt: skip
        violations = [found for found in taken if found is not None]
        return _up_to_first(violations, findings)

    def _take_lease(self) -> Finding | None:
        found = None if self.doubt is not None else self.lease.take(self._steps)
        self._steps.clear()
        if found is None or found.weight is Weight.VIOLATION:
            return found
        self.doubt = found
        return None

    def take_changes(self) -> Finding | None:
        """Take the queued partition changes; return the first violation, if any."""
        found = self._moves.take()
        if found is None:
            return None
        step, refused = found
        return with_place(refused, step.noted.key, step.batch)

    def doubts(self) -> list[Finding]:
        """Return the findings that a spec could not judge the whole history."""
        return [doubt for doubt in (self.doubt, self.raft.doubt) if doubt is not None]

    def add_to(self, tally: Tally) -> None:
        """Add what the specs judged to a history's tally."""
        controllers = self._controllers
        tally.lease = SpecCounts(self.lease.taken, self.lease.judged)
        tally.raft = SpecCounts(self.raft.taken, self.raft.judged)
        tally.registrations = SpecCounts(
            controllers.taken, controllers.taken, dict(controllers.passed_over)
        )
        tally.changes = self._moves.tally()
        tally.refused, tally.of_raft = [*self.lease.known], [*self.raft.aside]

    def open_changes(self) -> list[NotedChange]:
        """Return the partition changes whose judgment is open."""
        return self._moves.open_changes()


def _up_to_first(violations: list[Finding], findings: list[Finding]) -> list[Finding]:
    """Return violations of specs and other findings, without what comes after the first violation.

    A violation stands before other findings.
    """
    if not violations:
        return findings
    first = min(map(_offset, violations))
    return [f for f in (*violations, *findings) if f.offset is not None and f.offset <= first]


def _offset(found: Finding) -> int:
    assert found.offset is not None, "a violation of a spec has an offset"
    return found.offset
