"""RPC 0: a producer appends records to partitions, and wants to know that they will stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import PartitionId, TopicId


@dataclass(frozen=True, slots=True)
class ProduceRequest:
    """RPC 0 with acks=all: the number of records for each partition, to be acknowledged in time.

    The leader may wait `timeout_ms` for its followers.

    Kafka: ProduceRequest.
    """

    timeout_ms: int
    partitions: tuple[tuple[TopicId, PartitionId, int], ...]


class ProducedPartition(NamedTuple):
    """What became of the records of one partition: they end before `end_offset`.

    With an error nothing is promised: the records may have been appended, and stay or not.

    Kafka: ProduceResponseData.PartitionProduceResponse.
    """

    topic_id: TopicId
    partition_index: PartitionId
    error_code: ErrorCode = ErrorCode.NONE
    end_offset: int = -1


@dataclass(frozen=True, slots=True)
class ProduceResponse:
    """RPC 0, the answer: one entry for each partition, in their order. Kafka: ProduceResponse."""

    partitions: tuple[ProducedPartition, ...]
