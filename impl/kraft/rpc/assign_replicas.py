"""RPC 73: a broker says in which of its directories its replicas are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, PartitionId, TopicId


@dataclass(frozen=True, slots=True)
class AssignReplicasToDirsRequest:
    """RPC 73: partitions and the directory of each. Kafka: AssignReplicasToDirsRequest. KIP-858."""

    broker_id: BrokerId
    broker_epoch: BrokerEpoch
    assignments: tuple[tuple[DirectoryId, TopicId, PartitionId], ...]


@dataclass(frozen=True, slots=True)
class AssignReplicasToDirsResponse:
    """RPC 73, the answer: one error for the whole request, or one for each assignment, in order.

    Kafka: AssignReplicasToDirsResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    partitions: tuple[ErrorCode, ...] = ()
