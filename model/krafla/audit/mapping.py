"""The mapping of records to actions of UntimedLease.tla.

A record of the lease is one action. Other records only take up offsets: `OtherRecords` collects
them, over batches if need be, and replaces them by at most three steps. That is sound: their
actions leave the registrations alone, and the spec's two numbers depend only on the last batch, the
last record, and the last record that does not change a partition. A test compares the results with
and without this shortcut at every record of the lease.

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

    from krafla.audit.broker_registrations import BrokerRegistration
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
"""The records of the lease; a NoOpRecord only takes up an offset."""


_VERSION_WITH_DIRECTORIES: Final = 2
"""The version of a BrokerRegistrationChangeRecord from which on it has a field for directories."""


class UnmappableRecordError(Exception):
    """A record of the lease is no single action of the spec, for the reason in the text."""


class Place(NamedTuple):
    """The place of a record: its file, the byte position of the record or batch, the record.

    `record` is None for a control record, which is not printed.
    """

    path: Path | None
    position: int
    record: MetadataRecord | None


class LogStep(NamedTuple):
    """One action of a spec: its parameters by name, in the spec's order.

    `place` is None for steps that replace records outside the lease. `known_bug` is what explains
    the step if the spec refuses it.
    """

    action: str
    parameters: tuple[tuple[str, Value], ...]
    offset: int
    place: Place | None = None
    known_bug: str | None = None


def lease_step(
    record: MetadataRecord, registered: BrokerRegistration | None, path: Path | None
) -> LogStep:
    """Return the action that a record of the lease maps to.

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
        action, broker, epoch = _change(value, record.version), value.broker_id, value.broker_epoch
    elif isinstance(value, FenceBrokerRecord):
        action, broker, epoch = "FenceBroker", value.broker_id, value.broker_epoch
    elif isinstance(value, UnfenceBrokerRecord):
        action, broker, epoch = "UnfenceBroker", value.broker_id, value.broker_epoch
    else:
        assert isinstance(value, UnregisterBrokerRecord), "no other record is of the lease"
        action, broker, epoch = "UnregisterBroker", value.broker_id, value.broker_epoch
    named = (("b", int(broker)), ("epoch", int(epoch)), ("offset", offset))
    return LogStep(action, named, offset, place)


def _change(record: BrokerRegistrationChangeRecord, version: int) -> str:
    """Return the action of a change record; Kafka's records change one thing each.

    A record that leaves no directory names none, so that it looks as if it changed nothing.

    Kafka: ReplicationControlManager.handleBrokerFenced, .handleBrokerUnfenced,
    .handleBrokerInControlledShutdown, .handleDirectoriesOffline.
    """
    if record.fenced not in (UNCHANGED, FENCE, UNFENCE):
        raise UnmappableRecordError(f"fenced is {record.fenced}, not 1, 0 or -1")
    if record.in_controlled_shutdown not in (UNCHANGED, ENTER_CONTROLLED_SHUTDOWN):
        raise UnmappableRecordError(
            f"inControlledShutdown is {record.in_controlled_shutdown}, not 1 or 0"
        )
    changes = [
        record.fenced != UNCHANGED,
        bool(record.in_controlled_shutdown),
        bool(record.log_dirs),
    ]
    if sum(changes) > 1:
        raise UnmappableRecordError("the record changes more than one thing")
    if not any(changes) and version < _VERSION_WITH_DIRECTORIES:
        raise UnmappableRecordError("the record changes nothing")
    if record.fenced == FENCE:
        return "FenceBroker"
    if record.fenced == UNFENCE:
        return "UnfenceBroker"
    return "BeginControlledShutdown" if record.in_controlled_shutdown else "ChangeDirectories"


class OtherRecords:
    """Records outside the lease and beginnings of batches, as few steps."""

    def __init__(self) -> None:
        self._batch: int | None = None
        self._last_other: int | None = None
        self._last_change: int | None = None

    def begin_batch(self, base_offset: int) -> None:
        """Note that a batch begins, and drop what came before it."""
        self._batch = base_offset
        self._last_other = self._last_change = None

    def add(self, last_offset: int, changes: int, count: int) -> None:
        """Note a run of `count` records that ends with `last_offset`.

        The last `changes` of them change partitions; the one before these, if any, does not.
        """
        if changes < count:
            self._last_other, self._last_change = last_offset - changes, None
        if changes:
            self._last_change = last_offset

    def take(self) -> list[LogStep]:
        """Return the steps for the records noted since the last call."""
        steps = []
        if self._batch is not None:
            steps.append(LogStep("BeginBatch", (("base_offset", self._batch),), self._batch))
        for last, changes in ((self._last_other, False), (self._last_change, True)):
            if last is not None:
                parameters = (("changes_partition", changes), ("offset", last))
                steps.append(LogStep("OtherRecord", parameters, last))
        self._batch = self._last_other = self._last_change = None
        return steps
