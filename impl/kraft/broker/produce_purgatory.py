"""Appends with acks=all that wait for their followers.

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
    """A request whose answer waits: what is known of each partition, None if nothing yet.

    `ends` are where the records end that were appended. `token` says who is answered, and
    `deadline_ms` when at the latest.

    Kafka: DelayedProduce.
    """

    token: int
    deadline_ms: int
    keys: tuple[PartitionKey, ...]
    ends: tuple[int, ...]
    codes: tuple[ErrorCode | None, ...]

    @property
    def is_done(self) -> bool:
        """Whether it waits for nothing any more."""
        return None not in self.codes

    @property
    def response(self) -> ProduceResponse:
        """What is answered; what is still waited for was not done in time."""
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
    """Return the replicas with the records of a request, and what waits for them to be committed.

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
    """Return the request after a look at how far its partitions have come.

    To be looked at as often as a replica may have ceased to lead: what it appended may be gone when
    it leads again.

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
    """Return what came of an append, None as long as that is open."""
    if replica is None or not isinstance(replica.role, Leading):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if replica.high_watermark < end:
        return None
    if replication.has_min_isr(replica.role.view, min_isr):
        return ErrorCode.NONE
    return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
