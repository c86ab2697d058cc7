"""From records to the actions of UntimedLease.tla that they stand for.

A record of the lease is one action. Everything else only takes up offsets: `OtherRecords` collects
such records, over batches if need be, and says with at most three steps what all of them say. That
is sound because their actions leave the registrations alone, and the two numbers depend only on the
last batch, the last record, and the last record that does not change a partition; a test compares
the two ways at every record of the lease.

Spec: UntimedLease!Next, UntimedLease!OtherRecord, UntimedLease!BeginBatch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNCHANGED,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    lease_record,
)

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.audit.image import BrokerRegistration
    from krafla.values import Value
    from kraft.records.record import MetadataRecord

SPEC: Final = "UntimedLease"
STATE_API_KEYS: Final = frozenset(
    record.SCHEMA.api_key
    for record in (
        RegisterBrokerRecord,
        UnregisterBrokerRecord,
        FenceBrokerRecord,
        UnfenceBrokerRecord,
        BrokerRegistrationChangeRecord,
    )
)
"""The records that say something of the lease; a NoOpRecord only takes up an offset."""


class UnmappableRecordError(Exception):
    """A record of the lease that is no single action of the spec; says in a sentence why."""


class Place(NamedTuple):
    """Where a record stands: its file, the byte its record (or batch) starts at, the record.

    A control record is None here: it has no form of its own to be printed in.
    """

    path: Path | None
    position: int
    record: MetadataRecord | None


class LogStep(NamedTuple):
    """One action of UntimedLease.tla: parameters by name, in the spec's order.

    `place` is None for steps that stand for records outside the lease.
    """

    action: str
    parameters: tuple[tuple[str, Value], ...]
    offset: int
    place: Place | None = None


def lease_step(
    record: MetadataRecord, registered: BrokerRegistration | None, path: Path | None
) -> LogStep:
    """Return the action that a record of the lease stands for.

    `registered` is the broker's registration before the record. Raises UnmappableRecordError.
    """
    place = Place(path, record.position, record)
    value = lease_record(record.api_key, record.fields)
    offset = record.offset
    if isinstance(value, RegisterBrokerRecord):
        known = registered is not None and registered.incarnation == value.incarnation_id
        parameters: tuple[tuple[str, Value], ...] = (
            ("b", int(value.broker_id)),
            ("incarnation", str(value.incarnation_id)),
            ("epoch", int(value.broker_epoch)),
            ("fenced", value.fenced),
            ("in_controlled_shutdown", value.in_controlled_shutdown),
            ("offset", offset),
        )
        return LogStep(
            "AmendRegistration" if known else "RegisterBroker", parameters, offset, place
        )
    if isinstance(value, BrokerRegistrationChangeRecord):
        action, broker, epoch = _change(value), value.broker_id, value.broker_epoch
    elif isinstance(value, FenceBrokerRecord):
        action, broker, epoch = "FenceBroker", value.broker_id, value.broker_epoch
    elif isinstance(value, UnfenceBrokerRecord):
        action, broker, epoch = "UnfenceBroker", value.broker_id, value.broker_epoch
    else:
        assert isinstance(value, UnregisterBrokerRecord), "no other record is of the lease"
        action, broker, epoch = "UnregisterBroker", value.broker_id, value.broker_epoch
    named = (("b", int(broker)), ("epoch", int(epoch)), ("offset", offset))
    return LogStep(action, named, offset, place)


def _change(record: BrokerRegistrationChangeRecord) -> str:
    """Return the action of a change record; Kafka changes one thing in each."""
    if record.fenced not in (UNCHANGED, FENCE, UNFENCE):
        raise UnmappableRecordError(f"fenced is {record.fenced}, which is none of 1, 0, -1")
    if record.in_controlled_shutdown not in (UNCHANGED, ENTER_CONTROLLED_SHUTDOWN):
        raise UnmappableRecordError(
            f"inControlledShutdown is {record.in_controlled_shutdown}, which is neither 1 nor 0"
        )
    changes = [
        record.fenced != UNCHANGED,
        bool(record.in_controlled_shutdown),
        bool(record.log_dirs),
    ]
    if sum(changes) > 1:
        raise UnmappableRecordError("the record changes more than one thing")
    if record.fenced == FENCE:
        return "FenceBroker"
    if record.fenced == UNFENCE:
        return "UnfenceBroker"
    return "BeginControlledShutdown" if record.in_controlled_shutdown else "ChangeDirectories"


class OtherRecords:
    """Records outside the lease and beginnings of batches, said with as few steps as possible."""

    def __init__(self) -> None:
        self._batch: int | None = None
        self._last_other: int | None = None
        self._last_change: int | None = None

    def begin_batch(self, base_offset: int) -> None:
        """Note that a batch begins: what came before it no longer matters."""
        self._batch = base_offset
        self._last_other = self._last_change = None

    def add(self, last_offset: int, changes: int, count: int) -> None:
        """Note a run of `count` records that ends with `last_offset`.

        Its last `changes` records change partitions; the one before these, if any, does not.
        """
        if changes < count:
            self._last_other, self._last_change = last_offset - changes, None
        if changes:
            self._last_change = last_offset

    def take(self) -> list[LogStep]:
        """Return the steps for what was noted since the last call."""
        steps = []
        if self._batch is not None:
            steps.append(LogStep("BeginBatch", (("base_offset", self._batch),), self._batch))
        for last, changes in ((self._last_other, False), (self._last_change, True)):
            if last is not None:
                parameters = (("changes_partition", changes), ("offset", last))
                steps.append(LogStep("OtherRecord", parameters, last))
        self._batch = self._last_other = self._last_change = None
        return steps
