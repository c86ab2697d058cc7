"""The replay of the lease simulation: the only function that changes a `ClusterImage`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from kraft.controller.operations.lease_view import BrokerRegistration
from kraft.ids import Offset
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNCHANGED,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    NoOpRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.sim.lease.image import EMPTY_IMAGE, ClusterImage
from kraft.sim.lease.stand_ins import LeaderChangeMessage, LeadershipChange, Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.ids import BrokerEpoch, BrokerId


class FatalReplayError(Exception):
    """A record that the records before it rule out; the replaying process must stop.

    Kafka: FaultHandler, as the fatal fault that ends the process.
    """

    def __init__(self, reason: str, record: Record, offset: Offset) -> None:
        super().__init__(reason, record, offset)
        self.reason = reason
        self.record = record
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.reason} ({type(self.record).__name__} at offset {self.offset})"


def replay(image: ClusterImage, record: Record, offset: Offset) -> ClusterImage:
    """Return the image after one more record. A record that changes nothing is tolerated.

    Raises FatalReplayError if the record names an unregistered broker or epoch, has a meaningless
    value, or is at an offset that was already replayed.
    Kafka: ClusterControlManager.replay.
    """
    if offset < image.log_end:
        raise FatalReplayError(f"the log had reached offset {image.log_end}", record, offset)
    registrations, leads = image.registrations, image.leads
    match record:
        case RegisterBrokerRecord():
            return _replay_registration(image, record, offset)
        case UnregisterBrokerRecord(broker_id, epoch):
            _registration_of(image, record, broker_id, epoch, offset)
            registrations, leads = registrations.delete(broker_id), leads - {broker_id}
        case BrokerRegistrationChangeRecord(_, _, fenced, in_controlled_shutdown):
            return _replay_change(image, record, fenced, in_controlled_shutdown, offset)
        case FenceBrokerRecord():
            return _replay_change(image, record, FENCE, UNCHANGED, offset)
        case UnfenceBrokerRecord():
            return _replay_change(image, record, UNFENCE, UNCHANGED, offset)
        case LeadershipChange(broker_id):
            leads = leads | {broker_id}
        case NoOpRecord() | LeaderChangeMessage():
            pass
        case unreachable:
            assert_never(unreachable)
    return ClusterImage(registrations, leads, Offset(offset + 1))


def replay_log(records: Iterable[Record]) -> ClusterImage:
    """Return the image of a log whose first record is at offset 0.

    Raises FatalReplayError as `replay` does.
    """
    image = EMPTY_IMAGE
    for offset, record in enumerate(records):
        image = replay(image, record, Offset(offset))
    return image


def _replay_registration(
    image: ClusterImage, record: RegisterBrokerRecord, offset: Offset
) -> ClusterImage:
    broker_id = record.broker_id
    previous = image.registrations.get(broker_id)
    is_amendment = previous is not None and previous.incarnation_id == record.incarnation_id
    registration = BrokerRegistration(
        record.incarnation_id,
        record.broker_epoch,
        offset,
        record.fenced,
        record.in_controlled_shutdown,
    )
    return ClusterImage(
        image.registrations.set(broker_id, registration),
        image.leads if is_amendment else image.leads - {broker_id},
        Offset(offset + 1),
    )


def _replay_change(
    image: ClusterImage,
    record: BrokerRegistrationChangeRecord | FenceBrokerRecord | UnfenceBrokerRecord,
    fenced: int,
    in_controlled_shutdown: int,
    offset: Offset,
) -> ClusterImage:
    broker_id = record.broker_id
    registration = _registration_of(image, record, broker_id, record.broker_epoch, offset)
    if fenced not in {FENCE, UNFENCE, UNCHANGED}:
        raise FatalReplayError(f"no meaning for fenced {fenced}", record, offset)
    if in_controlled_shutdown not in {ENTER_CONTROLLED_SHUTDOWN, UNCHANGED}:
        reason = f"no meaning for in_controlled_shutdown {in_controlled_shutdown}"
        raise FatalReplayError(reason, record, offset)
    if fenced != UNCHANGED:
        registration = replace(registration, fenced=fenced == FENCE)
    if in_controlled_shutdown == ENTER_CONTROLLED_SHUTDOWN:
        registration = replace(registration, in_controlled_shutdown=True)
    leads = image.leads
    if registration.fenced or registration.in_controlled_shutdown:
        # OnlyActiveBrokersLeadInv: the leaderships move in the same write.
        leads -= {broker_id}
    return ClusterImage(image.registrations.set(broker_id, registration), leads, Offset(offset + 1))


def _registration_of(
    image: ClusterImage, record: Record, broker_id: BrokerId, epoch: BrokerEpoch, offset: Offset
) -> BrokerRegistration:
    registration = image.registrations.get(broker_id)
    if registration is None:
        raise FatalReplayError(f"broker {broker_id} is not registered", record, offset)
    if registration.epoch != epoch:
        raise FatalReplayError(
            f"broker {broker_id} is registered with epoch {registration.epoch}, not {epoch}",
            record,
            offset,
        )
    return registration
