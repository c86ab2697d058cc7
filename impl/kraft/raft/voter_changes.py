"""Changes of the voters: one at a time, by a record that counts from the moment it is appended.

A leader adds a voter that has caught up, removes one, or updates one. It does so only once it has
committed a record of its epoch and the last change of the voters is committed. So the majorities of
any two voter sets that may be in force overlap.

Spec: KRaftVoters!VotersNext.
Kafka: AddVoterHandler, RemoveVoterHandler, UpdateVoterHandler.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, DirectoryId, ReplicaKey
from kraft.raft.connections import accept, can_send, send
from kraft.raft.effects import SendResponse
from kraft.raft.leader_log import append_controls
from kraft.raft.pending_changes import end_pending
from kraft.raft.pending_requests import PendingVoterChange
from kraft.raft.roles import Leader, leader_endpoints_of, leader_of
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.raft.validation import cluster_id_is_valid, leader_only_error
from kraft.raft.voter_records import voters_record
from kraft.raft.voters import Voter
from kraft.records.long_strings import LongStringError, check_strings
from kraft.rpc.raft_voters import (
    AddRaftVoterResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    RemoveRaftVoterResponse,
    UpdateRaftVoterResponse,
)

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.raft.events import RequestReceived, ResponseReceived, Source
    from kraft.raft.state import RaftState
    from kraft.raft.voters import VoterSet
    from kraft.rpc.endpoints import Endpoints
    from kraft.rpc.raft_voters import (
        AddRaftVoterRequest,
        RemoveRaftVoterRequest,
        UpdateRaftVoterRequest,
    )

Outcome = tuple[ErrorCode, str | None]
"""How a request to change the voters ended: the error, and a message for people."""

_ZERO_DIRECTORY: Final = DirectoryId(ZERO_UUID)


def on_add_voter_request(
    state: RaftState, event: RequestReceived, request: AddRaftVoterRequest
) -> Step:
    """Ask a replica that is to be added for its supported versions, or refuse to add it.

    The checks are in Kafka's order: the cluster, whether this replica leads, missing fields,
    whether a change is possible now, whether the node is a voter, whether it can be asked.

    Spec: KRaftVoters!AddVoter.
    Kafka: KafkaRaftClient.handleAddVoterRequest, AddVoterHandler.handleAddVoterRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    refusal = _add_voter(turn, event.source, request)
    if refusal is not None:
        turn.do(SendResponse(event.source, AddRaftVoterResponse(*refusal)))
    return turn.step()


def _add_voter(turn: Turn, source: Source, request: AddRaftVoterRequest) -> Outcome | None:
    leader = _leader(turn, request.cluster_id, turn.role.epoch)
    if isinstance(leader, ErrorCode):
        return leader, None
    key = _key(request.voter_id, request.voter_directory_id)
    if key is None:
        return ErrorCode.INVALID_REQUEST, "a voter has a node id and a directory id"
    reason = _reason_against(turn, request.listeners)
    if reason is not None:
        return ErrorCode.INVALID_REQUEST, reason
    refusal = _refusal(turn, leader)
    if refusal is not None:
        return refusal
    if turn.voters.get(key.node_id) is not None:
        return ErrorCode.DUPLICATE_VOTER, f"node {key.node_id} is a voter already"
    if key.node_id == turn.configuration.node_id or not can_send(turn, key.node_id):
        return ErrorCode.REQUEST_TIMED_OUT, f"node {key.node_id} cannot be asked now"
    send(turn, key.node_id, ApiVersionsRequest())
    deadline = turn.now + turn.configuration.timeouts.request
    pending = PendingVoterChange("add", source, Voter(key, request.listeners), deadline)
    turn.role = replace(leader, pending_change=pending)
    return None


def on_api_versions_request(
    state: RaftState, event: RequestReceived, _request: ApiVersionsRequest
) -> Step:
    """Say which kraft.versions this replica supports, whatever its role.

    Spec: KRaftVoters!AddVoter.
    Kafka: ControllerApis.handleApiVersionsRequest.
    """
    configuration = state.configuration
    response = ApiVersionsResponse(
        ErrorCode.NONE, configuration.minimum_version, configuration.maximum_version
    )
    return Step(state, (SendResponse(event.source, response),))


