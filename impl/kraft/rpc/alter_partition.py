"""RPC 56: the leader of partitions asks for other in-sync replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, PartitionId, TopicId


class BrokerState(NamedTuple):
    """A member of a wanted ISR; its epoch is NO_BROKER_EPOCH if the leader does not know it."""

    broker_id: BrokerId
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH


@dataclass(frozen=True, slots=True)
class AlterPartitionData:
    """The ISR that a leader asks for, and the epochs under which it knows the partition."""

    topic_id: TopicId
    partition_index: PartitionId
    leader_epoch: int
    partition_epoch: int
    new_isr_with_epochs: tuple[BrokerState, ...]
    leader_recovery_state: int = 0


@dataclass(frozen=True, slots=True)
class AlterPartitionRequest:
    """RPC 56, version 3: the changes that a broker asks for, of partitions that it leads.

    Spec: Reassignment!AlterPartitionRequest.
    Kafka: AlterPartitionRequest. KIP-497, KIP-841, KIP-903.
    """

    broker_id: BrokerId
    broker_epoch: BrokerEpoch
    partitions: tuple[AlterPartitionData, ...]


@dataclass(frozen=True, slots=True)
class AlteredPartition:
    """The answer for one partition: an error, or its state now, which may differ from the request.

    The fields after `error_code` mean nothing if there is an error.
    """

    topic_id: TopicId
    partition_index: PartitionId
    error_code: ErrorCode
    leader_id: int = -1
    leader_epoch: int = -1
    isr: tuple[BrokerId, ...] = ()
    leader_recovery_state: int = 0
    partition_epoch: int = -1


@dataclass(frozen=True, slots=True)
class AlterPartitionResponse:
    """RPC 56, the answer: one error for all of the request, or an answer for each partition.

    Spec: Reassignment!AlterPartitionResponse.
    Kafka: AlterPartitionResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    partitions: tuple[AlteredPartition, ...] = ()
