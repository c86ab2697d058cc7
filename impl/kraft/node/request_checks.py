"""Requests that are refused unseen: they would depose the controller, or make it do what none may.

Brokers, controllers and Kafka's clients send none of these. Any other client of its listener
deposes Kafka's active controller by some, and makes it register nodes that cannot be by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.controller.effects import Failure
from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, IncarnationId
from kraft.records.limits import MAX_RECORDS_PER_USER_OP
from kraft.records.topics import RECOVERED, RECOVERING
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.broker_registration import BrokerRegistrationRequest
from kraft.rpc.configurations import (
    AlterConfigsRequest,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.describe_configs import DescribeConfigsRequest
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.partition_reassignments import AlterPartitionReassignmentsRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kraft.rpc.node_description import Listener

_SECURITY_PROTOCOLS: Final = range(4)
_PORTS: Final = range(1, 2**16)
_NO_NAME: Final = "a configuration without a name"
_CHANGES_A_LIST: Final = (ConfigOperation.APPEND, ConfigOperation.SUBTRACT)


def refusal_of(request: Any, finalized: Mapping[str, int]) -> Failure | None:
    """Return why a request is refused unseen; None if it is not.

    `finalized` are the levels of the features that each controller has to support.
    Kafka: ListenerInfo.fromBrokerRegistrationRequest, LeaderRecoveryState.of,
    ConfigurationControlManager.incrementalAlterConfigResource: what they throw is no refusal.
    """
    if isinstance(request, ControllerRegistrationRequest):
        unsupported = _unsupported(request, finalized)
        if unsupported is not None:
            return Failure(ErrorCode.UNSUPPORTED_VERSION, unsupported)
    check = _CHECKS.get(type(request))
    reason = None if check is None else check(request)
    return None if reason is None else Failure(ErrorCode.INVALID_REQUEST, reason)


def _unsupported(
    request: ControllerRegistrationRequest, finalized: Mapping[str, int]
) -> str | None:
    """Return the feature that a controller does not support; it could not read the log."""
    supported = {one.name: range(one.minimum, one.maximum + 1) for one in request.features}
    for name, level in finalized.items():
        if level and level not in supported.get(name, ()):
            return f"the controller does not support {name} at level {level}"
    return None


def _broker(request: BrokerRegistrationRequest) -> str | None:
    return _node(request, request.broker_id)


def _controller(request: ControllerRegistrationRequest) -> str | None:
    return _node(request, request.controller_id) or (
        None if request.listeners else "a controller has a listener"
    )


def _node(
    request: BrokerRegistrationRequest | ControllerRegistrationRequest, node_id: int
) -> str | None:
    if node_id < 0:
        return f"{node_id} is no id of a node"
    if request.incarnation_id == IncarnationId(ZERO_UUID):
        return "a process without an id"
    for listener in request.listeners:
        objection = _listener(listener)
        if objection is not None:
            return objection
    names = {one.name for one in request.features}
    if len(names) < len(request.features):
        return "a feature is named twice"
    if any(one.minimum > one.maximum for one in request.features):
        return "a feature has a highest level below its lowest"
    return None


def _listener(listener: Listener) -> str | None:
    if listener.security_protocol not in _SECURITY_PROTOCOLS:
        return f"no security protocol has the number {listener.security_protocol}"
    if listener.port not in _PORTS:
        return f"{listener.port} is not a port of a listener"
    if not listener.host.strip():
        return "a listener has no host"
    if listener.name != listener.name.upper():
        return "a name of a listener has no small letters"
    return None


def _altered(request: AlterPartitionRequest) -> str | None:
    for one in request.partitions:
        if one.leader_recovery_state not in (RECOVERED, RECOVERING):
            return f"no leader recovery state has the number {one.leader_recovery_state}"
    return _named_twice((one.topic_id, one.partition_index) for one in request.partitions)


def _assigned(request: AssignReplicasToDirsRequest) -> str | None:
    return _named_twice(one[1:] for one in request.assignments)


def _elected(request: ElectLeadersRequest) -> str | None:
    return _named_twice(request.topic_partitions or ())


def _reassigned(request: AlterPartitionReassignmentsRequest) -> str | None:
    return _named_twice((one.name, one.partition_index) for one in request.partitions)


def _named_twice(partitions: Iterable[Any]) -> str | None:
    """Refuse a second change of a partition: it would be made to the state before the first."""
    seen = tuple(partitions)
    return None if len(set(seen)) == len(seen) else "a partition is named twice"


def _configs(request: IncrementalAlterConfigsRequest) -> str | None:
    for resource in request.resources:
        for one in resource.configs:
            if one.value is None and one.config_operation in _CHANGES_A_LIST:
                return f"{one.config_operation.name} without a value"
            if not one.name:
                return _NO_NAME
    return None


def _replaced(request: AlterConfigsRequest) -> str | None:
    names = (name for resource in request.resources for name, _ in resource.configs)
    return None if all(names) else _NO_NAME


def _described(request: DescribeConfigsRequest) -> str | None:
    """Refuse what has an answer out of all proportion: a group of any name has ten settings."""
    if len(request.resources) > MAX_RECORDS_PER_USER_OP:
        return f"{len(request.resources)} resources, more than {MAX_RECORDS_PER_USER_OP}"
    named = {(one.resource_type, one.resource_name) for one in request.resources}
    return None if len(named) == len(request.resources) else "a resource is named twice"


_CHECKS: Final[Mapping[type[Any], Callable[[Any], str | None]]] = {
    AlterConfigsRequest: _replaced,
    AlterPartitionReassignmentsRequest: _reassigned,
    AlterPartitionRequest: _altered,
    AssignReplicasToDirsRequest: _assigned,
    BrokerRegistrationRequest: _broker,
    ControllerRegistrationRequest: _controller,
    DescribeConfigsRequest: _described,
    ElectLeadersRequest: _elected,
    IncrementalAlterConfigsRequest: _configs,
}
