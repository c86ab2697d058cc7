"""RPC 43: an operator wants other leaders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import PartitionId

PREFERRED_ELECTION: Final = 0
UNCLEAN_ELECTION: Final = 1


@dataclass(frozen=True, slots=True)
class ElectLeadersRequest:
    """RPC 43: elect leaders of partitions, by topic name and index; None is all partitions.

    Spec: Reassignment!ElectPreferredLeader, Reassignment!ElectUncleanLeader.
    Kafka: ElectLeadersRequest. KIP-460.
    """

    election_type: int
    topic_partitions: tuple[tuple[str, PartitionId], ...] | None = None


@dataclass(frozen=True, slots=True)
class PartitionResult:
    """What became of one partition."""

    topic: str
    partition_id: PartitionId
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class ElectLeadersResponse:
    """RPC 43, the answer. Of all partitions, those that needed no election are left out.

    Kafka: ElectLeadersResponse.
    """

    error_code: ErrorCode = ErrorCode.NONE
    replica_election_results: tuple[PartitionResult, ...] = ()
