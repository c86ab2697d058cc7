"""One history in three specs: the lease, the registrations of controllers, the partitions.

What the history meets is queued here as steps; `ask` has them taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.check_counts import SpecCounts
from krafla.audit.history_checks import with_place
from krafla.audit.lease_steps import LeaseRun
from krafla.audit.mapping import LogStep, OtherRecords, lease_step
from krafla.audit.partition_steps import NotedChange, PartitionRun
from krafla.audit.registration_steps import REGISTRATION_API_KEYS, RegistrationRun
from krafla.audit.result import Finding, Weight
from krafla.audit.specs import PARTITIONS, REGISTRATIONS

if TYPE_CHECKING:
    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionChange, PartitionState
    from krafla.audit.partitions import Change
    from krafla.audit.specs import LoadingSpec
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord

_QUEUE: Final = 2000
"""So many steps wait for the spec before the reading of the log waits for it, too."""


class SpecSteps:
    """The specs of one history. `doubt` is that TLC's numbers are too small for it, if they are."""

    def __init__(self, loading: LoadingSpec, start: int, image: Image) -> None:
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
        """Whether so many steps wait that they should be taken."""
        return len(self._steps) >= _QUEUE

    def begin_batch(self, batch: RecordBatch) -> None:
        """Note that a batch begins, and what it says if it is one of control records.

        The active controller decides by the end that it knows. Raft puts control records of its own
        between two of its batches, a change of voters say; it does not know of these, so that an
        operation may take itself to begin before them. What opens an epoch it does know.

        Raises CorruptRecordError and its kinds for control records.

        Kafka: OffsetControlManager.nextWriteOffset, KafkaRaftClient.prepareAppend.
        """
        self._batch = batch
        opens = batch.leader_epoch != self._epoch
        self._epoch = batch.leader_epoch
        if opens:
            self._known_end = batch.base_offset
        if opens or not batch.is_control:
            self._others.begin_batch(self._known_end)
            self._known_end = batch.next_offset
        self._controllers.note_control(batch)

    def say(self, batch: RecordBatch, changes: list[Change], start: int, end: int) -> None:
        """Note the records from offset `start` up to `end`, among which are these changes."""
        count = end - start
        if not count or self._known_end < batch.next_offset:
            return
        trailing = count if len(changes) == count else 0
        if not trailing:
            for index, _, _ in reversed(changes):
                if batch.base_offset + index != end - 1 - trailing:
                    break
                trailing += 1
        self._others.add(end - 1, trailing, count)

    def note_lease(self, image: Image, record: MetadataRecord) -> None:
        """Note a record of the lease, before the image has it. Raises UnmappableRecordError."""
        broker = record.fields["brokerId" if "brokerId" in record.fields else "id"]
        path = None if self._batch is None else self._batch.path
        step = lease_step(record, image.registrations.get(broker), path)
        self._moves.note_event(image, step.action, broker)
        self._steps += [*self._others.take(), step]

    def note(self, record: MetadataRecord) -> None:
        """Note a record that may be about controllers."""
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
        """Note a change of a partition, the record of this index in its batch; count it there."""
        base = 0 if self._batch is None else self._batch.base_offset
        return self._moves.note(image, base + index, key, states, change)

    def go_back(self, image: Image) -> None:
        """Go on from an image: a transaction that was aborted has led back to it."""
        self._controllers.go_back(image)

    def end_operation(self, image: Image, batch: RecordBatch, *, judge: bool) -> Finding | None:
        """Return what an operation that ends with a batch did to partitions and must not.

        Without `judge` nothing is asked: something else was found there.
        """
        if self._moves.ended_with_event:
            image.partitions.forget_transitions()
        found = self._moves.end_operation() if judge else None
        return None if found is None else with_place(found[1], found[0].key, batch)

    def ask(self, findings: list[Finding]) -> list[Finding]:
        """Take the steps that wait; return the findings, a spec's first if it is no later."""
        found = self._controllers.take()
        if found is not None:
            findings = [found, *_not_after(found, findings)]
        if self.doubt is None:
            found = self.lease.take(self._steps)
            if found is not None and found.weight is Weight.VIOLATION:
                findings = [found, *_not_after(found, findings)]
            else:
                self.doubt = found
        self._steps.clear()
        return findings

    def counts(self) -> dict[str, SpecCounts]:
        """Return by spec what was stepped through, but for the lease."""
        moves, controllers = self._moves, self._controllers
        judged, passed = moves.counts()
        return {
            REGISTRATIONS: SpecCounts(
                controllers.taken, controllers.taken, dict(controllers.passed_over)
            ),
            PARTITIONS: SpecCounts(moves.taken, judged, passed),
        }


def _not_after(found: Finding, findings: list[Finding]) -> list[Finding]:
    assert found.offset is not None, "a violation of a spec has an offset"
    return [f for f in findings if f.offset is not None and f.offset <= found.offset]
