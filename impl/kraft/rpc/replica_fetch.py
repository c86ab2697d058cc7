"""RPC 1 between brokers: a follower fetches many partitions from their leaders.

A replica's data are abstract: a tuple of `(leader_epoch, end_offset)`, one for each epoch, up to
the end of the records that the leader of that epoch wrote. Records have no content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.ids import BrokerEpoch, BrokerId, PartitionId, TopicId

Runs = tuple[tuple[int, int], ...]
"""Records by the epochs of their leaders, in order: each epoch, and where its records end."""


class EpochEnd(NamedTuple):
    """Where the records of all epochs up to one end, and the last epoch that has some there.

    The epoch is -1 if no record is of such an epoch.

    Kafka: FetchResponseData.EpochEndOffset. KIP-320.
    """

    epoch: int
    end_offset: int


class FetchPartition(NamedTuple):
    """A follower's request for one partition; `last_fetched_epoch` is -1 if its log is empty.

    Kafka: FetchRequestData.FetchPartition.
    """

    topic_id: TopicId
    partition_index: PartitionId
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int


@dataclass(frozen=True, slots=True)
class ReplicaFetchRequest:
    """RPC 1, version 17: a follower, the epoch of its broker, and all it wants of one leader.

    Kafka: FetchRequest. KIP-320, KIP-903.
    """

    replica_id: BrokerId
    replica_epoch: BrokerEpoch
    partitions: tuple[FetchPartition, ...]


class FetchedPartition(NamedTuple):
    """The answer for one partition: records, or where the follower's log leaves the leader's.

    Kafka: FetchResponseData.PartitionData.
    """

    topic_id: TopicId
    partition_index: PartitionId
    error_code: ErrorCode = ErrorCode.NONE
    high_watermark: int = -1
    diverging_epoch: EpochEnd | None = None
    records: Runs = ()


@dataclass(frozen=True, slots=True)
class ReplicaFetchResponse:
    """RPC 1, the answer: one entry for each partition, in their order. Kafka: FetchResponse."""

    partitions: tuple[FetchedPartition, ...]
