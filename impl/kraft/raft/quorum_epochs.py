"""BeginQuorumEpoch and EndQuorumEpoch: a leader announces that it leads, or that it resigned.

Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest, handleEndQuorumEpochRequest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft.configuration import MILLISECOND
from kraft.raft.connections import accept, back_off
from kraft.raft.effects import SendResponse
from kraft.raft.quorum import become_follower
from kraft.raft.responses import handle_common, is_other_leader, refuse_leader
from kraft.raft.roles import Follower, Resigned, Unattached, leader_of
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.raft.validation import cluster_id_is_valid, is_addressed, voter_only_error
from kraft.rpc.quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)

if TYPE_CHECKING:
    from kraft.ids import ReplicaKey
    from kraft.raft.events import RequestReceived, ResponseReceived
    from kraft.raft.state import RaftState

    QuorumEpochRequest = BeginQuorumEpochRequest | EndQuorumEpochRequest
    QuorumEpochResponse = BeginQuorumEpochResponse | EndQuorumEpochResponse


def on_begin_quorum_epoch_request(
    state: RaftState, event: RequestReceived, request: BeginQuorumEpochRequest
) -> Step:
    """Follow the leader of this epoch or a higher one.

    A request for another replica counts as well: it names the leader truly.
    Spec: KRaftElection!HandleBeginQuorumEpoch, FenceRequest.
    Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    error = _hear_of_leader(turn, request)
    if error == ErrorCode.NONE and not is_addressed(
        turn, request.voter_id, request.voter_directory_id
    ):
        error = ErrorCode.INVALID_VOTER_KEY
    response = BeginQuorumEpochResponse(error, turn.role.epoch, leader_of(turn.role))
    turn.do(SendResponse(event.source, response))
    return turn.step()


def on_end_quorum_epoch_request(
    state: RaftState, event: RequestReceived, request: EndQuorumEpochRequest
) -> Step:
    """Wait for a new leader no longer than one's place among the successors asks for.

    Spec: KRaftElection!HandleEndQuorumEpoch, FenceRequest.
    Kafka: KafkaRaftClient.handleEndQuorumEpochRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    error = _hear_of_leader(turn, request)
    role = turn.role
    if error == ErrorCode.NONE and isinstance(role, Follower) and turn.key is not None:
        backoff = successor_backoff(
            request.preferred_candidates,
            turn.key,
            turn.configuration.timeouts.election_backoff_maximum,
        )
        turn.role = replace(role, fetch_deadline=turn.now + backoff)
    response = EndQuorumEpochResponse(error, turn.role.epoch, leader_of(turn.role))
    turn.do(SendResponse(event.source, response))
    return turn.step()


def successor_backoff(successors: tuple[ReplicaKey, ...], key: ReplicaKey, maximum: int) -> int:
    """Return how many nanoseconds a replica waits for better successors to stand first.

    The first does not wait, and each later one waits twice as long as the one before it, up to
    `maximum`. A replica that is not in the list waits `maximum`. An empty list makes every replica
    the first.
    Kafka: KafkaRaftClient.endEpochElectionBackoff, strictExponentialElectionBackoffMs.
    """
    count = len(successors)
    place = next(
        (
            index
            for index, successor in enumerate(successors)
            if successor.node_id == key.node_id
            and successor.directory_id in (None, key.directory_id)
        ),
        count,
    )
    if place == 0:
        return 0
    if place >= count:
        return maximum
    base = (maximum // MILLISECOND) >> (count - 1)
    return min(maximum, (base << (place - 1)) * MILLISECOND)


def on_begin_quorum_epoch_response(
    state: RaftState, event: ResponseReceived, response: BeginQuorumEpochResponse
) -> Step:
    """Handle the epoch in a voter's answer; only its fetches show that it follows.

    Spec: KRaftElection!DiscoverEpoch, IgnoreResponse.
    Kafka: KafkaRaftClient.handleBeginQuorumEpochResponse.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if not accept(turn, event):
        return Step(state)
    error = response.error_code
    handled = handle_common(turn, error, response.epoch, response.leader_id)
    if not handled and error != ErrorCode.NONE:
        back_off(turn, event.sender)
    return turn.step()


def on_end_quorum_epoch_response(
    state: RaftState, event: ResponseReceived, response: EndQuorumEpochResponse
) -> Step:
    """Handle the epoch in a voter's answer; the voter now knows that its leader has resigned.

    Spec: KRaftElection!DiscoverEpoch, IgnoreResponse.
    Kafka: KafkaRaftClient.handleEndQuorumEpochResponse, ResignedState.acknowledgeResignation.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if not accept(turn, event):
        return Step(state)
    if handle_common(turn, response.error_code, response.epoch, response.leader_id):
        return turn.step()
    role = turn.role
    if response.error_code != ErrorCode.NONE:
        back_off(turn, event.sender)
    elif isinstance(role, Resigned):
        turn.role = replace(role, unacknowledged=role.unacknowledged - {event.sender})
    return turn.step()


def _hear_of_leader(turn: Turn, request: QuorumEpochRequest) -> ErrorCode:
    """Follow the sender if that is news; return why the request is refused, or NONE.

    Spec: KRaftElection!HearOfLeader. Kafka: KafkaRaftClient.maybeTransition.
    """
    if not cluster_id_is_valid(turn, request.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    error = voter_only_error(turn, request.leader_id, request.epoch)
    if error != ErrorCode.NONE:
        return error
    role = turn.role
    if is_other_leader(turn, request.epoch, request.leader_id):
        refuse_leader(turn, request.epoch, request.leader_id)
    elif request.epoch > role.epoch or leader_of(role) is None or isinstance(role, Unattached):
        become_follower(turn, request.epoch, request.leader_id, request.leader_endpoints)
    elif isinstance(role, Follower) and len(request.leader_endpoints) > len(role.leader_endpoints):
        turn.role = replace(role, leader_endpoints=request.leader_endpoints)
    return ErrorCode.NONE
