"""What the controllers here are asked to write: the operations of Kafka's clients that Cluster has.

A silent broker is fenced when that is chosen, not when a task is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kraft.controller import operation_table
from kraft.controller.operations.broker_heartbeats import maybe_fence_stale_broker
from kraft.rpc import BrokerHeartbeatRequest, BrokerRegistrationRequest
from kraft.rpc.alter_partition import AlterPartitionRequest
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.partition_reassignments import AlterPartitionReassignmentsRequest
from kraft.rpc.update_features import UpdateFeaturesRequest

if TYPE_CHECKING:
    from kraft.controller.operation_context import OperationContext
    from kraft.controller.operations.result import Generated


@dataclass(frozen=True, slots=True)
class FenceStaleBrokers:
    """What the periodic task asks of its controller. Kafka: ReplicationControlManager."""


def _fence_stale_broker(asked: OperationContext) -> Generated[bool]:
    return maybe_fence_stale_broker(asked.written, asked.heartbeats, asked.defaults, asked.now_ms)


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
        **{request: operation_table.WRITES[request] for request in _OF_CLIENTS},
        FenceStaleBrokers: _fence_stale_broker,
    },
    {},
)
"""All that there is to ask here; nothing is read, and nothing done by itself."""
