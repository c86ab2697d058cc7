"""Snapshots: the state machine makes them, replicas fetch them in pieces, the log is cleaned.

Spec: KRaft!CreateSnapshot, CleanLog, AnswerFetchSnapshot, SendFetchSnapshot, LoadSnapshot,
AbandonSnapshot. Kafka: KafkaRaftClient.handleFetchSnapshotRequest, handleFetchSnapshotResponse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import CorruptRecordError, ErrorCode
from kraft.ids import NodeId, ReplicaKey
from kraft.log.image import Snapshot
from kraft.raft.configuration import MILLISECOND
from kraft.raft.connections import accept, back_off, send
from kraft.raft.contact import heard_leader, heard_of_voter
from kraft.raft.controls import ControlHistory
from kraft.raft.effects import (
    CleanLog,
    Fatal,
    FreezeSnapshot,
    SendResponse,
    SnapshotRefused,
    TruncateToSnapshot,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraft.raft.responses import handle_common
from kraft.raft.roles import Follower, Leader, leader_of
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.raft.validation import cluster_id_is_valid, follower_error
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse

if TYPE_CHECKING:
    from kraft.ids import OffsetAndEpoch
    from kraft.raft.events import CleanRequested, RequestReceived, ResponseReceived, SnapshotCreated
    from kraft.raft.state import RaftState


def on_snapshot_created(state: RaftState, event: SnapshotCreated) -> Step:
    """Write a snapshot that ends at or below the high watermark, or refuse it: SnapshotRefused.

    It is dropped in silence if it is older than the log, not newer than the newest snapshot, or
    already being fetched from the leader. A snapshot ends where a batch ends: batches are atomic.

    Spec: KRaft!CreateSnapshot.
    Kafka: KafkaRaftClient.createSnapshot, KafkaMetadataLog.createNewSnapshot.
    """
    snapshot_id, log = event.snapshot_id, state.log
    end, latest = snapshot_id.end_offset, log.latest_snapshot
    if end < log.start_offset:
        return Step(state)
    if state.high_watermark is None or end > state.high_watermark:
        return _refuse_snapshot(state, f"offset {end} is not known to be committed")
    if snapshot_id.epoch != log.epoch_before(end):
        reason = f"the record before offset {end} is not of epoch {snapshot_id.epoch}"
        return _refuse_snapshot(state, reason)
    if latest is not None and end <= latest.snapshot_id.end_offset:
        return Step(state)
    if log.truncate(end).end_offset != end:
        return _refuse_snapshot(state, f"no batch ends at offset {end}")
    role = state.role
    if end == log.start_offset or (
        isinstance(role, Follower) and role.fetching_snapshot == snapshot_id
    ):
        return Step(state)
    voters, version = state.controls.at(end - 1)
    written = event.now // MILLISECOND
    data = snapshot_bytes(snapshot_id, event.values, voters, version, event.last_timestamp, written)
    turn = Turn.begin(state, event.now, event.chance)
    turn.do(WriteSnapshot(snapshot_id, data))
    turn.log = log.with_snapshot(Snapshot(snapshot_id, data))
    return turn.step()


def _refuse_snapshot(state: RaftState, reason: str) -> Step:
    return Step(state, (SnapshotRefused(reason),))


def on_clean_requested(state: RaftState, event: CleanRequested) -> Step:
    """Let the log begin at its next snapshot; what that holds is gone from it.

    The newest snapshot stays. Spec: KRaft!CleanLog. Kafka: KafkaMetadataLog.deleteBeforeSnapshot.
    """
    log = state.log
    for snapshot in log.snapshots:
        if snapshot.snapshot_id.end_offset > log.start_offset:
            turn = Turn.begin(state, event.now, event.chance)
            turn.do(CleanLog(snapshot.snapshot_id))
            turn.log = log.clean_to(snapshot.snapshot_id)
            return turn.step()
    return Step(state)


def on_fetch_snapshot_request(
    state: RaftState, event: RequestReceived, request: FetchSnapshotRequest
) -> Step:
    """Answer with a piece of a snapshot. The request of a voter shows that it follows.

    A bootstrap snapshot, which ends at offset 0, is never sent.

    Spec: KRaft!AnswerFetchSnapshot, KRaft!RefuseFetch, KRaftElection!FenceRequest.
    Kafka: KafkaRaftClient.handleFetchSnapshotRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    snapshot = turn.log.snapshot(request.snapshot_id)
    if not cluster_id_is_valid(turn, request.cluster_id):
        error = ErrorCode.INCONSISTENT_CLUSTER_ID
    else:
        error = follower_error(turn, request.current_leader_epoch, request.replica_id)
    if error == ErrorCode.NONE and (snapshot is None or request.snapshot_id.end_offset == 0):
        error = ErrorCode.SNAPSHOT_NOT_FOUND
    data = b"" if snapshot is None else snapshot.data
    position = request.position
    if error == ErrorCode.NONE and not 0 <= position < len(data):
        error = ErrorCode.POSITION_OUT_OF_RANGE
    role = turn.role
    if error != ErrorCode.NONE or not isinstance(role, Leader):
        response = FetchSnapshotResponse(error, role.epoch, leader_of(role), request.snapshot_id)
        turn.do(SendResponse(event.source, response))
        return turn.step()
    if turn.voters.is_voter(ReplicaKey(request.replica_id, request.replica_directory_id)):
        fetched, deadline = heard_of_voter(turn, role, request.replica_id)
        turn.role = replace(role, fetched=fetched, check_quorum_deadline=deadline)
    maximum = min(request.maximum_bytes, turn.configuration.maximum_snapshot_bytes)
    piece = data[position : position + max(maximum, 0)]
    response = FetchSnapshotResponse(
        error, role.epoch, role.leader_id, request.snapshot_id, len(data), position, piece
    )
    turn.do(SendResponse(event.source, response))
    return turn.step()


