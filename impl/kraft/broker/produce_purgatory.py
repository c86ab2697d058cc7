"""The produce purgatory: appends with acks=all wait for the followers.

Kafka: DelayedProduce, ReplicaManager.appendRecords.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kraft.broker import replication
from kraft.broker.replication import Leading
from kraft.errors import ErrorCode
from kraft.rpc.produce import ProducedPartition, ProduceResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from immutables import Map

    from kraft.broker.partitions import PartitionKey
    from kraft.broker.replication import Replica
    from kraft.rpc.produce import ProduceRequest


class DelayedProduce(msgspec.Struct, frozen=True, gc=False):
    """A delayed produce request. `codes` has the result of each partition, None while it is open.

    `ends` are the end offsets of the appended records. `token` identifies the request to answer, at
    `deadline_ms` at the latest.

    Kafka: DelayedProduce.
    """

    token: int
    deadline_ms: int
    keys: tuple[PartitionKey, ...]
    ends: tuple[int, ...]
    codes: tuple[ErrorCode | None, ...]

    @property
    def is_done(self) -> bool:
        """Whether every partition has a result."""
        return None not in self.codes

    @property
    def response(self) -> ProduceResponse:
        """The response; a partition without a result has timed out."""
        return ProduceResponse(
            tuple(
                ProducedPartition(*key, ErrorCode.REQUEST_TIMED_OUT if code is None else code, end)
                for key, end, code in zip(self.keys, self.ends, self.codes, strict=True)
            )
        )


def produce(
    replicas: Map[PartitionKey, Replica],
    request: ProduceRequest,
    token: int,
    min_isr: Callable[[PartitionKey], int],
    now_ms: int,
) -> tuple[Map[PartitionKey, Replica], DelayedProduce]:
    """Return the replicas after a produce request, and the delayed request that awaits the commit.

    Kafka: ReplicaManager.appendRecords.
    """
    keys, ends = [], []
    codes: list[ErrorCode | None] = []
    for topic_id, index, count in request.partitions:
        key = topic_id, index
        replica = replicas.get(key)
        keys.append(key)
        if replica is None:
            code, end = ErrorCode.NOT_LEADER_OR_FOLLOWER, -1
        else:
            replica, code = replication.append_to_leader(replica, count, min_isr(key))
            end = replica.log.end_offset
            replicas = replicas.set(key, replica)
        ends.append(end if code is ErrorCode.NONE else -1)
        codes.append(None if code is ErrorCode.NONE else code)
    deadline_ms = now_ms + request.timeout_ms
    return replicas, DelayedProduce(token, deadline_ms, tuple(keys), tuple(ends), tuple(codes))


def look_again(
    delayed: DelayedProduce,
    replicas: Map[PartitionKey, Replica],
    min_isr: Callable[[PartitionKey], int],
) -> DelayedProduce:
    """Return the request after another look at its partitions.

    Call it whenever a replica may have ceased to lead: when it leads again, the appended records
    may be gone.

    Kafka: DelayedProduce.tryComplete, Partition.checkEnoughReplicasReachOffset.
    """
    codes = tuple(
        _code(replicas.get(key), end, min_isr(key)) if code is None else code
        for key, end, code in zip(delayed.keys, delayed.ends, delayed.codes, strict=True)
    )
    if codes == delayed.codes:
        return delayed
    return DelayedProduce(delayed.token, delayed.deadline_ms, delayed.keys, delayed.ends, codes)


def _code(replica: Replica | None, end: int, min_isr: int) -> ErrorCode | None:
    """Return the result of an append, None while it is open."""
    if replica is None or not isinstance(replica.role, Leading):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if replica.high_watermark < end:
        return None
    if replication.has_min_isr(replica.role.view, min_isr):
        return ErrorCode.NONE
    return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
