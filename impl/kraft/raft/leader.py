"""The timers of a leader, and what it does when one is due.

Spec: KRaft!Flush, KRaftElection!Resign, KRaftElection!SendBeginQuorumEpoch.
Kafka: KafkaRaftClient.pollLeader, LeaderState.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.raft import appends, pending_changes, purgatory, quorum
from kraft.raft.connections import can_send
from kraft.raft.effects import FlushLog
from kraft.raft.roles import NEVER, Leader, ReplicaProgress

if TYPE_CHECKING:
    from kraft.raft.state import RaftState
    from kraft.raft.turn import Turn

_NOW = 0
"""A deadline that is over: Poll has something to do."""


def poll_leader(turn: Turn) -> bool:
    """Do the first thing that is due at a leader, and only that; False: nothing is.

    Between an append and its flush a leader answers only fetches that waited for the append. A
    leader resigns if no majority fetches from it: no other replica may take it for the leader.

    Spec: KRaft!AnswerFetch, KRaft!Flush, KRaftElection!Resign, KRaft!AppendRecord,
    KRaftElection!SendBeginQuorumEpoch.
    Kafka: KafkaRaftClient.pollLeader, flushLeaderLog.
    """
    role = turn.role
    if not isinstance(role, Leader):
        return False
    if role.parked and purgatory.answer_news(turn):
        return True
    if role.must_flush:
        turn.do(FlushLog())
        turn.role = replace(role, must_flush=False)
        return True
    if turn.now >= role.check_quorum_deadline and len(turn.voters) > 1:
        quorum.become_resigned(turn)
        return True
    return (
        pending_changes.expire_pending(turn)
        or appends.drain(turn)
        or purgatory.answer_expired(turn)
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
    if role.must_flush or role.resign_requested:
        return _NOW
    voters = state.controls.voters.voters
    deadline = min(
        purgatory.parked_deadline(state),
        appends.drain_deadline(role),
        pending_changes.pending_deadline(state),
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
    """Send BeginQuorumEpoch to the first voter that has not fetched lately; False: there is none.

    A voter that cannot be reached now waits for its next turn.

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
