"""The answer to a fetch: an error, batches, a snapshot to load, or where the logs diverge.

Spec: KRaft!FetchAnswer, AnswerFetch, NeedsSnapshot, Diverges.
Kafka: KafkaRaftClient.tryCompleteFetchRequest, ReplicatedLog.validateOffsetAndEpoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft.roles import leader_of
from kraft.rpc.fetch import FetchResponse

if TYPE_CHECKING:
    from kraft.ids import OffsetAndEpoch
    from kraft.log.image import LogImage
    from kraft.raft.roles import Leader
    from kraft.raft.turn import Turn
    from kraft.rpc.fetch import FetchRequest


def refused(turn: Turn, error: ErrorCode) -> FetchResponse:
    """Return the answer to a fetch that gets nothing but an error, the epoch and its leader.

    Spec: KRaft!FetchAnswer. Kafka: KafkaRaftClient.buildEmptyFetchResponse.
    """
    return FetchResponse(error, turn.role.epoch, leader_of(turn.role))


def answer(turn: Turn, role: Leader, request: FetchRequest) -> FetchResponse:
    """Return the batches from the offset of a fetch on, and the high watermark.

    Spec: KRaft!AnswerFetch. Kafka: KafkaRaftClient.tryCompleteFetchRequest.
    """
    log, known = turn.log, turn.high_watermark
    if request.fetch_offset < log.end_offset:
        size = min(request.maximum_bytes, turn.configuration.maximum_fetch_bytes)
        records = b"".join(batch.raw for batch in log.read(request.fetch_offset, size))
    else:
        records = b""
    return FetchResponse(
        ErrorCode.NONE,
        role.epoch,
        role.leader_id,
        -1 if known is None else known,
        log.start_offset,
        records,
    )


def needed_snapshot(log: LogImage, offset: int, last_epoch: int) -> OffsetAndEpoch | None:
    """Return the snapshot that a replica with this log end must load first, if any.

    A bootstrap snapshot, which ends at offset 0, never is: it stands for no record.

    Spec: KRaft!NeedsSnapshot.
    Kafka: ReplicatedLog.validateOffsetAndEpoch.
    """
    latest = log.latest_snapshot
    if latest is None or latest.snapshot_id.end_offset == 0:
        return None
    earliest = next(s.snapshot_id for s in log.snapshots if s.snapshot_id.end_offset > 0)
    if (
        offset == 0
        or offset < log.start_offset
        or (offset == log.start_offset and last_epoch != earliest.epoch)
        or last_epoch < earliest.epoch
    ):
        return latest.snapshot_id
    return None


def divergence(log: LogImage, offset: int, last_epoch: int) -> OffsetAndEpoch | None:
    """Return where a replica's last epoch ends here, if its log is not the beginning of this one.

    Spec: KRaft!Diverges. Kafka: ReplicatedLog.validateOffsetAndEpoch.
    """
    if offset == 0:
        return None
    end = log.end_offset_for_epoch(last_epoch)
    return end if end.epoch != last_epoch or end.end_offset < offset else None