def on_api_versions_response(
    state: RaftState, event: ResponseReceived, response: ApiVersionsResponse
) -> Step:
    """Add the voter that has answered, if it supports the version and has caught up.

    Otherwise the change is given up. An answer that no pending change is about does nothing.

    Spec: KRaftVoters!CompleteAddVoter, KRaftElection!IgnoreResponse.
    Kafka: AddVoterHandler.handleApiVersionsResponse.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if not accept(turn, event):
        return Step(state)
    leader = turn.role
    if not isinstance(leader, Leader) or leader.pending_change is None:
        return turn.step()
    if _is_asked(leader.pending_change, event.sender):
        outcome = _complete_add_voter(turn, leader, leader.pending_change, response)
        if outcome is not None:
            end_pending(turn, *outcome)
    return turn.step()


def _complete_add_voter(
    turn: Turn, leader: Leader, pending: PendingVoterChange, response: ApiVersionsResponse
) -> Outcome | None:
    if response.error_code is not ErrorCode.NONE:
        return ErrorCode.REQUEST_TIMED_OUT, f"the new voter answered {response.error_code.name}"
    minimum, maximum = response.minimum_version, response.maximum_version
    finalized = turn.controls.version
    if not minimum <= finalized <= maximum:
        return (
            ErrorCode.INVALID_REQUEST,
            f"the new voter supports kraft.version {minimum} to {maximum}, not {finalized}",
        )
    if not _is_caught_up(turn, leader, pending.voter.key):
        return ErrorCode.REQUEST_TIMED_OUT, "the new voter has not caught up"
    voter = replace(pending.voter, minimum_version=minimum, maximum_version=maximum)
    voters = turn.voters.add(voter)
    if voters is None:
        return ErrorCode.DUPLICATE_VOTER, f"node {voter.key.node_id} is a voter already"
    _append_voters(turn, leader, voters, replace(pending, offset=turn.log.end_offset))
    return None


def _is_asked(pending: PendingVoterChange, node: NodeId) -> bool:
    """Return whether this node is to be added and has not answered yet."""
    return pending.kind == "add" and pending.offset is None and pending.voter.key.node_id == node


def _is_caught_up(turn: Turn, leader: Leader, key: ReplicaKey) -> bool:
    """Return whether a replica caught up in this epoch and has fetched lately.

    It may lag again by now. Spec: KRaftVoters!IsCaughtUp.
    Kafka: LeaderState.isReplicaCaughtUp.
    """
    progress = leader.progress.get(key)
    if progress is None:
        return False
    since = turn.now - turn.configuration.timeouts.caught_up_window
    return progress.last_caught_up_time >= 0 and progress.last_fetch_time > max(since, -1)


def on_remove_voter_request(
    state: RaftState, event: RequestReceived, request: RemoveRaftVoterRequest
) -> Step:
    """Append the voters without one of them, which may be the leader itself, or refuse to.

    The answer follows when the record is committed, or after a timeout; the record stays.

    Spec: KRaftVoters!RemoveVoter.
    Kafka: KafkaRaftClient.handleRemoveVoterRequest, RemoveVoterHandler.handleRemoveVoterRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    refusal = _remove_voter(turn, event.source, request)
    if refusal is not None:
        turn.do(SendResponse(event.source, RemoveRaftVoterResponse(*refusal)))
    return turn.step()


def _remove_voter(turn: Turn, source: Source, request: RemoveRaftVoterRequest) -> Outcome | None:
    leader = _leader(turn, request.cluster_id, turn.role.epoch)
    if isinstance(leader, ErrorCode):
        return leader, None
    key = _key(request.voter_id, request.voter_directory_id)
    if key is None:
        return ErrorCode.INVALID_REQUEST, "a voter has a node id and a directory id"
    refusal = _refusal(turn, leader)
    if refusal is not None:
        return refusal
    voters = turn.voters.remove(key)
    if voters is None:
        return ErrorCode.VOTER_NOT_FOUND, f"node {key.node_id} is no voter, or the only one"
    deadline = turn.now + turn.configuration.timeouts.request
    pending = PendingVoterChange("remove", source, Voter(key), deadline, turn.log.end_offset)
    _append_voters(turn, leader, voters, pending)
    return None


