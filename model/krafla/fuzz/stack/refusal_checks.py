"""Checks that a refusal is true of the state that it was decided by.

A request may be refused for several reasons, of which its answer has one. Judged are the reasons
that the metadata alone decide: whether what the answer misses is missing. What a request wrongly
gets is found where it is committed (`answer_checks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.part_checks import is_election_needed, told_parts
from kraft.errors import ErrorCode
from kraft.records.topics import BROKER_RESOURCE, TOPIC_RESOURCE
from kraft.rpc import BrokerHeartbeatRequest, UnregisterBrokerRequest
from kraft.rpc.allocate_producer_ids import AllocateProducerIdsRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.assign_replicas import AssignReplicasToDirsRequest
from kraft.rpc.configurations import AlterConfigsRequest, IncrementalAlterConfigsRequest
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.partition_reassignments import AlterPartitionReassignmentsRequest
from kraft.rpc.scram import AlterUserScramCredentialsRequest
from kraft.rpc.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage

__all__ = ["check_refusals"]


def check_refusals(image: MetadataImage, request: Any, response: Any) -> None:
    """Check that what a refusal says of the metadata is true.

    `image` is the one that the request was judged by. Raises Violated.
    """
    reasons = _REASONS.get(type(request))
    if reasons is None:
        return
    whole = getattr(response, "error_code", ErrorCode.NONE)
    parts = told_parts(request, response) if whole is ErrorCode.NONE else ((None, whole),)
    for part, code in parts:
        reason = reasons.get(code)
        if reason is not None and not reason(image, request, part):
            raise Violated(
                "RefusalIsTrueProp",
                f"a {type(request).__name__} is refused with {code.name}"
                + ("" if part is None else f" for {part}")
                + f", which is not true: {request}",
            )


def _is_stale(image: MetadataImage, request: Any, _part: None) -> bool:
    registration = image.brokers.get(request.broker_id)
    return registration is None or registration.epoch != request.broker_epoch


def _is_unregistered(image: MetadataImage, request: Any, _part: None) -> bool:
    return request.broker_id not in image.brokers


def _lacks_topic_id(image: MetadataImage, _request: Any, part: Any) -> bool:
    topic_id = part if isinstance(part, str) else part[0]
    return topic_id not in image.topics


def _lacks_partition(image: MetadataImage, _request: Any, part: Any) -> bool:
    return part not in image.partitions


def _lacks_topic(image: MetadataImage, _request: Any, part: str) -> bool:
    return part not in image.topic_ids


def _has_topic(image: MetadataImage, _request: Any, part: str) -> bool:
    return part in image.topic_ids


def _named(image: MetadataImage, part: tuple[str, Any]) -> Partition | None:
    topic_id = image.topic_ids.get(part[0])
    return None if topic_id is None else image.partitions.get((topic_id, part[1]))


def _lacks_named_partition(image: MetadataImage, _request: Any, part: Any) -> bool:
    return _named(image, part) is None


def _is_not_needed(image: MetadataImage, request: Any, part: Any) -> bool:
    partition = _named(image, part)
    return partition is not None and not is_election_needed(partition, request.election_type)


def _does_not_move(image: MetadataImage, _request: Any, part: Any) -> bool:
    partition = _named(image, part)
    return partition is not None and not (partition.adding_replicas or partition.removing_replicas)


def _is_no_replica(image: MetadataImage, request: Any, part: Any) -> bool:
    return part in image.partitions and request.broker_id not in image.partitions[part].replicas


def _lacks_named_topic(image: MetadataImage, _request: Any, part: tuple[int, str]) -> bool:
    return part[0] == TOPIC_RESOURCE and part[1] not in image.topic_ids


def _lacks_named_node(image: MetadataImage, _request: Any, part: tuple[int, str]) -> bool:
    return part[0] == BROKER_RESOURCE and all(str(one) != part[1] for one in image.brokers)


def _lacks_credential(image: MetadataImage, request: Any, part: str) -> bool:
    return any(
        one.name == part and (one.mechanism, one.name) not in image.scram_credentials
        for one in request.deletions
    )


_Code = ErrorCode
_OF_CONFIGS: Final = {
    _Code.BROKER_ID_NOT_REGISTERED: _lacks_named_node,
    _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_named_topic,
}
_REASONS: Final[Mapping[type[Any], Mapping[ErrorCode, Callable[..., bool]]]] = {
    AllocateProducerIdsRequest: {_Code.STALE_BROKER_EPOCH: _is_stale},
    AlterConfigsRequest: _OF_CONFIGS,
    AlterPartitionReassignmentsRequest: {
        _Code.NO_REASSIGNMENT_IN_PROGRESS: _does_not_move,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_named_partition,
    },
    AlterPartitionRequest: {
        _Code.STALE_BROKER_EPOCH: _is_stale,
        _Code.UNKNOWN_TOPIC_ID: _lacks_topic_id,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_partition,
    },
    AlterUserScramCredentialsRequest: {_Code.RESOURCE_NOT_FOUND: _lacks_credential},
    AssignReplicasToDirsRequest: {
        _Code.NOT_LEADER_OR_FOLLOWER: _is_no_replica,
        _Code.STALE_BROKER_EPOCH: _is_stale,
        _Code.UNKNOWN_TOPIC_ID: _lacks_topic_id,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_partition,
    },
    BrokerHeartbeatRequest: {_Code.STALE_BROKER_EPOCH: _is_stale},
    CreatePartitionsRequest: {_Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_topic},
    CreateTopicsRequest: {_Code.TOPIC_ALREADY_EXISTS: _has_topic},
    DeleteTopicsRequest: {_Code.UNKNOWN_TOPIC_ID: _lacks_topic_id},
    ElectLeadersRequest: {
        _Code.ELECTION_NOT_NEEDED: _is_not_needed,
        _Code.UNKNOWN_TOPIC_OR_PARTITION: _lacks_named_partition,
    },
    IncrementalAlterConfigsRequest: _OF_CONFIGS,
    UnregisterBrokerRequest: {_Code.BROKER_ID_NOT_REGISTERED: _is_unregistered},
}
"""By request and code: whether the image that it was judged by gives this reason for a refusal."""