def send_fetch_snapshot(turn: Turn, snapshot_id: OffsetAndEpoch) -> None:
    """Ask the leader for the next piece of the snapshot that is being loaded.

    Spec: KRaft!SendFetchSnapshot. Kafka: KafkaRaftClient.buildFetchSnapshotRequest.
    """
    role, configuration = turn.role, turn.configuration
    if not isinstance(role, Follower):
        raise TypeError("only a follower loads a snapshot")
    request = FetchSnapshotRequest(
        configuration.cluster_id,
        NodeId(-1) if configuration.node_id is None else configuration.node_id,
        configuration.directory_id,
        role.epoch,
        snapshot_id,
        sum(len(piece) for piece in role.snapshot_pieces),
        configuration.maximum_snapshot_bytes,
    )
    send(turn, role.leader_id, request)


def on_fetch_snapshot_response(
    state: RaftState, event: ResponseReceived, response: FetchSnapshotResponse
) -> Step:
    """Take a piece of the snapshot that is being loaded; with the last one it replaces the log.

    Spec: KRaft!LoadSnapshot, AbandonSnapshot, LoadsOldSnapshot.
    Kafka: KafkaRaftClient.handleFetchSnapshotResponse.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if not accept(turn, event):
        return Step(state)
    role, error, snapshot_id = turn.role, response.error_code, response.snapshot_id
    if not handle_common(turn, error, response.epoch, response.leader_id):
        if isinstance(role, Follower) and event.sender == role.leader_id:
            if error == ErrorCode.SNAPSHOT_NOT_FOUND or _is_nonsense(snapshot_id):
                heard_leader(turn, role, None)
            elif error != ErrorCode.NONE:
                back_off(turn, event.sender)
            else:
                _take_piece(turn, role, response)
        elif error not in (ErrorCode.NONE, ErrorCode.SNAPSHOT_NOT_FOUND):
            back_off(turn, event.sender)
    return turn.step()


def _is_nonsense(snapshot_id: OffsetAndEpoch | None) -> bool:
    return snapshot_id is not None and (snapshot_id.end_offset < 0 or snapshot_id.epoch < 0)


def _take_piece(turn: Turn, role: Follower, response: FetchSnapshotResponse) -> None:
    """Write a piece beside the log; the last piece completes the snapshot."""
    snapshot_id, pieces = response.snapshot_id, role.snapshot_pieces
    position = sum(len(piece) for piece in pieces)
    end = position + len(response.data)
    if snapshot_id is None or snapshot_id != role.fetching_snapshot:
        turn.do(Fatal(f"a piece of snapshot {snapshot_id}, not of {role.fetching_snapshot}"))
    elif response.position != position or end > response.size:
        turn.do(
            Fatal(
                f"{len(response.data)} bytes at {response.position} of {response.size}"
                f" of a snapshot, at {position} they were to be"
            )
        )
    elif end < response.size:
        turn.do(WriteSnapshotPart(snapshot_id, position, response.data))
        heard_leader(turn, role, snapshot_id)
        _keep_pieces(turn, (*pieces, response.data))
    else:
        _load(turn, role, Snapshot(snapshot_id, b"".join((*pieces, response.data))), position)


def _keep_pieces(turn: Turn, pieces: tuple[bytes, ...]) -> None:
    role = turn.role
    if isinstance(role, Follower):
        turn.role = replace(role, snapshot_pieces=pieces)


def _load(turn: Turn, role: Follower, snapshot: Snapshot, position: int) -> None:
    """Put the snapshot in the place of the log, and its voters in the place of those known.

    One that is damaged is fetched anew from its start. One that says less than the log ends the
    process: it would cut off records that may be committed.

    Spec: KRaft!LoadSnapshot, LoadsOldSnapshot. Kafka: ReplicatedLog.truncateToLatestSnapshot.
    """
    snapshot_id, end = snapshot.snapshot_id, turn.log.end
    if (snapshot_id.epoch, snapshot_id.end_offset) <= (end.epoch, end.end_offset):
        turn.do(Fatal(f"snapshot {snapshot_id} is not newer than the log, which ends at {end}"))
        return
    try:
        controls = ControlHistory.from_snapshot(turn.controls.static_voters, snapshot)
    except CorruptRecordError:
        _keep_pieces(turn, ())
        back_off(turn, role.leader_id)
        return
    turn.do(WriteSnapshotPart(snapshot_id, position, snapshot.data[position:]))
    turn.do(FreezeSnapshot(snapshot_id))
    turn.do(TruncateToSnapshot(snapshot_id))
    turn.log = turn.log.begin_at(snapshot)
    turn.controls = controls
    turn.high_watermark = snapshot_id.end_offset
    heard_leader(turn, role, None)
