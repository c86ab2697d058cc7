"""RPCs 45 and 46: an operator moves partitions, and looks how far that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import BrokerId, PartitionId


@dataclass(frozen=True, slots=True)
class ReassignablePartition:
    """A partition and its target replicas, in order of preference; None cancels."""

    name: str
    partition_index: PartitionId
    replicas: tuple[BrokerId, ...] | None


@dataclass(frozen=True, slots=True)
class AlterPartitionReassignmentsRequest:
    """RPC 45, version 1: give partitions other replicas, or take that back.

    Spec: Reassignment!StartReassignment, Reassignment!CancelReassignment.
    Kafka: AlterPartitionReassignmentsRequest. KIP-455, KIP-860.
    """

    partitions: tuple[ReassignablePartition, ...]
    allow_replication_factor_change: bool = True


@dataclass(frozen=True, slots=True)
class ReassignedPartition:
    """What became of one partition."""

    name: str
    partition_index: PartitionId
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class AlterPartitionReassignmentsResponse:
    """RPC 45, the answer. Kafka: AlterPartitionReassignmentsResponse."""

    responses: tuple[ReassignedPartition, ...]


@dataclass(frozen=True, slots=True)
class ListPartitionReassignmentsRequest:
    """RPC 46: list the reassignments of these partitions; None is all partitions.

    Kafka: ListPartitionReassignmentsRequest. KIP-455.
    """

    topics: tuple[tuple[str, tuple[PartitionId, ...]], ...] | None = None


@dataclass(frozen=True, slots=True)
class OngoingReassignment:
    """A partition that is being moved. Kafka: OngoingPartitionReassignment."""

    name: str
    partition_index: PartitionId
    replicas: tuple[BrokerId, ...]
    adding_replicas: tuple[BrokerId, ...]
    removing_replicas: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class ListPartitionReassignmentsResponse:
    """RPC 46, the answer. Kafka: ListPartitionReassignmentsResponse."""

    topics: tuple[OngoingReassignment, ...]
