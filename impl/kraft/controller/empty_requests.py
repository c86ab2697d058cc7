"""Requests that ask for nothing: a controller answers them at once, whatever its role.

Kafka: QuorumController.createTopics and the like, which complete before any event is appended.
"""

from __future__ import annotations

from typing import Any

from kraft.rpc.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kraft.rpc.client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from kraft.rpc.configurations import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
)
from kraft.rpc.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from kraft.rpc.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from kraft.rpc.scram import AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse
from kraft.rpc.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)


def empty_answer(request: Any) -> Any:
    """Return the answer to a request that asks for nothing, None for any other request.

    Neither the sender nor its epoch is looked at.
    """
    match request:
        case AlterPartitionRequest(partitions=()):
            return AlterPartitionResponse()
        case AlterUserScramCredentialsRequest(deletions=(), upsertions=()):
            return AlterUserScramCredentialsResponse(())
        case CreateTopicsRequest(topics=()):
            return CreateTopicsResponse(())
        case DeleteTopicsRequest(topic_ids=()):
            return DeleteTopicsResponse(())
        case ElectLeadersRequest(topic_partitions=()):
            return ElectLeadersResponse()
        case IncrementalAlterConfigsRequest(resources=()) | AlterConfigsRequest(resources=()):
            return AlterConfigsResponse(())
        case AlterPartitionReassignmentsRequest(partitions=()):
            return AlterPartitionReassignmentsResponse(())
        case AlterClientQuotasRequest(entries=()):
            return AlterClientQuotasResponse(())
        case CreatePartitionsRequest(topics=()):
            return CreatePartitionsResponse(())
        case _:
            return None