def on_update_voter_request(
    state: RaftState, event: RequestReceived, request: UpdateRaftVoterRequest
) -> Step:
    """Append the voters with one of them updated, and answer at once, or refuse to.

    Spec: KRaftVoters!UpdateVoter.
    Kafka: KafkaRaftClient.handleUpdateVoterRequest, UpdateVoterHandler.handleUpdateVoterRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    error = _update_voter(turn, request)
    leads = isinstance(turn.role, Leader)
    endpoints = turn.configuration.endpoints if leads else leader_endpoints_of(turn.role)
    response = UpdateRaftVoterResponse(error, turn.role.epoch, leader_of(turn.role), endpoints)
    turn.do(SendResponse(event.source, response))
    return turn.step()


def _update_voter(turn: Turn, request: UpdateRaftVoterRequest) -> ErrorCode:
    leader = _leader(turn, request.cluster_id, request.current_leader_epoch)
    if isinstance(leader, ErrorCode):
        return leader
    key = _key(request.voter_id, request.voter_directory_id)
    minimum, maximum = request.minimum_version, request.maximum_version
    if key is None or _reason_against(turn, request.listeners) is not None:
        return ErrorCode.INVALID_REQUEST
    if not 0 <= minimum <= maximum:
        return ErrorCode.INVALID_REQUEST
    refusal = _refusal(turn, leader)
    if refusal is not None:
        return refusal[0]
    if not minimum <= turn.controls.version <= maximum:
        return ErrorCode.INVALID_REQUEST
    voters = turn.voters.update(Voter(key, request.listeners, minimum, maximum))
    if voters is None:
        return ErrorCode.VOTER_NOT_FOUND
    _append_voters(turn, leader, voters, None)
    return ErrorCode.NONE


def _refusal(turn: Turn, leader: Leader) -> Outcome | None:
    """Return why a leader may not change the voters now, None if it may.

    Spec: KRaftVoters!MayChangeVoters.
    """
    if leader.pending_change is not None:
        return ErrorCode.REQUEST_TIMED_OUT, "another change of the voters is pending"
    if turn.high_watermark is None:
        return ErrorCode.REQUEST_TIMED_OUT, "nothing is committed in this epoch yet"
    if turn.controls.version < 1:
        return ErrorCode.UNSUPPORTED_VERSION, "kraft.version 0 has no record of the voters"
    offset = turn.controls.last_voters_offset
    if offset is None or offset >= turn.high_watermark:
        return ErrorCode.REQUEST_TIMED_OUT, "the last change of the voters is not committed yet"
    return None


def _append_voters(
    turn: Turn, leader: Leader, voters: VoterSet, pending: PendingVoterChange | None
) -> None:
    """Append a record of the voters: they count from here on, also for the record itself.

    A sole voter needs no fetches, so the time in which a majority has to fetch may be over for
    long. It begins anew when another voter comes. Kafka's does not, and its leader resigns.

    Spec: KRaftVoters!AppendVoters.
    Kafka: LeaderState.appendVotersRecord, LeaderState.timeUntilCheckQuorumExpires.
    """
    deadline = leader.check_quorum_deadline
    if len(turn.voters) == 1:
        deadline = turn.now + turn.configuration.timeouts.check_quorum
    turn.role = replace(leader, pending_change=pending, check_quorum_deadline=deadline)
    append_controls(turn, [voters_record(voters)])


def _leader(turn: Turn, cluster_id: str | None, epoch: int) -> Leader | ErrorCode:
    """Return this replica as the leader, or the error that any request for a change gets."""
    if not cluster_id_is_valid(turn, cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    error = leader_only_error(turn, epoch)
    if error is not ErrorCode.NONE:
        return error
    return turn.role if isinstance(turn.role, Leader) else ErrorCode.NOT_LEADER_OR_FOLLOWER


def _key(node_id: NodeId, directory_id: DirectoryId | None) -> ReplicaKey | None:
    """Return the key of a replica, None if it is not whole."""
    if node_id < 0 or directory_id in (None, _ZERO_DIRECTORY):
        return None
    return ReplicaKey(node_id, directory_id)


def _reason_against(turn: Turn, endpoints: Endpoints) -> str | None:
    """Return why no voter can have these listeners, or None if one can."""
    default = turn.configuration.default_listener
    if not any(endpoint.listener == default for endpoint in endpoints):
        return "a voter has the default listener"
    try:
        check_strings(endpoints)
    except LongStringError as error:
        return str(error)
    return None
