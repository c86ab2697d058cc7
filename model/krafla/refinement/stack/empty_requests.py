"""Requests that ask for nothing: any controller answers them at once, and the spec has none."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Final

from kraft.controller.effects import Failure
from kraft.errors import ErrorCode
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.client_quotas import AlterClientQuotasRequest
from kraft.rpc.configurations import AlterConfigsRequest, IncrementalAlterConfigsRequest
from kraft.rpc.elect_leaders import ElectLeadersRequest
from kraft.rpc.partition_reassignments import AlterPartitionReassignmentsRequest
from kraft.rpc.scram import AlterUserScramCredentialsRequest
from kraft.rpc.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest

__all__ = ["asks_for_nothing", "says_nothing"]

_LISTS: Final = {
    AlterClientQuotasRequest: ("entries",),
    AlterConfigsRequest: ("resources",),
    AlterPartitionReassignmentsRequest: ("partitions",),
    AlterPartitionRequest: ("partitions",),
    AlterUserScramCredentialsRequest: ("deletions", "upsertions"),
    CreatePartitionsRequest: ("topics",),
    CreateTopicsRequest: ("topics",),
    DeleteTopicsRequest: ("topic_ids",),
    ElectLeadersRequest: ("topic_partitions",),
    IncrementalAlterConfigsRequest: ("resources",),
}
"""The lists of each request that Kafka's controller looks at before it asks whether it is active.

Kafka: QuorumController.createTopics and the others.
"""


def asks_for_nothing(request: Any) -> bool:
    """Return whether all lists of a request are empty; a list that is None asks for everything."""
    names = _LISTS.get(type(request), ())
    return bool(names) and all(getattr(request, name) == () for name in names)


def says_nothing(response: Any) -> bool:
    """Return whether a response has neither an error nor a result."""
    if isinstance(response, Failure) or not is_dataclass(response):
        return False
    return all(getattr(response, one.name) in {(), ErrorCode.NONE} for one in fields(response))
