"""Which request is which operation, and what an active controller does by itself.

Another request is another line of WRITES or READS, another periodic task another line of TASKS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.manager_operations import MANAGER_WRITES
from kraft.controller.operation_context import (
    Operation,
    OperationContext,
    Read,
    new_uuids,
    of_brokers_in_time,
    of_image,
)
from kraft.controller.operations.alter_partition import alter_partition
from kraft.controller.operations.broker_heartbeats import (
    maybe_fence_stale_broker,
    process_broker_heartbeat,
)
from kraft.controller.operations.broker_registration import register_broker, unregister_broker
from kraft.controller.operations.delegation_tokens import sweep_expired_delegation_tokens
from kraft.controller.operations.directories import assign_replicas_to_dirs
from kraft.controller.operations.elections import (
    balance_partition_leaders,
    elect_leaders,
    elect_unclean_leaders,
)
from kraft.controller.operations.reassignments import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraft.controller.operations.result import Generated, Result
from kraft.controller.operations.topics import create_partitions, create_topics, delete_topics
from kraft.ids import TopicId
from kraft.image.versions import IBP_3_3_IV1
from kraft.records.lease import NoOpRecord
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
)
from kraft.rpc.topics import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.controller.configuration import Configuration

FENCE_CHECKS: Final = 8
"""How often in a session timeout the controller looks for brokers that are silent.

Kafka: QuorumController.registerMaybeFenceStaleBroker.
"""


@dataclass(frozen=True, slots=True)
class Task:
    """What an active controller does by itself; its response says whether to come again soon.

    Kafka: PeriodicTask.
    """

    name: str
    operation: Operation
    period_ms: Callable[[Configuration], int]


@dataclass(frozen=True, slots=True)
class Operations:
    """What a controller can be asked to write, and to read, by the type of the request."""

    writes: Mapping[type[Any], Operation]
    reads: Mapping[type[Any], Read]
    tasks: tuple[Task, ...] = ()


def _create_topics(asked: OperationContext) -> Result[Any]:
    request: CreateTopicsRequest = asked.request
    ids = tuple(TopicId(one) for one in new_uuids(asked.chance, len(request.topics)))
    return create_topics(asked.image, asked.defaults, request, ids, asked.chance)


def _create_partitions(asked: OperationContext) -> Result[Any]:
    return create_partitions(asked.image, asked.request, asked.chance)


def _delete_topics(asked: OperationContext) -> Result[DeleteTopicsResponse]:
    request: DeleteTopicsRequest = asked.request
    result = delete_topics(asked.image, request.topic_ids)
    response = DeleteTopicsResponse(tuple(result.response.items()))
    return Result(result.records, response, result.is_atomic)


def _no_op(asked: OperationContext) -> Result[bool]:
    """Write a record that says nothing, so that offsets move. Kafka: NoOpRecord. KIP-835."""
    version = asked.image.metadata_version
    # Kafka: MetadataVersion.isNoOpRecordSupported.
    records = (NoOpRecord(),) if version is not None and version >= IBP_3_3_IV1 else ()
    return Result(records, response=False)


def _unregister_broker(asked: OperationContext) -> Generated[Any]:
    request: UnregisterBrokerRequest = asked.request
    return unregister_broker(asked.written, asked.heartbeats, asked.defaults, request.broker_id)


def _fence_stale_broker(asked: OperationContext) -> Generated[bool]:
    return maybe_fence_stale_broker(asked.written, asked.heartbeats, asked.defaults, asked.now_ms)


WRITES: Final[Mapping[type[Any], Operation]] = {
    AlterPartitionRequest: of_image(alter_partition),
    AlterPartitionReassignmentsRequest: of_image(alter_partition_reassignments),
    AssignReplicasToDirsRequest: of_image(assign_replicas_to_dirs),
    BrokerHeartbeatRequest: of_brokers_in_time(process_broker_heartbeat),
    BrokerRegistrationRequest: of_brokers_in_time(register_broker),
    CreatePartitionsRequest: _create_partitions,
    CreateTopicsRequest: _create_topics,
    DeleteTopicsRequest: _delete_topics,
    ElectLeadersRequest: of_image(elect_leaders),
    UnregisterBrokerRequest: _unregister_broker,
    **MANAGER_WRITES,
}

READS: Final[Mapping[type[Any], Read]] = {
    ListPartitionReassignmentsRequest: list_partition_reassignments,
}

TASKS: Final = (
    Task(
        "maybeFenceStaleBroker",
        _fence_stale_broker,
        lambda configuration: configuration.defaults.broker_session_timeout_ms // FENCE_CHECKS,
    ),
    Task(
        "electPreferred",
        lambda asked: balance_partition_leaders(asked.image, asked.defaults),
        lambda configuration: configuration.leader_imbalance_check_interval_ms,
    ),
    Task(
        "electUnclean",
        lambda asked: elect_unclean_leaders(asked.image, asked.defaults),
        lambda configuration: configuration.unclean_leader_election_check_interval_ms,
    ),
    Task(
        "expireDelegationTokens",
        lambda asked: sweep_expired_delegation_tokens(asked.image, asked.now_ms),
        lambda configuration: configuration.delegation_token_expiry_check_interval_ms,
    ),
    Task(
        "writeNoOpRecord", _no_op, lambda configuration: configuration.metadata_max_idle_interval_ms
    ),
)

OPERATIONS: Final = Operations(WRITES, READS, TASKS)
"""All that Kafka's clients may ask of a controller here."""
