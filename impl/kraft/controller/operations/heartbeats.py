"""The soft state of brokers, which only the active controller has: sessions and reported offsets.

A new controller starts without it. Times are integers in milliseconds by the controller's clock.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.ids import NO_OFFSET
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)

if TYPE_CHECKING:
    from kraft.controller.operations.lease_view import BrokerRegistration, LeaseView
    from kraft.ids import BrokerId, Offset
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc import BrokerHeartbeatRequest


class BrokerControlState(enum.Enum):
    """The state of a broker after a heartbeat; SHUTDOWN_NOW occurs only in answers.

    Kafka: BrokerControlState.
    """

    FENCED = "FENCED"
    UNFENCED = "UNFENCED"
    CONTROLLED_SHUTDOWN = "CONTROLLED_SHUTDOWN"
    SHUTDOWN_NOW = "SHUTDOWN_NOW"


@dataclass(frozen=True, slots=True)
class HeartbeatState:
    """The soft state of one registered broker.

    `contact_time_ms` is None while there is no session. The session belongs to the registered
    epoch; contacts under other epochs are not kept, because nothing reads them.

    Kafka: BrokerHeartbeatManager.BrokerHeartbeatState, BrokerHeartbeatTracker.
    """

    contact_time_ms: int | None = None
    metadata_offset: Offset = NO_OFFSET
    controlled_shutdown_offset: Offset = NO_OFFSET


_NO_STATE: Final = HeartbeatState()
_NO_BROKERS: Final[Map[BrokerId, HeartbeatState]] = Map()


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """The soft state of every registered broker, and the session timeout.

    Kafka: BrokerHeartbeatManager.
    """

    session_timeout_ms: int
    brokers: Map[BrokerId, HeartbeatState] = _NO_BROKERS


def heartbeat_state(heartbeats: Heartbeats, broker_id: BrokerId) -> HeartbeatState:
    """Return the soft state of a broker; an empty one if it is not registered."""
    return heartbeats.brokers.get(broker_id, _NO_STATE)


def has_valid_session(heartbeats: Heartbeats, broker_id: BrokerId, now_ms: int) -> bool:
    """Return whether the broker has a session that has not run out, its last moment included.

    Spec: BrokerLease!HasValidSession.
    Kafka: BrokerHeartbeatTracker.hasValidSession.
    """
    contact_time_ms = heartbeat_state(heartbeats, broker_id).contact_time_ms
    return contact_time_ms is not None and is_within_session(heartbeats, contact_time_ms, now_ms)


def is_within_session(heartbeats: Heartbeats, contact_time_ms: int, now_ms: int) -> bool:
    """Return whether a contact is recent enough: a session ends after its timeout, not at it."""
    return now_ms - contact_time_ms <= heartbeats.session_timeout_ms


def is_overdue(heartbeats: Heartbeats, broker_id: BrokerId, now_ms: int) -> bool:
    """Return whether a broker's session ran out, so that it is to be fenced.

    Kafka: BrokerHeartbeatTracker.maybeRemoveExpired.
    """
    contact_time_ms = heartbeat_state(heartbeats, broker_id).contact_time_ms
    return contact_time_ms is not None and not is_within_session(
        heartbeats, contact_time_ms, now_ms
    )


def overdue_brokers(heartbeats: Heartbeats, now_ms: int) -> tuple[BrokerId, ...]:
    """Return the brokers whose session ran out, by id. Any of them may be fenced first."""
    return tuple(
        broker_id
        for broker_id in sorted(heartbeats.brokers)
        if is_overdue(heartbeats, broker_id, now_ms)
    )


def is_shutting_down(heartbeats: Heartbeats, broker_id: BrokerId) -> bool:
    """Return whether this controller knows that the broker is in controlled shutdown.

    Spec: BrokerLease!ShuttingDown.
    Kafka: BrokerHeartbeatState.shuttingDown.
    """
    return heartbeat_state(heartbeats, broker_id).controlled_shutdown_offset != NO_OFFSET


def lowest_active_offset(image: LeaseView, heartbeats: Heartbeats) -> Offset | None:
    """Return the lowest offset reported by brokers that stay in the cluster; None without any.

    Spec: BrokerLease!StayingBrokers.
    Kafka: BrokerHeartbeatManager.lowestActiveOffset.
    """
    return min(
        (
            heartbeat_state(heartbeats, broker_id).metadata_offset
            for broker_id, registration in image.registrations.items()
            if not registration.fenced and not is_shutting_down(heartbeats, broker_id)
        ),
        default=None,
    )


def is_shutdown_seen(image: LeaseView, heartbeats: Heartbeats, broker_id: BrokerId) -> bool:
    """Return whether every staying broker has replayed the loss of this broker's leaderships.

    Spec: BrokerLease!CaughtUpWithShutdown.
    Kafka: BrokerHeartbeatManager.calculateNextBrokerState.
    """
    lowest = lowest_active_offset(image, heartbeats)
    state = heartbeat_state(heartbeats, broker_id)
    return lowest is None or lowest >= state.controlled_shutdown_offset


def is_caught_up(registration: BrokerRegistration, request: BrokerHeartbeatRequest) -> bool:
    """Return whether a broker has replayed its own registration (KAFKA-13959).

    Kafka: ReplicationControlManager.processBrokerHeartbeat.
    """
    return request.current_metadata_offset >= registration.record_offset


def next_broker_state(
    image: LeaseView, heartbeats: Heartbeats, request: BrokerHeartbeatRequest
) -> BrokerControlState:
    """Return the broker state, such as fenced, with which the controller answers a heartbeat.

    Spec: BrokerLease!NextBrokerState.
    Kafka: BrokerHeartbeatManager.calculateNextBrokerState.
    """
    broker_id = request.broker_id
    registration = image.registrations[broker_id]
    leads = broker_id in image.leads
    if is_shutting_down(heartbeats, broker_id):
        if not leads and is_shutdown_seen(image, heartbeats, broker_id):
            return BrokerControlState.SHUTDOWN_NOW
        return BrokerControlState.CONTROLLED_SHUTDOWN
    if registration.fenced:
        return _next_state_of_fenced(registration, request)
    if request.want_fence:
        if request.want_shut_down:
            return BrokerControlState.SHUTDOWN_NOW
        return BrokerControlState.FENCED
    if request.want_shut_down:
        return BrokerControlState.CONTROLLED_SHUTDOWN if leads else BrokerControlState.SHUTDOWN_NOW
    return BrokerControlState.UNFENCED


def _next_state_of_fenced(
    registration: BrokerRegistration, request: BrokerHeartbeatRequest
) -> BrokerControlState:
    if request.want_shut_down:
        return BrokerControlState.SHUTDOWN_NOW
    if not request.want_fence and is_caught_up(registration, request):
        return BrokerControlState.UNFENCED
    return BrokerControlState.FENCED


def touch(
    heartbeats: Heartbeats, broker_id: BrokerId, metadata_offset: Offset, now_ms: int
) -> Heartbeats:
    """Return the soft state after a heartbeat: it renews the session and notes the offset.

    Kafka: BrokerHeartbeatManager.touch.
    """
    assert broker_id in heartbeats.brokers, f"broker {broker_id} is not registered"
    state = heartbeat_state(heartbeats, broker_id)
    touched = HeartbeatState(now_ms, metadata_offset, state.controlled_shutdown_offset)
    return _with_state(heartbeats, broker_id, touched)


def begin_controlled_shutdown(
    heartbeats: Heartbeats, broker_id: BrokerId, offset: Offset
) -> Heartbeats:
    """Return the soft state in which the broker may stop once the others have reached `offset`.

    Kafka: BrokerHeartbeatManager.maybeUpdateControlledShutdownOffset.
    """
    state = heartbeat_state(heartbeats, broker_id)
    assert state.controlled_shutdown_offset == NO_OFFSET, "set once (KAFKA-14292)"
    return _with_state(heartbeats, broker_id, replace(state, controlled_shutdown_offset=offset))


def end_session(heartbeats: Heartbeats, broker_id: BrokerId) -> Heartbeats:
    """Return the soft state without a session of a broker.

    Kafka: BrokerHeartbeatTracker.maybeRemoveExpired.
    """
    state = heartbeat_state(heartbeats, broker_id)
    return _with_state(heartbeats, broker_id, replace(state, contact_time_ms=None))


def after_record(
    heartbeats: Heartbeats, before: LeaseView, after: LeaseView, record: TypedRecord
) -> Heartbeats:
    """Return the soft state after a record whose replay turned the image `before` into `after`.

    A record about a broker clears the offset that the broker had reported. A session ends only with
    another incarnation or with the registration.

    Spec: BrokerLease!WriteRegistrationChange, BrokerLease!WriteFence, BrokerLease!ForgetSession.
    Kafka: BrokerHeartbeatManager.register, BrokerHeartbeatManager.remove.
    """
    match record:
        case RegisterBrokerRecord(broker_id, incarnation_id):
            previous = before.registrations.get(broker_id)
            if previous is None or previous.incarnation_id != incarnation_id:
                return _with_state(heartbeats, broker_id, _NO_STATE)
            session = HeartbeatState(heartbeat_state(heartbeats, broker_id).contact_time_ms)
            return _with_state(heartbeats, broker_id, session)
        case (
            BrokerRegistrationChangeRecord(broker_id)
            | FenceBrokerRecord(broker_id)
            | UnfenceBrokerRecord(broker_id)
        ):
            state = heartbeat_state(heartbeats, broker_id)
            fenced = after.registrations[broker_id].fenced
            kept = NO_OFFSET if fenced else state.controlled_shutdown_offset
            changed = HeartbeatState(state.contact_time_ms, NO_OFFSET, kept)
            return _with_state(heartbeats, broker_id, changed)
        case UnregisterBrokerRecord(broker_id):
            return Heartbeats(heartbeats.session_timeout_ms, heartbeats.brokers.delete(broker_id))
        case _:
            return heartbeats


def fresh_heartbeats(image: LeaseView, session_timeout_ms: int, now_ms: int) -> Heartbeats:
    """Return the soft state of a new controller: a whole session for each unfenced broker.

    Kafka: ClusterControlManager.activate.
    """
    states = {
        broker_id: HeartbeatState(None if registration.fenced else now_ms)
        for broker_id, registration in image.registrations.items()
    }
    return Heartbeats(session_timeout_ms, Map(states))


def _with_state(heartbeats: Heartbeats, broker_id: BrokerId, state: HeartbeatState) -> Heartbeats:
    brokers = heartbeats.brokers.set(broker_id, state)
    return Heartbeats(heartbeats.session_timeout_ms, brokers)
