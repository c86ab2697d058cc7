"""RPC 60: the nodes of the cluster, asked of a controller for controllers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import NodeId

BROKER_ENDPOINT: Final = 1
CONTROLLER_ENDPOINT: Final = 2
"""What kind of nodes is asked for. Kafka: EndpointType. KIP-919."""

NOT_TOLD: Final = -(2**31)
"""The authorized operations of a response whose request did not ask for them."""

ALL_OPERATIONS: Final = sum(1 << operation for operation in (5, 7, 8, 9, 10, 11, 12))
"""All that may be done to a cluster, a bit for each. Kafka: AclEntry.supportedOperations."""


@dataclass(frozen=True, slots=True)
class DescribeClusterRequest:
    """RPC 60. Kafka: DescribeClusterRequest. KIP-700, KIP-919, KIP-1073."""

    include_cluster_authorized_operations: bool = False
    endpoint_type: int = BROKER_ENDPOINT
    include_fenced_brokers: bool = False


@dataclass(frozen=True, slots=True)
class DescribedNode:
    """A node and where it listens. Kafka: DescribeClusterResponseData.DescribeClusterBroker."""

    broker_id: NodeId
    host: str
    port: int
    rack: str | None = None
    is_fenced: bool = False


@dataclass(frozen=True, slots=True)
class DescribeClusterResponse:
    """RPC 60, the answer; the active controller is None if it is not known.

    Kafka: DescribeClusterResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    endpoint_type: int = BROKER_ENDPOINT
    cluster_id: str = ""
    controller_id: NodeId | None = None
    brokers: tuple[DescribedNode, ...] = ()
    cluster_authorized_operations: int = NOT_TOLD
