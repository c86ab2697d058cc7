"""The data of one replica: records, each identified by its offset and leader epoch.

Only one leader writes in an epoch, so an offset and an epoch identify a record. If two logs have
the same epoch at an offset, they have the same records up to there.

Kafka: UnifiedLog, LeaderEpochFileCache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kraft.rpc.replica_fetch import EpochEnd

if TYPE_CHECKING:
    from kraft.rpc.replica_fetch import Runs


class ReplicaLog(msgspec.Struct, frozen=True, gc=False):
    """A log that starts at offset 0; its runs are the epochs that wrote it.

    Spec: ReplicatedPartition!IsLog.
    """

    runs: Runs = ()

    @property
    def end_offset(self) -> int:
        """The first offset that is not in the log."""
        return self.runs[-1][1] if self.runs else 0

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, -1 without one."""
        return self.runs[-1][0] if self.runs else -1


EMPTY_LOG = ReplicaLog()


def append(log: ReplicaLog, epoch: int, count: int) -> ReplicaLog:
    """Return the log with `count` more records of an epoch.

    Raises ValueError if the log has records of a later epoch.
    Spec: ReplicatedPartition!AppendRecord.
    Kafka: UnifiedLog.appendAsLeader.
    """
    if epoch < log.last_epoch:
        raise ValueError(f"a leader of epoch {epoch} has records of epoch {log.last_epoch}")
    runs = log.runs[:-1] if epoch == log.last_epoch else log.runs
    return ReplicaLog((*runs, (epoch, log.end_offset + count)))


def records_from(log: ReplicaLog, offset: int, maximum: int) -> Runs:
    """Return at most `maximum` records from an offset on, as runs.

    Kafka: UnifiedLog.read.
    """
    limit = min(log.end_offset, offset + maximum)
    found = []
    start = 0
    for epoch, end in log.runs:
        if end > offset and start < limit:
            found.append((epoch, min(end, limit)))
        start = end
    return tuple(found)


def extend(log: ReplicaLog, records: Runs) -> ReplicaLog:
    """Return the log with a leader's records added at its end.

    Kafka: UnifiedLog.appendAsFollower.
    """
    for epoch, end in records:
        log = append(log, epoch, end - log.end_offset)
    return log


def end_of_epoch(log: ReplicaLog, epoch: int) -> EpochEnd:
    """Return the end of the records of all epochs up to one.

    Spec: ReplicatedPartition!EndOfEpoch.
    Kafka: LeaderEpochFileCache.endOffsetFor. KIP-101, KIP-279.
    """
    found = EpochEnd(-1, 0)
    for run in log.runs:
        if run[0] > epoch:
            break
        found = EpochEnd(*run)
    return found


def truncate(log: ReplicaLog, end: int) -> ReplicaLog:
    """Return the log without its records from an offset on.

    Kafka: UnifiedLog.truncateTo.
    """
    if end >= log.end_offset:
        return log
    return ReplicaLog(records_from(log, 0, end))


def diverging_epoch(log: ReplicaLog, end: int, last_epoch: int) -> EpochEnd | None:
    """Return where a follower's log diverges from the leader's; None if it does not.

    `end` and `last_epoch` are those of the follower's log, `log` is the leader's.

    Spec: ReplicatedPartition!Diverges.
    Kafka: Partition.readRecords. KIP-320.
    """
    if last_epoch < 0:
        return None
    own = end_of_epoch(log, last_epoch)
    return own if own.epoch < last_epoch or own.end_offset < end else None


def truncate_to_leader(log: ReplicaLog, leader: EpochEnd) -> ReplicaLog:
    """Return a follower's log cut back to where it may agree with the leader's answer.

    Spec: ReplicatedPartition!TruncateLog.
    Kafka: AbstractFetcherThread.getOffsetTruncationState.
    """
    own = end_of_epoch(log, leader.epoch)
    return truncate(log, min(own.end_offset, leader.end_offset))


def holds(log: ReplicaLog, other: ReplicaLog) -> bool:
    """Return whether a log has all records of another, at the same offsets.

    Spec: ReplicatedPartition!Holds.
    """
    return records_from(log, 0, other.end_offset) == other.runs
