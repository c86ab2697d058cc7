"""The operations of the controllers in this simulation: the requests that Cluster.tla models.

A choice fences a silent broker; no periodic task does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kraft.controller import operation_table
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.partition_reassignments import AlterPartitionReassignmentsRequest
from kraft.rpc.update_features import UpdateFeaturesRequest


@dataclass(frozen=True, slots=True)
class FenceStaleBrokers:
    """The request that stands for the periodic task. Kafka: ReplicationControlManager."""


_OF_CLIENTS: Final[tuple[type[Any], ...]] = (
    AlterPartitionRequest,
    AlterPartitionReassignmentsRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    ControllerRegistrationRequest,
    UpdateFeaturesRequest,
)

OPERATIONS: Final = operation_table.Operations(
    {
        **{request: operation_table.OPERATIONS.writes[request] for request in _OF_CLIENTS},
        FenceStaleBrokers: operation_table.fence_stale_broker,
    },
    {},
)
"""There are no reads and no periodic tasks."""
