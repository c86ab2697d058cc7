"""Brokers send heartbeats or stay silent, and partitions change accordingly.

The rules of the lease (`cluster_control`, `heartbeats`) decide about the broker. This module adds
the records about partitions.

Kafka: ReplicationControlManager.processBrokerHeartbeat, .maybeFenceOneStaleBroker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.controller.operations import cluster_control, leadership
from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.directories import directories_offline
from kraft.controller.operations.heartbeats import (
    after_record,
    end_session,
    fresh_heartbeats,
    heartbeat_state,
    overdue_brokers,
    touch,
)
from kraft.controller.operations.leader_eligibility import metadata_version_of
from kraft.controller.operations.lease_view import WrittenLease
from kraft.controller.operations.result import Generated, Result
from kraft.controller.operations.written import replay_batch
from kraft.errors import ErrorCode
from kraft.ids import Offset
from kraft.image.versions import IBP_3_7_IV2
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.rpc import BrokerHeartbeatResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.operations.written import Written
    from kraft.ids import BrokerId
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc import BrokerHeartbeatRequest

_STALE: Final = BrokerHeartbeatResponse(ErrorCode.STALE_BROKER_EPOCH)
_TIMED_OUT: Final = BrokerHeartbeatResponse(ErrorCode.REQUEST_TIMED_OUT)
_OF_BROKERS: Final = (
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    UnfenceBrokerRecord,
)


def process_broker_heartbeat(
    written: Written,
    heartbeats: Heartbeats,
    defaults: Defaults,
    request: BrokerHeartbeatRequest,
    now_ms: int,
) -> Generated[BrokerHeartbeatResponse]:
    """Return what a heartbeat makes the controller write and answer.

    An accepted heartbeat renews the session. `now_ms` is when the heartbeat arrived.

    Failed directories are handled last, on the partitions after all other changes. Kafka handles
    them on the partitions before those changes: there, a heartbeat that unfences a broker and
    reports a failed directory leaves the broker leading the partitions in that directory, and one
    that begins a controlled shutdown writes the same change twice.

    Spec: BrokerLease!HeedHeartbeat, BrokerLease!RejectHeartbeat.
    Kafka: ReplicationControlManager.processBrokerHeartbeat.
    """
    broker_id = request.broker_id
    if broker_id not in written.registration_offsets:
        return Generated(Result((), _STALE, is_atomic=False), heartbeats)
    lease = cluster_control.process_broker_heartbeat(WrittenLease(written), heartbeats, request)
    response = lease.response
    assert isinstance(response, BrokerHeartbeatResponse)
    if lease.decision is Decision.REJECT_HEARTBEAT:
        return Generated(Result((), response, is_atomic=False), heartbeats)
    records = _records_of(lease.decision, written, defaults, broker_id)
    if metadata_version_of(written.image) >= IBP_3_7_IV2 and request.offline_log_dirs:
        after = replay_batch(written, records, written.end)
        records += directories_offline(after.image, defaults, broker_id, request.offline_log_dirs)
    return Generated(
        Result(records, response, is_atomic=False),
        touch(heartbeats, broker_id, request.current_metadata_offset, now_ms),
        broker_id if lease.decision is Decision.BEGIN_CONTROLLED_SHUTDOWN else None,
    )


def _records_of(
    decision: Decision, written: Written, defaults: Defaults, broker_id: BrokerId
) -> tuple[TypedRecord, ...]:
    """Return the records of a decision about a heartbeat, partitions included."""
    image, index = written.image, written.index
    match decision:
        case Decision.UNFENCE_BROKER:
            return leadership.unfence_broker(image, defaults, broker_id, index)
        case Decision.FENCE_ON_REQUEST | Decision.SHUT_DOWN_NOW:
            return leadership.fence_broker(image, defaults, broker_id, index)
        case Decision.BEGIN_CONTROLLED_SHUTDOWN:
            return leadership.begin_controlled_shutdown(image, defaults, broker_id, index)
        case _:
            return ()


def process_expired_broker_heartbeat(
    written: Written,
    heartbeats: Heartbeats,
    defaults: Defaults,  # noqa: ARG001 - the signature of the other operations
    request: BrokerHeartbeatRequest,
    now_ms: int,
) -> Generated[BrokerHeartbeatResponse]:
    """Return the result of a heartbeat that waited too long: it only renews the session.

    The sender no longer waits for the answer (KAFKA-15019). `now_ms` is when the heartbeat arrived.
    A simulated controller has no queue of requests, so only users call it.

    Kafka: ReplicationControlManager.processExpiredBrokerHeartbeat.
    """
    broker_id = request.broker_id
    lease = WrittenLease(written)
    if not cluster_control.is_current_epoch(lease, broker_id, request.broker_epoch):
        return Generated(Result((), _STALE, is_atomic=False), heartbeats)
    touched = touch(heartbeats, broker_id, request.current_metadata_offset, now_ms)
    return Generated(Result((), _TIMED_OUT, is_atomic=False), touched)


def maybe_fence_stale_broker(
    written: Written, heartbeats: Heartbeats, defaults: Defaults, now_ms: int
) -> Generated[bool]:
    """Return the fencing of the broker that was silent longest, and whether to run again at once.

    It fences one broker at a time, because the next one must see the changed partitions
    (KAFKA-13173). Of two brokers that were silent equally long, the one with the lower id goes
    first. A broker that is already fenced is fenced again when its session runs out.

    Spec: BrokerLease!FenceStaleBroker.
    Kafka: ReplicationControlManager.maybeFenceOneStaleBroker, where hashing decides which is first.
    """
    overdue = overdue_brokers(heartbeats, now_ms)
    if not overdue:
        return Generated(Result((), response=False, is_atomic=False), heartbeats)

    def silent_since(broker_id: BrokerId) -> tuple[int, BrokerId]:
        contact_time_ms = heartbeat_state(heartbeats, broker_id).contact_time_ms
        assert contact_time_ms is not None, "an overdue broker had a session"
        return contact_time_ms, broker_id

    broker_id = min(overdue, key=silent_since)
    lease = cluster_control.fence_stale_broker(WrittenLease(written), heartbeats, broker_id, now_ms)
    assert lease.decision is Decision.FENCE_STALE_BROKER
    records = leadership.fence_broker(written.image, defaults, broker_id, written.index)
    result = Result(records, response=True, is_atomic=False)
    return Generated(result, end_session(heartbeats, broker_id))


def heartbeats_on_activation(written: Written, defaults: Defaults, now_ms: int) -> Heartbeats:
    """Return the soft state of a new active controller: a whole session for each unfenced broker.

    A fenced broker has no session. No broker has reported an offset yet.

    Spec: BrokerLease!FailOver.
    Kafka: ClusterControlManager.activate.
    """
    timeout_ms = defaults.broker_session_timeout_ms
    return fresh_heartbeats(WrittenLease(written), timeout_ms, now_ms)


def replay_with_heartbeats(
    written: Written, heartbeats: Heartbeats, records: Sequence[TypedRecord], base_offset: Offset
) -> tuple[Written, Heartbeats]:
    """Return the state and the soft state of the brokers after a batch.

    Raises RefusedRecordError if the records before it rule a record out.
    Kafka: ClusterControlManager.replay, BrokerHeartbeatManager.register.
    """
    start = 0
    for index, record in enumerate(records):
        if not isinstance(record, _OF_BROKERS):
            continue
        before = replay_batch(written, records[start:index], Offset(base_offset + start))
        written = replay_batch(before, (record,), Offset(base_offset + index))
        heartbeats = after_record(heartbeats, WrittenLease(before), WrittenLease(written), record)
        start = index + 1
    return replay_batch(written, records[start:], Offset(base_offset + start)), heartbeats


def heartbeats_after(
    heartbeats: Heartbeats, before: Written, records: Sequence[TypedRecord], base_offset: Offset
) -> Heartbeats:
    """Return the soft state of the brokers after the records of a batch.

    Raises RefusedRecordError if the records before it rule a record out.
    Kafka: BrokerHeartbeatManager.register, BrokerHeartbeatManager.remove.
    """
    # The soft state depends on no partition, and a batch may change thousands of them.
    about_brokers = [record for record in records if isinstance(record, _OF_BROKERS)]
    if not about_brokers:
        return heartbeats
    return replay_with_heartbeats(before, heartbeats, about_brokers, base_offset)[1]
