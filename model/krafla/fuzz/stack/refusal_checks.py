"""Checks that a refusal is true of the metadata that it was decided by.

A request may be refused for several reasons, of which its answer has one. `_REASONS` lists the
error codes that are judged: those that the metadata alone decides. Not judged are errors of the
configuration, of placement, of tokens and of feature levels. What a request wrongly gets is found
where it is committed (`answer_checks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.part_checks import is_election_needed, told_parts
from krafla.fuzz.stack.permissions import may_lead
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH
from kraft.image.versions import IBP_3_5_IV2, IBP_3_6_IV2, IBP_3_7_IV0, IBP_3_7_IV2
from kraft.records.topics import BROKER_RESOURCE, RECOVERING, TOPIC_RESOURCE
from kraft.rpc import BrokerHeartbeatRequest, UnregisterBrokerRequest
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.configurations import AlterConfigsRequest, IncrementalAlterConfigsRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.delegation_tokens import (
    CreateDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
)
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.partition_reassignments import AlterPartitionReassignmentsRequest
from kraft.rpc.scram import AlterUserScramCredentialsRequest
from kraft.rpc.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kraft.ids import BrokerId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.alter_partition import AlterPartitionData

    _Reason: TypeAlias = Callable[["_State", Any, Any], bool]

__all__ = ["check_refusals"]


class _State(NamedTuple):
    """What a controller decides by; ``nodes`` are the brokers and the nodes of the quorum."""

    image: MetadataImage
    nodes: frozenset[int]


def check_refusals(
    image: MetadataImage, request: Any, response: Any, quorum: Iterable[int] = ()
) -> None:
    """Check that the metadata gives the reason for a refusal.

    `image` is the one that the request was judged by, `quorum` has the ids of the controllers that
    the configuration names. Raises Violated.
    """
    reasons = _REASONS.get(type(request))
    if reasons is None:
        return
    whole = getattr(response, "error_code", ErrorCode.NONE)
    parts = told_parts(request, response) if whole is ErrorCode.NONE else ((None, whole),)
    state = _State(image, frozenset({*image.brokers, *quorum}))
    for part, code in parts:
        reason = reasons.get(code)
        if reason is not None and not reason(state, request, part):
            raise Violated(
                "RefusalIsTrueProp",
                f"{type(request).__name__} is refused with {code.name}"
                + ("" if part is None else f" for {part}")
                + f", though the metadata does not give that reason: {request}",
            )


def _is_stale(state: _State, request: Any, _part: None) -> bool:
    registration = state.image.brokers.get(request.broker_id)
    return registration is None or registration.epoch != request.broker_epoch


def _is_unregistered(state: _State, request: Any, _part: None) -> bool:
    return request.broker_id not in state.image.brokers


def _lacks_topic_id(state: _State, _request: Any, part: Any) -> bool:
    topic_id = part if isinstance(part, str) else part[0]
    return topic_id not in state.image.topics


def _lacks_partition(state: _State, _request: Any, part: Any) -> bool:
    return part not in state.image.partitions


def _lacks_topic(state: _State, _request: Any, part: str) -> bool:
    return part not in state.image.topic_ids


def _has_topic(state: _State, _request: Any, part: str) -> bool:
    return part in state.image.topic_ids


def _named(image: MetadataImage, part: tuple[str, Any]) -> Partition | None:
    topic_id = image.topic_ids.get(part[0])
    return None if topic_id is None else image.partitions.get((topic_id, part[1]))


def _lacks_named_partition(state: _State, _request: Any, part: Any) -> bool:
    return _named(state.image, part) is None


def _is_not_needed(state: _State, request: Any, part: Any) -> bool:
    partition = _named(state.image, part)
    return partition is not None and not is_election_needed(partition, request.election_type)


def _does_not_move(state: _State, _request: Any, part: Any) -> bool:
    partition = _named(state.image, part)
    return partition is not None and not (partition.adding_replicas or partition.removing_replicas)


def _is_no_replica(state: _State, request: Any, part: Any) -> bool:
    return (
        part in state.image.partitions
        and request.broker_id not in state.image.partitions[part].replicas
    )


def _is_asked(
    reason: Callable[[_State, AlterPartitionRequest, AlterPartitionData, Partition], bool],
) -> _Reason:
    """Return whether an ISR was requested of a part to which a reason applies."""

    def applies(state: _State, request: AlterPartitionRequest, part: Any) -> bool:
        partition = state.image.partitions.get(part)
        return partition is not None and any(
            reason(state, request, asked, partition)
            for asked in request.partitions
            if (asked.topic_id, asked.partition_index) == part
        )

    return applies


def _is_left_out(
    state: _State, request: AlterPartitionRequest, asked: AlterPartitionData, before: Partition
) -> bool:
    """Return whether the sender leads, and may not stay: its removal, or its directory, ends that.

    Kafka: ReplicationControlManager.alterPartition.
    """
    leads = (before.leader, before.leader_epoch) == (request.broker_id, asked.leader_epoch)
    moves = before.adding_replicas or before.removing_replicas
    return leads and bool(moves or not may_lead(state.image, before, before.leader))


def _is_of_earlier_leader(
    state: _State, request: AlterPartitionRequest, asked: AlterPartitionData, before: Partition
) -> bool:
    is_earlier = asked.leader_epoch < before.leader_epoch
    return is_earlier or _is_left_out(state, request, asked, before)


def _is_of_earlier_partition(
    _state: _State, _request: Any, asked: AlterPartitionData, before: Partition
) -> bool:
    return asked.partition_epoch < before.partition_epoch


def _is_no_isr(
    _state: _State, request: AlterPartitionRequest, asked: AlterPartitionData, before: Partition
) -> bool:
    """Return whether a replica that does not lead asks, or for an ISR that no leader may have.

    Kafka: ReplicationControlManager.validateAlterPartitionData.
    """
    isr = [one.broker_id for one in asked.new_isr_with_epochs]
    recovering = asked.leader_recovery_state == RECOVERING
    return (
        request.broker_id != before.leader
        or len(set(isr)) < len(isr)
        or not {*isr} <= {*before.replicas}
        or before.leader not in isr
        or (recovering and (len(isr) > 1 or before.leader_recovery_state != RECOVERING))
    )


def _has_ineligible(
    state: _State, _request: Any, asked: AlterPartitionData, _before: Partition
) -> bool:
    """Return whether a member is not registered, fenced, shutting down, or of another epoch.

    Kafka: ReplicationControlManager.ineligibleReplicasForIsr.
    """
    for member in asked.new_isr_with_epochs:
        broker = state.image.brokers.get(member.broker_id)
        if broker is None or broker.fenced or broker.in_controlled_shutdown:
            return True
        if member.broker_epoch not in {NO_BROKER_EPOCH, broker.epoch}:
            return True
    return False


def _leads(state: _State, partition: Partition, replicas: Iterable[BrokerId]) -> bool:
    return any(may_lead(state.image, partition, one) for one in replicas)


def _lacks_preferred(state: _State, _request: Any, part: Any) -> bool:
    """Return whether the preferred replica cannot lead, nor any other where nothing leads.

    Kafka: PartitionChangeBuilder.electPreferredLeader.
    """
    partition = _named(state.image, part)
    if partition is None:
        return False
    wanted = partition.isr if partition.leader < 0 else partition.replicas[:1]
    return not _leads(state, partition, set(wanted) & set(partition.isr))


def _lacks_leaders(state: _State, _request: Any, part: Any) -> bool:
    """Return whether no replica can lead, in sync or not.

    Kafka: PartitionChangeBuilder.electAnyLeader.
    """
    partition = _named(state.image, part)
    return partition is not None and not _leads(state, partition, partition.replicas)


def _targets(request: AlterPartitionReassignmentsRequest, part: Any) -> list[Any]:
    return [one.replicas for one in request.partitions if (one.name, one.partition_index) == part]


def _is_no_assignment(state: _State, request: Any, part: Any) -> bool:
    """Return whether a target is no assignment, or a cancelled move leaves no replica in sync.

    Kafka: ReplicationControlManager.changePartitionReassignment, .cancelPartitionReassignment.
    """
    partition = _named(state.image, part)
    return partition is not None and any(
        not _is_in_sync_without(partition)
        if target is None
        else not target
        or len(set(target)) < len(target)
        or any(one not in state.image.brokers for one in target)
        for target in _targets(request, part)
    )


def _is_in_sync_without(partition: Partition) -> bool:
    """Return whether a replica is in sync that a reassignment does not add."""
    return bool({*partition.isr} & {*partition.replicas} - {*partition.adding_replicas})


def _is_of_another_size(state: _State, request: Any, part: Any) -> bool:
    """Return whether a target has more or fewer replicas than the partition is to have.

    Kafka: ReplicationControlManager.changePartitionReassignment.
    """
    partition = _named(state.image, part)
    if partition is None or request.allow_replication_factor_change:
        return False
    due = len({*partition.replicas} - {*partition.removing_replicas})
    return any(one is not None and len(one) != due for one in _targets(request, part))


def _has_as_many(state: _State, request: CreatePartitionsRequest, part: str) -> bool:
    """Return whether a topic has as many partitions as it is to get. Kafka: .createPartitions."""
    topic_id = state.image.topic_ids.get(part)
    there = 0 if topic_id is None else len(state.image.topics[topic_id].partition_ids)
    return any(one.name == part and one.count <= there for one in request.topics)


def _is_before(version: int) -> _Reason:
    """Return whether the metadata version is an earlier one."""

    def applies(state: _State, _request: Any, _part: Any) -> bool:
        now = state.image.metadata_version
        return now is None or now < version

    return applies


def _lacks_named_topic(state: _State, _request: Any, part: tuple[int, str]) -> bool:
    return part[0] == TOPIC_RESOURCE and part[1] not in state.image.topic_ids


def _lacks_named_node(state: _State, _request: Any, part: tuple[int, str]) -> bool:
    """Return whether a resource names no broker and no node of the quorum, as a number.

    Kafka: QuorumController.ConfigResourceExistenceChecker.accept.
    """
    try:
        return part[0] == BROKER_RESOURCE and int(part[1]) not in state.nodes
    except ValueError:
        return False


def _lacks_credential(state: _State, request: Any, part: str) -> bool:
    return any(
        one.name == part and (one.mechanism, one.name) not in state.image.scram_credentials
        for one in request.deletions
    )


_Code = ErrorCode
_OF_CONFIGS: Final = {
    _Code.BROKER_ID_NOT_REGISTERED: _lacks_named_node,
    _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_named_topic,
}
_OF_TOKENS: Final = {_Code.UNSUPPORTED_VERSION: _is_before(IBP_3_6_IV2)}
_REASONS: Final[Mapping[type[Any], Mapping[ErrorCode, _Reason]]] = {
    AllocateProducerIdsRequest: {_Code.STALE_BROKER_EPOCH: _is_stale},
    AlterConfigsRequest: _OF_CONFIGS,
    AlterPartitionReassignmentsRequest: {
        _Code.INVALID_REPLICA_ASSIGNMENT: _is_no_assignment,
        _Code.INVALID_REPLICATION_FACTOR: _is_of_another_size,
        _Code.NO_REASSIGNMENT_IN_PROGRESS: _does_not_move,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_named_partition,
    },
    AlterPartitionRequest: {
        _Code.FENCED_LEADER_EPOCH: _is_asked(_is_of_earlier_leader),
        _Code.INELIGIBLE_REPLICA: _is_asked(_has_ineligible),
        _Code.INVALID_REQUEST: _is_asked(_is_no_isr),
        _Code.INVALID_UPDATE_VERSION: _is_asked(_is_of_earlier_partition),
        _Code.NEW_LEADER_ELECTED: _is_asked(_is_left_out),
        _Code.STALE_BROKER_EPOCH: _is_stale,
        _Code.UNKNOWN_TOPIC_ID: _lacks_topic_id,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_partition,
    },
    AlterUserScramCredentialsRequest: {
        _Code.RESOURCE_NOT_FOUND: _lacks_credential,
        _Code.UNSUPPORTED_VERSION: _is_before(IBP_3_5_IV2),
    },
    AssignReplicasToDirsRequest: {
        _Code.NOT_LEADER_OR_FOLLOWER: _is_no_replica,
        _Code.STALE_BROKER_EPOCH: _is_stale,
        _Code.UNKNOWN_TOPIC_ID: _lacks_topic_id,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_partition,
        _Code.UNSUPPORTED_VERSION: _is_before(IBP_3_7_IV2),
    },
    BrokerHeartbeatRequest: {_Code.STALE_BROKER_EPOCH: _is_stale},
    ControllerRegistrationRequest: {_Code.UNSUPPORTED_VERSION: _is_before(IBP_3_7_IV0)},
    CreateDelegationTokenRequest: _OF_TOKENS,
    CreatePartitionsRequest: {
        _Code.INVALID_PARTITIONS: _has_as_many,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_topic,
    },
    CreateTopicsRequest: {_Code.TOPIC_ALREADY_EXISTS: _has_topic},
    DeleteTopicsRequest: {_Code.UNKNOWN_TOPIC_ID: _lacks_topic_id},
    ElectLeadersRequest: {
        _Code.ELECTION_NOT_NEEDED: _is_not_needed,
        _Code.ELIGIBLE_LEADERS_NOT_AVAILABLE: _lacks_leaders,
        _Code.PREFERRED_LEADER_NOT_AVAILABLE: _lacks_preferred,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_named_partition,
    },
    ExpireDelegationTokenRequest: _OF_TOKENS,
    IncrementalAlterConfigsRequest: _OF_CONFIGS,
    RenewDelegationTokenRequest: _OF_TOKENS,
    UnregisterBrokerRequest: {_Code.BROKER_ID_NOT_REGISTERED: _is_unregistered},
}
"""By request and code: whether the image that it was judged by gives this reason for a refusal."""
