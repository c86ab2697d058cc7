"""The table of the controller's operations: one line for each request, read and periodic task.

Functions of an operation module take only what they need. An adapter `given_...` makes an operation
of such a function: its name says what the function is given besides the request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.controller.operation_context import Operation, OperationContext, Read, new_uuids
from kraft.controller.operations.access_control import create_acls, delete_acls
from kraft.controller.operations.alter_partition import alter_partition
from kraft.controller.operations.broker_heartbeats import (
    maybe_fence_stale_broker,
    process_broker_heartbeat,
)
from kraft.controller.operations.broker_registration import register_broker, unregister_broker
from kraft.controller.operations.client_quotas import alter_client_quotas
from kraft.controller.operations.configurations import (
    incremental_alter_configs,
    legacy_alter_configs,
)
from kraft.controller.operations.controller_registration import register_controller
from kraft.controller.operations.delegation_tokens import (
    create_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
    sweep_expired_delegation_tokens,
)
from kraft.controller.operations.directories import assign_replicas_to_dirs
from kraft.controller.operations.elections import (
    balance_partition_leaders,
    elect_leaders,
    elect_unclean_leaders,
)
from kraft.controller.operations.features import update_features
from kraft.controller.operations.producer_ids import allocate_producer_ids
from kraft.controller.operations.reassignments import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraft.controller.operations.result import Generated, Result
from kraft.controller.operations.scram import alter_user_scram_credentials
from kraft.controller.operations.topics import create_partitions, create_topics, delete_topics
from kraft.ids import TopicId
from kraft.image.versions import IBP_3_3_IV1
from kraft.records.lease import NoOpRecord
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from kraft.rpc.access_control import CreateAclsRequest, DeleteAclsRequest
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest
from kraft.rpc.configurations import AlterConfigsRequest, IncrementalAlterConfigsRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.delegation_tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
)
from kraft.rpc.scram import AlterUserScramCredentialsRequest
from kraft.rpc.topics import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kraft.rpc.update_features import UpdateFeaturesRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.controller.configuration import Configuration

FENCE_CHECKS: Final = 8
"""How often in a session timeout the controller looks for silent brokers.

