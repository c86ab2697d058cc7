"""Images, records and messages of a simulated cluster in the notation of Cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.reassignment.notation import RECOVERY, change_value, partition_value
from krafla.values import Value, function, record
from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.cluster import FeatureLevelRecord, RegisterControllerRecord
from kraft.records.lease import (
    ENTER_CONTROLLED_SHUTDOWN,
    FENCE,
    UNCHANGED,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)
from kraft.records.topics import PartitionChangeRecord
from kraft.rpc import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kraft.sim.cluster.cluster import partition_of

if TYPE_CHECKING:
    from kraft.controller.memory import Memory
    from kraft.image.entries import ControllerRegistration
    from kraft.records.typed_record import TypedRecord
    from kraft.sim.cluster.cluster import Configuration, Envelope

__all__ = ["image_value", "record_value", "request_value", "response_value", "supported_value"]

_FENCED: Final = {FENCE: "FENCE", UNFENCE: "UNFENCE", UNCHANGED: "NONE"}


def image_value(memory: Memory, configuration: Configuration) -> Value:
    """Return an image in memory. Spec: ClusterRecords!Image."""
    image, offsets = memory.image, memory.written.registration_offsets
    registrations: dict[Value, Value] = dict.fromkeys(map(int, configuration.brokers), NIL)
    for broker_id, one in image.brokers.items():
        registrations[int(broker_id)] = record(
            incarnation=str(one.incarnation_id),
            epoch=one.epoch,
            record_offset=offsets[broker_id],
            fenced=one.fenced,
            in_controlled_shutdown=one.in_controlled_shutdown,
        )
    controllers: dict[Value, Value] = dict.fromkeys(map(int, configuration.controllers), NIL)
    for controller_id, registered in image.controllers.items():
        controllers[int(controller_id)] = _controller(registered, configuration)
    return record(
        registrations=function(registrations),
        partition=partition_value(partition_of(memory)),
        controllers=function(controllers),
        metadata_version=image.metadata_version or 0,
        end=memory.end,
    )


def _controller(registered: ControllerRegistration, configuration: Configuration) -> Value:
    supported: Value = frozenset()
    for one in registered.features:
        if one.name == METADATA_VERSION:
            supported = supported_value(configuration, one.minimum, one.maximum)
    return record(incarnation=str(registered.incarnation_id), supported=supported)


def supported_value(configuration: Configuration, lowest: int, highest: int) -> Value:
    """Return the levels within a range. Spec: ClusterRecords!Supported."""
    return frozenset(level for level in configuration.levels if lowest <= level <= highest)


def record_value(one: TypedRecord) -> Value:
    """Return a record that a controller wrote. Spec: ClusterRecords!ReplayRecord."""
    match one:
        case RegisterBrokerRecord():
            return record(
                type="RegisterBrokerRecord",
                broker=one.broker_id,
                incarnation=str(one.incarnation_id),
                epoch=one.broker_epoch,
                fenced=one.fenced,
                in_controlled_shutdown=one.in_controlled_shutdown,
            )
        case BrokerRegistrationChangeRecord():
            return record(
                type="BrokerRegistrationChangeRecord",
                broker=one.broker_id,
                epoch=one.broker_epoch,
                fenced=_FENCED[one.fenced],
                in_controlled_shutdown=one.in_controlled_shutdown == ENTER_CONTROLLED_SHUTDOWN,
            )
        case PartitionChangeRecord():
            return record(type="PartitionChangeRecord", change=change_value(one))
        case RegisterControllerRecord():
            return record(type="RegisterControllerRecord", incarnation=str(one.incarnation_id))
        case FeatureLevelRecord():
            return record(type="FeatureLevelRecord", level=one.feature_level)
        case _:
            return record(type=type(one).__name__)


def request_value(envelope: Envelope, awaited: bool) -> Value:
    """Return a request. Spec: Cluster!IsMessage."""
    fields: dict[str, Value] = {"incarnation": str(envelope.incarnation_id), "awaited": awaited}
    request: Any = envelope.request
    match request:
        case BrokerRegistrationRequest():
            return record(type="RegistrationRequest", **fields)
        case BrokerHeartbeatRequest():
            return record(
                type="HeartbeatRequest",
                epoch=request.broker_epoch,
                metadata_offset=request.current_metadata_offset,
                want_fence=request.want_fence,
                want_shut_down=request.want_shut_down,
                **fields,
            )
        case AlterPartitionRequest():
            (data,) = request.partitions
            return record(
                type="AlterPartitionRequest",
                broker=request.broker_id,
                epoch=request.broker_epoch,
                leader_epoch=data.leader_epoch,
                partition_epoch=data.partition_epoch,
                isr=function(data.new_isr_with_epochs),
                recovery=RECOVERY[data.leader_recovery_state],
                **fields,
            )
        case _:
            raise AssertionError(f"no request of a process: {request}")


def response_value(envelope: Envelope, response: Any) -> Value:
    """Return the answer to a request, sent or still deferred. Spec: Cluster!Response."""
    incarnation = str(envelope.incarnation_id)
    match response:
        case BrokerRegistrationResponse():
            return record(
                type="RegistrationResponse",
                incarnation=incarnation,
                error=response.error_code.name,
                epoch=response.broker_epoch,
            )
        case BrokerHeartbeatResponse():
            return record(
                type="HeartbeatResponse",
                incarnation=incarnation,
                error=response.error_code.name,
                is_caught_up=response.is_caught_up,
                is_fenced=response.is_fenced,
                should_shut_down=response.should_shut_down,
            )
        case AlterPartitionResponse():
            codes = [response.error_code, *(one.error_code for one in response.partitions)]
            return record(
                type="AlterPartitionResponse", incarnation=incarnation, error=codes[-1].name
            )
        case _:
            return record(type=type(response).__name__, incarnation=incarnation)
