"""Leading an epoch: its first record, what is appended to the log, and what is due.

Spec: KRaftElection!Lead, KRaft!AppendEntry, KRaft!Flush, KRaftElection!SendBeginQuorumEpoch.
Kafka: KafkaRaftClient.onBecomeLeader, pollLeader, LeaderState.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.log.batches import controls_batch
from kraft.raft import appends, parking, quorum, voter_changes, voter_updates
from kraft.raft.accumulator import Accumulator
from kraft.raft.configuration import MILLISECOND
from kraft.raft.connections import can_send
from kraft.raft.effects import AppendLog, FlushLog
from kraft.raft.high_watermark import update_leader_high_watermark
from kraft.raft.roles import NEVER, Leader, ReplicaProgress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.ids import NodeId
    from kraft.log.batches import LogBatch
    from kraft.raft.state import RaftState
    from kraft.raft.turn import Turn

_NOW = 0
"""A deadline that is over: Poll has something to do."""


def begin_epoch(turn: Turn, granting: Iterable[NodeId]) -> None:
    """Append the first batch of the epoch that `turn.role` leads, which names its leader.

    The quorum-state file says so already. It is flushed by the next Poll.

    Spec: KRaftElection!Lead.
    Kafka: KafkaRaftClient.onBecomeLeader, LeaderState.appendStartOfEpochControlRecords.
    """
    role = turn.role
    if not isinstance(role, Leader):
        raise TypeError("only a leader begins an epoch")
    end = turn.log.end_offset
    records = voter_updates.epoch_records(turn, granting)
    turn.role = replace(role, accumulator=Accumulator(role.epoch, end, scheduled_end=end))
    append_batch(turn, controls_batch(end, role.epoch, turn.now // MILLISECOND, records))


def end_leading(turn: Turn) -> None:
    """Answer all who wait for the leader that `turn.role` still is; what it gathered is dropped.

    To be called after the quorum-state file is written, before the role is left.
    Kafka: KafkaRaftClient.resetVoteCollector, LeaderState.close.
    """
    role = turn.role
    if isinstance(role, Leader):
        parking.abort_all(turn, role)
        voter_changes.end_pending(turn, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def append_batch(turn: Turn, batch: LogBatch) -> None:
    """Append a batch that begins at the end of the leader's log; what is gathered comes after it.

    Spec: KRaft!AppendEntry, KRaftVoters!AppendVoters. Kafka: KafkaRaftClient.appendBatch.
    """
    role = turn.role
    if isinstance(role, Leader) and role.accumulator is not None:
        turn.role = replace(role, accumulator=appends.shifted(role.accumulator, batch.count))
    append_batches(turn, (batch,))


def append_batches(turn: Turn, batches: tuple[LogBatch, ...]) -> None:
    """Append batches to the leader's log, to be flushed by a later Poll.

    The leader counts itself at once: a sole voter has committed them before they are flushed.

    Spec: KRaft!AppendEntry. Kafka: KafkaRaftClient.maybeAppendBatches, appendAsLeader.
    """
    turn.do(AppendLog(batches))
    turn.log = turn.log.append(batches)
    if any(batch.controls for batch in batches):
        turn.controls = turn.controls.with_batches(batches)
    role = turn.role
    if isinstance(role, Leader) and not role.must_flush:
        turn.role = replace(role, must_flush=True)
    update_leader_high_watermark(turn)


def poll_leader(turn: Turn) -> bool:
    """Do the first thing that is due of a leader, and only that; False: nothing is.

    Between an append and its flush only fetches that waited for it are answered. A leader that no
    majority fetches from resigns: it may be the only one who takes it for the leader.

    Spec: KRaft!AnswerFetch, KRaft!Flush, KRaftElection!Resign, KRaft!AppendRecord,
    KRaftElection!SendBeginQuorumEpoch.
    Kafka: KafkaRaftClient.pollLeader, flushLeaderLog.
    """
    role = turn.role
    if not isinstance(role, Leader):
        return False
    if role.parked and parking.answer_news(turn):
        return True
    if role.must_flush:
        turn.do(FlushLog())
        turn.role = replace(role, must_flush=False)
        return True
    if (
        role.resign_requested
        or turn.shutdown_deadline is not None
        or (turn.now >= role.check_quorum_deadline and len(turn.voters) > 1)
    ):
        quorum.become_resigned(turn)
        return True
    return (
        voter_changes.expire_pending(turn)
        or appends.drain(turn)
        or parking.answer_expired(turn)
        or _send_begin_quorum_epoch(turn, role)
        or _forget_observer(turn, role)
    )


def leader_deadline(state: RaftState) -> int:
    """Return when `poll_leader` has something to do: 0 if now, NEVER without anything.

    Kafka: KafkaRaftClient.pollLeader.
    """
    role = state.role
    if not isinstance(role, Leader):
        return NEVER
    if role.must_flush or role.resign_requested or state.shutdown_deadline is not None:
        return _NOW
    voters = state.controls.voters.voters
    deadline = min(
        parking.parked_deadline(state),
        appends.drain_deadline(role),
        voter_changes.pending_deadline(state),
    )
    if len(voters) > 1:
        deadline = min(deadline, role.check_quorum_deadline)
    own, progress = state.configuration.node_id, role.progress
    others = 0
    for voter in voters:
        if voter.key.node_id != own:
            known = progress.get(voter.key)
            if known is None:
                return _NOW
            others += 1
            deadline = min(deadline, known.begin_deadline)
    if len(progress) > others:
        keys = [voter.key for voter in voters]
        session = state.configuration.timeouts.observer_session
        for observer in progress.values():
            if observer.key not in keys:
                deadline = min(deadline, observer.last_fetch_time + session)
    return deadline


def _send_begin_quorum_epoch(turn: Turn, role: Leader) -> bool:
    """Tell the first voter that has not fetched of late who leads.

    One that cannot be told now is left until the next time. True: a voter's time was over.

    Spec: KRaftElection!SendBeginQuorumEpoch.
    Kafka: KafkaRaftClient.maybeSendBeginQuorumEpochRequests.
    """
    again = turn.now + turn.configuration.timeouts.begin_quorum_epoch
    progress = role.progress
    for voter in quorum.other_voters(turn):
        known = progress.get(voter.key) or ReplicaProgress(voter.key)
        if turn.now < known.begin_deadline:
            continue
        progress = progress.set(voter.key, replace(known, begin_deadline=again))
        if can_send(turn, voter.key.node_id):
            turn.role = replace(role, progress=progress)
            quorum.send_begin_quorum_epoch(turn, voter)
            return True
    if progress is role.progress:
        return False
    turn.role = replace(role, progress=progress)
    return True


def _forget_observer(turn: Turn, role: Leader) -> bool:
    """Forget the first observer that has not fetched for too long; True: there was one.

    Spec: KRaftSteps!ForgetObserver. Kafka: LeaderState.clearInactiveObservers.
    """
    keys = [voter.key for voter in turn.voters.voters]
    since = turn.now - turn.configuration.timeouts.observer_session
    silent = [
        observer.key
        for observer in role.progress.values()
        if observer.last_fetch_time <= since and observer.key not in keys
    ]
    if not silent:
        return False
    first = min(silent, key=lambda key: (key.node_id, key.directory_id or ""))
    turn.role = replace(role, progress=role.progress.delete(first))
    return True
