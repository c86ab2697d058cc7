"""The operations on the lease in a metadata log: each record of the lease, each failover.

One step of BrokerLease may be several records in one batch: a registration after the partition
changes that it causes, a controlled shutdown before the changes that move its leaderships. So an
operation has a first and a last offset besides its record's.

Kafka: ClusterControlManager.registerBroker, ReplicationControlManager.
"""

from __future__ import annotations

import enum
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.image import IMAGE_API_KEYS
from krafla.audit.mapping import STATE_API_KEYS
from kraft.log.checkpoint import read_checkpoint
from kraft.log.directory import read_metadata_log
from kraft.records.control_schemas import LEADER_CHANGE, SNAPSHOT_HEADER
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    NoOpRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    lease_record,
)

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.change_records import Change
    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionChange, PartitionState
    from krafla.audit.partitions import Objections
    from kraft.log.checkpoint import Checkpoint
    from kraft.log.directory import MetadataLog
    from kraft.records.batch import RecordBatch
    from kraft.records.lease import LeaseRecord
    from kraft.records.record import MetadataRecord

_WANTED: Final = IMAGE_API_KEYS | STATE_API_KEYS


class Act(enum.Enum):
    """The kind of an operation; the value names its records."""

    LEADER_CHANGE = "LeaderChange"
    REGISTER = "RegisterBrokerRecord"
    UNFENCE = "BrokerRegistrationChangeRecord, unfencing"
    FENCE = "BrokerRegistrationChangeRecord, fencing"
    SHUTDOWN = "BrokerRegistrationChangeRecord, controlled shutdown"
    UNREGISTER = "UnregisterBrokerRecord"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: `offset` is its record's; `first` and `last` (inclusive) bound its records.

    If the batch goes on, the records that follow may belong to the next operation: then the last
    offset is one from `least` to `last`. `time_ms` is the record's timestamp. `leads` says whether
    the broker led a partition just before. For a LeaderChange `broker` is the new leader and
    `epoch` its epoch.
    """

    act: Act
    broker: int
    epoch: int
    offset: int
    first: int
    last: int
    time_ms: int
    path: Path | None
    position: int
    incarnation: str | None = None
    leads: bool = False
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Operations:
    """The operations of a log from `start` to `end` (exclusive), in order.

    `registrations` are those at the start. The times are of the last record before the start
    (None if the log starts at 0) and of the last record.
    """

    path: Path
    start: int
    end: int
    start_ms: int | None
    end_ms: int
    registrations: dict[int, BrokerRegistration]
    operations: tuple[Operation, ...]


def read_operations(
    log: MetadataLog, start: int, image: Image, checkpoint: Checkpoint | None
) -> Operations:
    """Return the operations of a log from an image on. Raises as `read_metadata_log`."""
    registrations = dict(image.registrations)
    walk = _Walk(image.copy())
    end, end_ms = start, 0
    for batch in read_metadata_log(log, findings=[]):
        if batch.base_offset >= start:
            walk.add(batch)
            end, end_ms = batch.next_offset, max(end_ms, batch.max_timestamp)
    start_ms = None if checkpoint is None else _snapshot_time(checkpoint)
    return Operations(
        log.directory, start, end, start_ms, end_ms, registrations, tuple(walk.operations)
    )


def _snapshot_time(checkpoint: Checkpoint) -> int | None:
    for batch in read_checkpoint(checkpoint.path):
        for control in batch.control_records():
            if control.control_type == SNAPSHOT_HEADER.api_key:
                return int(control.fields["lastContainedLogTimestamp"])
    return None


def _no_objection(
    before: PartitionState, after: PartitionState, change: PartitionChange
) -> Objections:
    del before, after, change
    return ()


class _Walk:
    """The replay of batches into an image, which collects the operations."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self.operations: list[Operation] = []

    def add(self, batch: RecordBatch) -> None:
        if batch.is_control:
            self._control(batch)
            return
        records, changes = self._image.changes.read(batch, _WANTED)
        indices = [change[0] for change in changes]
        done = 0
        for record in records:
            until = bisect_left(indices, record.offset - batch.base_offset, lo=done)
            self._image.partitions.change(changes[done:until], _no_objection)
            done = until
            if record.api_key in STATE_API_KEYS:
                value = lease_record(record.api_key, record.fields)
                self._note(batch, record, value, changes[done:])
                self._image.apply_lease(value)
            else:
                self._image.apply_other(record)
        self._image.partitions.change(changes[done:], _no_objection)
        self._image.partitions.settle()

    def _control(self, batch: RecordBatch) -> None:
        for control in batch.control_records():
            if control.control_type == LEADER_CHANGE.api_key:
                self.operations.append(
                    Operation(
                        Act.LEADER_CHANGE, control.fields["leaderId"], batch.leader_epoch,
                        control.offset, control.offset, control.offset, control.timestamp,
                        batch.path, control.position,
                    )
                )  # fmt: skip

    def _note(
        self,
        batch: RecordBatch,
        record: MetadataRecord,
        value: LeaseRecord,
        following: list[Change],
    ) -> None:
        act = _act(value)
        if act is None or isinstance(value, NoOpRecord):
            return
        broker = int(value.broker_id)
        registered = self._image.registrations.get(broker)
        first = last = record.offset
        incarnation = registered.incarnation if registered is not None else None
        if isinstance(value, RegisterBrokerRecord):
            incarnation = str(value.incarnation_id)
            if registered is None or registered.incarnation != incarnation:
                first = int(value.broker_epoch)
        elif act is Act.SHUTDOWN:
            for index, *_ in following:
                if batch.base_offset + index != last + 1:
                    break
                last += 1
        leads = any(s.leader == broker for s in self._image.partitions.states.values())
        self.operations.append(
            Operation(
                act, broker, int(value.broker_epoch), record.offset, first, last, record.timestamp,
                batch.path, record.position, incarnation, leads,
                record.offset if last + 1 < batch.next_offset else last,
            )
        )  # fmt: skip


def _act(value: LeaseRecord) -> Act | None:
    """Return the kind of a lease record's operation, None if BrokerLease has none for it."""
    if isinstance(value, RegisterBrokerRecord):
        return Act.REGISTER
    if isinstance(value, UnregisterBrokerRecord):
        return Act.UNREGISTER
    if isinstance(value, FenceBrokerRecord):
        return Act.FENCE
    if isinstance(value, UnfenceBrokerRecord):
        return Act.UNFENCE
    assert isinstance(value, BrokerRegistrationChangeRecord), "no other record is of the lease"
    if value.fenced == FENCE:
        return Act.FENCE
    if value.fenced == UNFENCE:
        return Act.UNFENCE
    return Act.SHUTDOWN if value.in_controlled_shutdown == ENTER_CONTROLLED_SHUTDOWN else None