Kafka: QuorumController.registerMaybeFenceStaleBroker.
"""


@dataclass(frozen=True, slots=True)
class Task:
    """An operation that the active controller runs periodically.

    Its response says whether to run it again soon.

    Kafka: PeriodicTask.
    """

    name: str
    operation: Operation
    period_ms: Callable[[Configuration], int]


@dataclass(frozen=True, slots=True)
class Operations:
    """The writes and the reads of a controller, by the type of the request, and its tasks."""

    writes: Mapping[type[Any], Operation]
    reads: Mapping[type[Any], Read]
    tasks: tuple[Task, ...] = ()


def given_image(operation: Callable[..., Result[Any]]) -> Operation:
    """Return the operation of a function that takes image and request."""
    return lambda context: operation(context.image, context.request)


def given_defaults(operation: Callable[..., Result[Any]]) -> Operation:
    """Return the operation of a function that takes image, defaults and request."""
    return lambda context: operation(context.image, context.defaults, context.request)


def given_principal(operation: Callable[..., Result[Any]]) -> Operation:
    """Return the operation of a function that takes image, defaults, request, principal and time.

    The time is in milliseconds.
    """
    return lambda context: operation(
        context.image, context.defaults, context.request, context.principal, context.now_ms
    )


def given_heartbeats(operation: Callable[..., Generated[Any]]) -> Operation:
    """Wrap a function as an operation.

    It takes the written state, the heartbeats, the defaults, the request and the time in
    milliseconds.
    """
    return lambda context: operation(
        context.written, context.heartbeats, context.defaults, context.request, context.now_ms
    )


def _create_acls(context: OperationContext) -> Result[Any]:
    request: CreateAclsRequest = context.request
    return create_acls(context.image, request, new_uuids(context.chance, len(request.creations)))


def _create_delegation_token(context: OperationContext) -> Result[Any]:
    (token_id,) = new_uuids(context.chance, 1)
    return create_delegation_token(
        context.image,
        context.defaults,
        context.request,
        context.principal,
        token_id,
        context.now_ms,
    )


def _create_partitions(context: OperationContext) -> Result[Any]:
    return create_partitions(context.image, context.request, context.chance)


def _create_topics(context: OperationContext) -> Result[Any]:
    request: CreateTopicsRequest = context.request
    ids = tuple(TopicId(one) for one in new_uuids(context.chance, len(request.topics)))
    return create_topics(context.image, context.defaults, request, ids, context.chance)


def _delete_topics(context: OperationContext) -> Result[DeleteTopicsResponse]:
    request: DeleteTopicsRequest = context.request
    result = delete_topics(context.image, request.topic_ids)
    response = DeleteTopicsResponse(tuple(result.response.items()))
    return Result(result.records, response, result.is_atomic)


def _register_broker(context: OperationContext) -> Generated[Any]:
    assert context.kraft_version is not None, "a request brings the kraft.version"
    return register_broker(
        context.written,
        context.heartbeats,
        context.defaults,
        context.request,
        context.now_ms,
        context.kraft_version,
    )


def _unregister_broker(context: OperationContext) -> Generated[Any]:
    request: UnregisterBrokerRequest = context.request
    return unregister_broker(
        context.written, context.heartbeats, context.defaults, request.broker_id
    )


def _update_features(context: OperationContext) -> Result[Any]:
    assert context.kraft_version is not None, "a request brings the kraft.version"
    return update_features(context.image, context.defaults, context.request, context.kraft_version)


def fence_stale_broker(context: OperationContext) -> Generated[bool]:
    """Fence at most one silent broker.

    Kafka: ReplicationControlManager.maybeFenceOneStaleBroker.
    """
    return maybe_fence_stale_broker(
        context.written, context.heartbeats, context.defaults, context.now_ms
    )


def _write_no_op(context: OperationContext) -> Result[bool]:
    """Write a record that changes nothing, so that offsets move. Kafka: NoOpRecord. KIP-835."""
    version = context.image.metadata_version
    # Kafka: MetadataVersion.isNoOpRecordSupported.
    records = (NoOpRecord(),) if version is not None and version >= IBP_3_3_IV1 else ()
    return Result(records, response=False)


OPERATIONS: Final = Operations(
    writes={
        AllocateProducerIdsRequest: given_image(allocate_producer_ids),
        AlterClientQuotasRequest: given_image(alter_client_quotas),
        AlterConfigsRequest: given_defaults(legacy_alter_configs),
        AlterPartitionReassignmentsRequest: given_defaults(alter_partition_reassignments),
        AlterPartitionRequest: given_defaults(alter_partition),
        AlterUserScramCredentialsRequest: given_image(alter_user_scram_credentials),
        AssignReplicasToDirsRequest: given_defaults(assign_replicas_to_dirs),
        BrokerHeartbeatRequest: given_heartbeats(process_broker_heartbeat),
        BrokerRegistrationRequest: _register_broker,
        ControllerRegistrationRequest: given_image(register_controller),
        CreateAclsRequest: _create_acls,
        CreateDelegationTokenRequest: _create_delegation_token,
        CreatePartitionsRequest: _create_partitions,
        CreateTopicsRequest: _create_topics,
        DeleteAclsRequest: given_image(delete_acls),
        DeleteTopicsRequest: _delete_topics,
        ElectLeadersRequest: given_defaults(elect_leaders),
        ExpireDelegationTokenRequest: given_principal(expire_delegation_token),
        IncrementalAlterConfigsRequest: given_defaults(incremental_alter_configs),
        RenewDelegationTokenRequest: given_principal(renew_delegation_token),
        UnregisterBrokerRequest: _unregister_broker,
        UpdateFeaturesRequest: _update_features,
    },
    reads={
        ListPartitionReassignmentsRequest: list_partition_reassignments,
    },
    tasks=(
        Task(
            "maybeFenceStaleBroker",
            fence_stale_broker,
            lambda configuration: configuration.defaults.broker_session_timeout_ms // FENCE_CHECKS,
        ),
        Task(
            "electPreferred",
            lambda context: balance_partition_leaders(context.image, context.defaults),
            lambda configuration: configuration.leader_imbalance_check_interval_ms,
        ),
        Task(
            "electUnclean",
            lambda context: elect_unclean_leaders(context.image, context.defaults),
            lambda configuration: configuration.unclean_leader_election_check_interval_ms,
        ),
        Task(
            "expireDelegationTokens",
            lambda context: sweep_expired_delegation_tokens(context.image, context.now_ms),
            lambda configuration: configuration.delegation_token_expiry_check_interval_ms,
        ),
        Task(
            "writeNoOpRecord",
            _write_no_op,
            lambda configuration: configuration.metadata_max_idle_interval_ms,
        ),
    ),
)
"""Every request that a controller here answers, and every task that it runs."""
