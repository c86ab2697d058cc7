"""What an active controller keeps of brokers in memory only, as its records change them.

Kafka: BrokerHeartbeatManager, ClusterControlManager.activate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from immutables import Map

from kraft.controller.heartbeats import Heartbeats, HeartbeatState, heartbeat_state
from kraft.ids import NO_OFFSET
from kraft.records.lease import (
    FENCE,
    UNCHANGED,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed import TypedRecord


def activated(image: MetadataImage, session_timeout_ms: int, now_ms: int) -> Heartbeats:
    """Return what a new active controller starts with: a session for each unfenced broker.

    Spec: BrokerLease!FailOver. Kafka: ClusterControlManager.activate.
    """
    states = {
        broker_id: HeartbeatState(None if registration.fenced else now_ms)
        for broker_id, registration in image.brokers.items()
    }
    return Heartbeats(session_timeout_ms, Map(states))


def after_records(
    heartbeats: Heartbeats, before: MetadataImage, records: Sequence[TypedRecord]
) -> Heartbeats:
    """Return the soft state once these records are replayed onto an image.

    Each record about a broker makes the controller forget the offset it had reported. A session
    outlives all but another incarnation and the end of the registration.

    Spec: BrokerLease!WriteRegistrationChange, BrokerLease!WriteFence, BrokerLease!ForgetSession.
    Kafka: BrokerHeartbeatManager.register, BrokerHeartbeatManager.remove.
    """
    brokers = heartbeats.brokers
    known = {one: (was.incarnation_id, was.fenced) for one, was in before.brokers.items()}
    for record in records:
        match record:
            case RegisterBrokerRecord(broker_id, incarnation_id):
                previous, _ = known.get(broker_id, (None, True))
                contact = brokers.get(broker_id, HeartbeatState()).contact_time_ms
                kept = contact if previous == incarnation_id else None
                brokers = brokers.set(broker_id, HeartbeatState(kept))
                known[broker_id] = incarnation_id, record.fenced
            case (
                BrokerRegistrationChangeRecord(broker_id)
                | FenceBrokerRecord(broker_id)
                | UnfenceBrokerRecord(broker_id)
            ):
                incarnation, was_fenced = known[broker_id]
                fenced = _fenced_by(record, was_fenced)
                known[broker_id] = incarnation, fenced
                state = heartbeat_state(heartbeats, broker_id)
                kept_offset = NO_OFFSET if fenced else state.controlled_shutdown_offset
                changed = HeartbeatState(state.contact_time_ms, NO_OFFSET, kept_offset)
                brokers = brokers.set(broker_id, changed)
            case UnregisterBrokerRecord(broker_id):
                brokers = brokers.delete(broker_id)
                del known[broker_id]
            case _:
                pass
        heartbeats = Heartbeats(heartbeats.session_timeout_ms, brokers)
    return heartbeats


def _fenced_by(record: TypedRecord, was_fenced: bool) -> bool:
    if isinstance(record, BrokerRegistrationChangeRecord):
        return was_fenced if record.fenced == UNCHANGED else record.fenced == FENCE
    return isinstance(record, FenceBrokerRecord)
