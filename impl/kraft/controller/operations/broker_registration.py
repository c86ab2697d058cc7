"""Brokers register and are unregistered, and partitions change accordingly.

The rules of the lease (`cluster_control`) decide which process may have a broker id, and its epoch.

Kafka: ClusterControlManager.registerBroker, ReplicationControlManager.unregisterBroker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kraft.controller.operations import cluster_control, leadership
from kraft.controller.operations.cluster_control import Decision
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.leader_eligibility import metadata_version_of
from kraft.controller.operations.lease_view import WrittenLease
from kraft.controller.operations.registration_checks import (
    check_cluster,
    check_directories,
    endpoints_of,
    features_of,
)
from kraft.controller.operations.result import Generated, Result
from kraft.controller.operations.user_batch import UserBatch
from kraft.errors import ErrorCode
from kraft.image.versions import IBP_3_7_IV2
from kraft.records.lease import RegisterBrokerRecord
from kraft.rpc import BrokerRegistrationResponse, UnregisterBrokerRequest, UnregisterBrokerResponse

if TYPE_CHECKING:
    from kraft.controller.operations.cluster_control import ControllerResult
    from kraft.controller.operations.defaults import Defaults
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.operations.written import Written
    from kraft.ids import BrokerId
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord
    from kraft.rpc import BrokerRegistrationRequest


def register_broker(
    written: Written,
    heartbeats: Heartbeats,
    defaults: Defaults,
    request: BrokerRegistrationRequest,
    now_ms: int,
    kraft_version: int,
) -> Generated[BrokerRegistrationResponse]:
    """Return the registration of a broker, or the first reason to refuse it.

    Records before the registration take the broker's previous process out of every ISR. The broker
    epoch is the offset of the first of all these records, so it may be less than the offset of the
    registration. A broker that sends its registered epoch as the previous one stopped cleanly and
    stays eligible to lead. In KIP-631's profile the registration begins a session. `kraft_version`
    is Raft's: the broker must support it.

    Raises ControllerFaultError for an invalid listener.
    Spec: BrokerLease!RegisterBroker, Reassignment!RegisterBroker.
    Kafka: ClusterControlManager.registerBroker. KIP-631, KIP-966.
    """
    try:
        records, response = _registration(
            written, heartbeats, defaults, request, now_ms, kraft_version
        )
    except ControllerError as error:
        records, response = (), BrokerRegistrationResponse(error.code)
    is_contact = defaults.profile.registration_is_contact and bool(records)
    heard = request.broker_id if is_contact else None
    return Generated(Result(records, response, is_atomic=False), heartbeats, heard=heard)


def _registration(
    written: Written,
    heartbeats: Heartbeats,
    defaults: Defaults,
    request: BrokerRegistrationRequest,
    now_ms: int,
    kraft_version: int,
) -> tuple[tuple[TypedRecord, ...], BrokerRegistrationResponse]:
    check_cluster(defaults, request)
    lease = cluster_control.register_broker(WrittenLease(written), heartbeats, request, now_ms)
    response = lease.response
    assert isinstance(response, BrokerRegistrationResponse)
    if lease.decision is Decision.REFUSE_REGISTRATION:
        return (), response
    image = written.image
    check_directories(image, request)
    record = _filled_in(image, request, lease, kraft_version)
    if lease.decision is Decision.AMEND_REGISTRATION:
        return (record,), response
    previous = image.brokers.get(request.broker_id)
    clean = previous is not None and previous.epoch == request.previous_broker_epoch
    records = leadership.register_broker(image, defaults, record, written.index, clean=clean)
    return records, response


def _filled_in(
    image: MetadataImage,
    request: BrokerRegistrationRequest,
    lease: ControllerResult,
    kraft_version: int,
) -> RegisterBrokerRecord:
    """Return the lease's record with the fields that the lease does not know."""
    (record,) = lease.records
    assert isinstance(record, RegisterBrokerRecord)
    has_directories = metadata_version_of(image) >= IBP_3_7_IV2
    return replace(
        record,
        endpoints=endpoints_of(request),
        features=features_of(image, request, kraft_version),
        rack=request.rack,
        is_migrating_zk_broker=request.is_migrating_zk_broker,
        log_dirs=request.log_dirs if has_directories else (),
    )


def unregister_broker(
    written: Written, heartbeats: Heartbeats, defaults: Defaults, broker_id: BrokerId
) -> Generated[UnregisterBrokerResponse]:
    """Return the end of a registration, whatever its state; the broker stays a replica.

    The answer is BROKER_ID_NOT_REGISTERED for an unknown id, and POLICY_VIOLATION if the operation
    needs more records than one operator's request may write.

    Spec: BrokerLease!UnregisterBroker, Reassignment!UnregisterBroker.
    Kafka: ReplicationControlManager.unregisterBroker.
    """
    records: tuple[TypedRecord, ...] = ()
    response = UnregisterBrokerResponse()
    if broker_id not in written.image.brokers:
        reason = f"no broker {broker_id} is registered"
        response = UnregisterBrokerResponse(ErrorCode.BROKER_ID_NOT_REGISTERED, reason)
    else:
        request = UnregisterBrokerRequest(broker_id)
        lease = cluster_control.unregister_broker(WrittenLease(written), request)
        records = leadership.unregister_broker(written.image, defaults, broker_id, written.index)
        assert records[-1] == lease.records[-1], "the last record is the lease's"
        try:
            UserBatch().add(records)
        except ControllerError as error:
            records, response = (), UnregisterBrokerResponse(error.code, error.reason)
    return Generated(Result(records, response, is_atomic=False), heartbeats)
