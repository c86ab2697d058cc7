"""Fetch requests at the leader: its answer, and what the request tells it of the sender's log.

A voter that fetches from an offset has flushed everything before it. So its fetch may commit
records, but only if the voter's log is a prefix of the leader's.

Spec: KRaft!AnswerFetch, AnswerDiverging, AnswerWithSnapshotId.
Kafka: KafkaRaftClient.handleFetchRequest, LeaderState.updateReplicaState.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.ids import NodeId, ReplicaKey
from kraft.raft import purgatory
from kraft.raft.contact import heard_of_voter
from kraft.raft.effects import SendResponse
from kraft.raft.fetch_answers import answer, divergence, needed_snapshot, refused
from kraft.raft.high_watermark import update_leader_high_watermark
from kraft.raft.roles import Leader, ReplicaProgress
from kraft.raft.turn import Turn
from kraft.raft.validation import cluster_id_is_valid, follower_error
from kraft.rpc.fetch import FetchResponse

if TYPE_CHECKING:
    from kraft.raft.events import RequestReceived
    from kraft.raft.state import RaftState, Step
    from kraft.rpc.fetch import FetchRequest

_NOTHING = ReplicaProgress(ReplicaKey(NodeId(-1)))


def on_fetch_request(state: RaftState, event: RequestReceived, request: FetchRequest) -> Step:
    """Answer a fetch, or put it into the purgatory until there is something to answer.

    It waits only if it may, its log is a prefix of the leader's, the log has nothing new for it,
    and its sender knows the high watermark.

    Spec: KRaft!AnswerFetch, AnswerDiverging, AnswerWithSnapshotId, RefuseFetch.
    Kafka: KafkaRaftClient.handleFetchRequest, tryCompleteFetchRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    error = _refuse(turn, request)
    role = turn.role
    if error != ErrorCode.NONE or not isinstance(role, Leader):
        turn.do(SendResponse(event.source, refused(turn, error)))
        return turn.step()
    offset, last_epoch = request.fetch_offset, request.last_fetched_epoch
    snapshot_id = needed_snapshot(turn.log, offset, last_epoch)
    end = None if snapshot_id is not None else divergence(turn.log, offset, last_epoch)
    if snapshot_id is not None or end is not None:
        response = FetchResponse(
            ErrorCode.NONE,
            role.epoch,
            role.leader_id,
            log_start_offset=turn.log.start_offset,
            diverging=end,
            snapshot_id=snapshot_id,
        )
        turn.do(SendResponse(event.source, response))
        return turn.step()
    if request.replica_id >= 0:
        _note_position(turn, role, request)
    if purgatory.may_wait(turn, request):
        purgatory.park(turn, event.source, request)
    else:
        turn.do(SendResponse(event.source, answer(turn, role, request)))
    return turn.step()


def _refuse(turn: Turn, request: FetchRequest) -> ErrorCode:
    if not cluster_id_is_valid(turn, request.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    if (
        request.maximum_wait < 0
        or request.fetch_offset < 0
        or request.last_fetched_epoch < 0
        or request.last_fetched_epoch > request.current_leader_epoch
    ):
        return ErrorCode.INVALID_REQUEST
    return follower_error(turn, request.current_leader_epoch, request.replica_id)


def _note_position(turn: Turn, role: Leader, request: FetchRequest) -> None:
    """Note how far a replica has come, and what that commits.

    A position before the last one is noted as well: the replica has lost its disk.

    Kafka: LeaderState.updateReplicaState, ReplicaState.updateFollowerState.
    """
    now, offset, end = turn.now, request.fetch_offset, turn.log.end_offset
    key = ReplicaKey(request.replica_id, request.replica_directory_id)
    voter = turn.controls.voters.get(key.node_id)
    counts = voter is not None and voter.key.directory_id in (None, key.directory_id)
    if voter is not None and counts:
        key = voter.key
    old = role.progress.get(key, _NOTHING)
    caught_up = old.last_caught_up_time
    if offset >= end:
        caught_up = now
    elif 0 < old.last_fetch_leader_end_offset <= offset:
        caught_up = max(old.last_fetch_time, caught_up)
    told = now + turn.configuration.timeouts.begin_quorum_epoch
    progress = role.progress.set(key, ReplicaProgress(key, offset, now, end, caught_up, told))
    fetched, deadline = role.fetched, role.check_quorum_deadline
    if counts:
        fetched, deadline = heard_of_voter(turn, role, key.node_id)
    turn.role = replace(role, progress=progress, fetched=fetched, check_quorum_deadline=deadline)
    if counts and offset != old.end_offset:
        update_leader_high_watermark(turn)
