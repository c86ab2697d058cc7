"""How one replica leads or follows: its log, the fetches of its followers, the high watermark.

A leader commits what every replica that may be in sync has, and adds followers that have caught up
to the ISR. Times are milliseconds by the broker's own clock.

Kafka: Partition.makeLeader, Replica.updateFetchStateOrThrow. KIP-101, KIP-320, KIP-497, KIP-841,
KIP-903.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from immutables import Map
from msgspec.structs import replace

from kraft.broker import replica_log
from kraft.broker.replica_log import EMPTY_LOG, ReplicaLog
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH
from kraft.rpc.replica_fetch import FetchedPartition

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.broker.partition_leader import PartitionLeader
    from kraft.ids import BrokerEpoch, BrokerId, DirectoryId
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.replica_fetch import FetchPartition

UNKNOWN: Final = -1


class FollowerState(msgspec.Struct, frozen=True, gc=False):
    """A leader's knowledge of a follower, from its fetches in this leader epoch.

    `end_offset` is the end of the follower's log at its last fetch, UNKNOWN before the first.
    `leader_end_offset` and `fetched_ms` are the end of the leader's log and the time of that fetch.
    `caught_up_ms` is the last time at which the follower is known to have had the whole log of the
    leader. `broker_epoch` is the epoch that it fetched under.

    Spec: ReplicatedPartition!ReplicaState.
    Kafka: Replica.replicaState.
    """

    end_offset: int = UNKNOWN
    leader_end_offset: int = UNKNOWN
    fetched_ms: int = 0
    caught_up_ms: int | None = None
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH


NOT_HEARD: Final = FollowerState()


class Leading(msgspec.Struct, frozen=True, gc=False):
    """The state of a leader besides its log.

    `epoch_start` is the end of the log when its epoch began.

    Kafka: Partition.leaderEpochStartOffsetOpt, Partition.remoteReplicasMap.
    """

    view: PartitionLeader
    epoch_start: int
    followers: Map[BrokerId, FollowerState] = Map()


class Following(msgspec.Struct, frozen=True, gc=False):
    """The leader that a replica follows; -1 while there is none.

    Spec: ReplicatedPartition!following.
    """

    leader: int
    leader_epoch: int


class Replica(msgspec.Struct, frozen=True, gc=False):
    """A replica on a broker: its directory, its log, its high watermark and its role.

    Kafka: Partition, UnifiedLog.
    """

    directory: DirectoryId
    log: ReplicaLog = EMPTY_LOG
    high_watermark: int = 0
    role: Leading | Following | None = None


def become_leader(replica: Replica, view: PartitionLeader, now_ms: int) -> Replica:
    """Return the replica as a leader by this view.

    In a new leader epoch no follower has fetched yet.

    The members of the ISR count as caught up now, so they have the whole lag time to fetch.

    Spec: ReplicatedPartition!BecomeLeader.
    Kafka: Partition.makeLeader, Replica.resetReplicaState.
    """
    role = replica.role
    if isinstance(role, Leading) and role.view.leader_epoch == view.leader_epoch:
        return replace(replica, role=replace(role, view=view))
    waited_for = FollowerState(caught_up_ms=now_ms)
    leading = Leading(view, replica.log.end_offset, Map(dict.fromkeys(view.isr, waited_for)))
    return replace(replica, role=leading)


def become_follower(replica: Replica, leader: int, leader_epoch: int) -> Replica:
    """Return the replica as a follower; its fetches tell where its log diverges from the leader's.

    Spec: ReplicatedPartition!BecomeFollower.
    Kafka: Partition.makeFollower.
    """
    following = Following(leader, leader_epoch)
    return replica if replica.role == following else replace(replica, role=following)


def append_to_leader(replica: Replica, count: int, min_isr: int) -> tuple[Replica, ErrorCode]:
    """Return the replica with `count` more records, or the error that refuses them with acks=all.

    Spec: ReplicatedPartition!AppendRecord.
    Kafka: Partition.appendRecordsToLeader.
    """
    role = replica.role
    if not isinstance(role, Leading):
        return replica, ErrorCode.NOT_LEADER_OR_FOLLOWER
    if not has_min_isr(role.view, min_isr):
        return replica, ErrorCode.NOT_ENOUGH_REPLICAS
    log = replica_log.append(replica.log, role.view.leader_epoch, count)
    return replace(replica, log=log), ErrorCode.NONE


def has_min_isr(view: PartitionLeader, min_isr: int) -> bool:
    """Return whether enough replicas are in sync; all of them, if a partition has fewer replicas.

    Kafka: Partition.isUnderMinIsr, Partition.effectiveMinIsr.
    """
    return len(view.isr) >= min(min_isr, len(view.replicas))


def on_fetch(
    replica: Replica,
    ask: FetchPartition,
    replica_id: BrokerId,
    replica_epoch: BrokerEpoch,
    now_ms: int,
    maximum: int,
) -> tuple[Replica, FetchedPartition]:
    """Return the leader after a follower's fetch, and its answer of at most `maximum` records.

    A follower whose log diverges is told where, and its fetch does not count.

    Spec: ReplicatedPartition!FetchRecords, ReplicatedPartition!IsHeard.
    Kafka: Partition.fetchRecords, Partition.updateFollowerFetchState.
    """
    topic_id, index = ask.topic_id, ask.partition_index
    role = replica.role
    error = _fetch_error(role, ask, replica_id, replica_epoch)
    if error is not ErrorCode.NONE or not isinstance(role, Leading):
        return replica, FetchedPartition(topic_id, index, error)
    diverging = replica_log.diverging_epoch(replica.log, ask.fetch_offset, ask.last_fetched_epoch)
    if diverging is not None:
        answer = FetchedPartition(
            topic_id, index, high_watermark=replica.high_watermark, diverging_epoch=diverging
        )
        return replica, answer
    leader_end = replica.log.end_offset
    known = role.followers.get(replica_id, NOT_HEARD)
    heard = FollowerState(
        ask.fetch_offset,
        leader_end,
        now_ms,
        _caught_up_ms(known, ask.fetch_offset, leader_end, now_ms),
        replica_epoch,
    )
    records = replica_log.records_from(replica.log, ask.fetch_offset, maximum)
    answer = FetchedPartition(
        topic_id, index, ErrorCode.NONE, replica.high_watermark, None, records
    )
    leading = Leading(role.view, role.epoch_start, role.followers.set(replica_id, heard))
    return Replica(replica.directory, replica.log, replica.high_watermark, leading), answer


def _fetch_error(
    role: Leading | Following | None,
    ask: FetchPartition,
    replica_id: BrokerId,
    replica_epoch: BrokerEpoch,
) -> ErrorCode:
    """Return the error of a fetch, or NONE. Kafka: Partition.checkCurrentLeaderEpoch (KIP-320)."""
    if not isinstance(role, Leading):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if ask.current_leader_epoch < role.view.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if ask.current_leader_epoch > role.view.leader_epoch or replica_id not in role.view.replicas:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    known = role.followers.get(replica_id, NOT_HEARD)
    if known.broker_epoch > replica_epoch >= 0:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE


def _caught_up_ms(known: FollowerState, offset: int, leader_end: int, now_ms: int) -> int | None:
    """Return when a follower was last caught up, after one more fetch from an offset.

    A follower that now has what the leader had at its last fetch was caught up at that time.

    Kafka: Replica.updateFetchStateOrThrow.
    """
    if offset >= leader_end:
        return now_ms
    if known.end_offset != UNKNOWN and offset >= known.leader_end_offset:
        return max(known.fetched_ms, known.caught_up_ms or 0)
    return known.caught_up_ms


def on_fetched(replica: Replica, asked: FetchPartition, answer: FetchedPartition) -> Replica:
    """Return the follower after the answer to its fetch; a late answer changes nothing.

    An answer with records of an earlier epoch than the log's last changes nothing either: two
    replicas led in one epoch, and Kafka stops following then.

    Spec: ReplicatedPartition!FetchRecords, ReplicatedPartition!TruncateLog.
    Kafka: AbstractFetcherThread.processFetchRequest, ReplicaFetcherThread.processPartitionData.
    """
    role = replica.role
    is_late = (
        not isinstance(role, Following)
        or role.leader_epoch != asked.current_leader_epoch
        or replica.log.end_offset != asked.fetch_offset
        or replica.log.last_epoch != asked.last_fetched_epoch
    )
    if is_late or answer.error_code is not ErrorCode.NONE:
        return replica
    log = replica.log
    if answer.records and answer.records[0][0] < log.last_epoch:
        return replica
    if answer.diverging_epoch is not None:
        log = replica_log.truncate_to_leader(log, answer.diverging_epoch)
        return replace(replica, log=log, high_watermark=min(replica.high_watermark, log.end_offset))
    if answer.records:
        log = replica_log.extend(log, answer.records)
    return Replica(replica.directory, log, min(answer.high_watermark, log.end_offset), replica.role)


def maximal_isr(view: PartitionLeader) -> tuple[BrokerId, ...]:
    """Return the replicas that may be in sync: the ISR and the pending ISR.

    Spec: Reassignment!MaximalIsr.
    Kafka: Partition.PartitionState.maximalIsr. KIP-497.
    """
    if not view.pending:
        return view.isr
    return (*view.isr, *(one for one in view.pending if one not in view.isr))


def advance_high_watermark(
    broker_id: BrokerId,
    replica: Replica,
    min_isr: int,
    waits_for: Callable[[BrokerId, FollowerState], bool],
) -> Replica:
    """Advance the high watermark to the lowest end offset among the replicas that may be in sync.

    It does not advance while fewer than the minimum are in sync: otherwise a replica that then
    leaves the ISR could not be an eligible leader (KIP-966). `waits_for` says whether a follower
    will soon join.

    Spec: ReplicatedPartition!AdvanceHighWatermark.
    Kafka: Partition.maybeIncrementLeaderHW.
    """
    role = replica.role
    end = replica.log.end_offset
    if end <= replica.high_watermark or not isinstance(role, Leading):
        return replica
    if not has_min_isr(role.view, min_isr):
        return replica
    members = maximal_isr(role.view)
    for one in role.view.replicas:
        if one == broker_id:
            continue
        known = role.followers.get(one, NOT_HEARD)
        if known.end_offset < end and (one in members or waits_for(one, known)):
            end = known.end_offset
    if end <= replica.high_watermark:
        return replica
    return Replica(replica.directory, replica.log, end, role)


def is_caught_up(replica: Replica, follower: FollowerState, now_ms: int, lag_ms: int) -> bool:
    """Return whether a follower has the whole log, or had it within the lag time.

    Kafka: Replica.ReplicaState.isCaughtUp.
    """
    if follower.end_offset == replica.log.end_offset:
        return True
    return follower.caught_up_ms is not None and now_ms - follower.caught_up_ms <= lag_ms


def is_follower_in_sync(replica: Replica, follower: FollowerState) -> bool:
    """Return whether a follower has everything that may be committed.

    What the leader's log had when its epoch began may be committed without the leader's knowledge.

    Spec: ReplicatedPartition!CaughtUp.
    Kafka: Partition.isFollowerInSync.
    """
    role = replica.role
    if not isinstance(role, Leading) or follower.end_offset == UNKNOWN:
        return False
    return follower.end_offset >= max(replica.high_watermark, role.epoch_start)


def is_isr_eligible(image: MetadataImage, broker_id: BrokerId, follower: FollowerState) -> bool:
    """Return whether a broker may join the ISR with the data that it fetched.

    It must be neither fenced nor in controlled shutdown (KIP-841), and registered under the epoch
    of its last fetch: a broker that came back may have lost that data (KIP-903).

    Kafka: Partition.isReplicaIsrEligible, Partition.isBrokerEpochIsrEligible.
    """
    registration = image.brokers.get(broker_id)
    if registration is None or registration.fenced or registration.in_controlled_shutdown:
        return False
    if follower.end_offset == UNKNOWN:
        return False
    return follower.broker_epoch in {NO_BROKER_EPOCH, registration.epoch}


def wanted_isr(
    broker_id: BrokerId,
    replica: Replica,
    now_ms: int,
    lag_ms: int,
    is_eligible: Callable[[BrokerId, FollowerState], bool],
) -> tuple[BrokerId, ...] | None:
    """Return the ISR that a leader wants instead of its own; None if it wants no other.

    Lagging replicas are removed first; then one replica that has caught up is added.

    Spec: ReplicatedPartition!ShrinkIsr, ReplicatedPartition!ExpandIsr.
    Kafka: Partition.maybeShrinkIsr, Partition.maybeExpandIsr.
    """
    role = replica.role
    if not isinstance(role, Leading):
        return None
    followers, view = role.followers, role.view
    kept = tuple(
        one
        for one in view.isr
        if one == broker_id or is_caught_up(replica, followers.get(one, NOT_HEARD), now_ms, lag_ms)
    )
    if kept != view.isr:
        return kept
    for one in view.replicas:
        if one not in view.isr:
            known = followers.get(one, NOT_HEARD)
            if is_follower_in_sync(replica, known) and is_eligible(one, known):
                return (*view.isr, one)
    return None
