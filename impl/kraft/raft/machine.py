"""One replica of the metadata log, event by event.

Spec: KRaft!Next.
Kafka: KafkaRaftClient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.raft import (
    appends,
    describe_quorum,
    events,
    fetch_requests,
    follower,
    quorum_epochs,
    snapshots,
    voter_changes,
    voter_updates,
    votes,
)
from kraft.raft.effects import Fatal
from kraft.raft.listener import is_told, tell_listener
from kraft.raft.poll import on_poll, poll_deadline
from kraft.raft.roles import Leader
from kraft.raft.shutdown import on_resign_requested, on_shutdown_requested
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.rpc.describe_quorum import DescribeQuorumRequest
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kraft.rpc.quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from kraft.rpc.raft_voters import (
    AddRaftVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    RemoveRaftVoterRequest,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from kraft.rpc.vote import VoteRequest, VoteResponse

if TYPE_CHECKING:
    from kraft.raft.state import RaftState


def on_event(state: RaftState, event: events.Event) -> Step:
    """Return the replica after an event, and its effects in order.

    The effects for the state machine come last. A replica that cannot go on has the single effect
    Fatal and an unchanged state.

    Spec: KRaft!Next. Kafka: KafkaRaftClient.handleInboundMessage, poll.
    """
    step = _handle(state, event)
    for effect in step.effects:
        if isinstance(effect, Fatal):
            return Step(state, (effect,))
    if step.state is state or is_told(step.state):
        return step
    turn = Turn.begin(step.state, event.now, event.chance)
    tell_listener(turn)
    if not turn.effects:
        return step
    return Step(turn.step().state, step.effects + tuple(turn.effects))


def next_deadline(state: RaftState) -> int:
    """Return when the replica must be polled: a time of its own clock in nanoseconds, or NEVER.

    A time that has passed means that something is due. Kafka: KafkaRaftClient.pollCurrentState.
    """
    return poll_deadline(state)


def is_busy(state: RaftState) -> bool:
    """Return whether the replica must Poll before it may take a message.

    Spec: KRaftState!Idle.
    """
    return isinstance(state.role, Leader) and state.role.must_flush


def _handle(state: RaftState, event: events.Event) -> Step:
    match event:
        case events.RequestReceived():
            return _on_request(state, event)
        case events.ResponseReceived():
            return _on_response(state, event)
        case events.Poll():
            return on_poll(state, event)
        case events.PrepareAppend():
            return appends.on_prepare_append(state, event)
        case events.ScheduleAppend():
            return appends.on_schedule_append(state, event)
        case events.ResignRequested():
            return on_resign_requested(state, event)
        case events.ShutdownRequested():
            return on_shutdown_requested(state, event)
        case events.SnapshotCreated():
            return snapshots.on_snapshot_created(state, event)
        case events.CleanRequested():
            return snapshots.on_clean_requested(state, event)


def _on_request(state: RaftState, event: events.RequestReceived) -> Step:
    """Take a request. Kafka: KafkaRaftClient.handleRequest."""
    match event.request:
        case VoteRequest() as request:
            return votes.on_vote_request(state, event, request)
        case BeginQuorumEpochRequest() as request:
            return quorum_epochs.on_begin_quorum_epoch_request(state, event, request)
        case EndQuorumEpochRequest() as request:
            return quorum_epochs.on_end_quorum_epoch_request(state, event, request)
        case FetchRequest() as request:
            return fetch_requests.on_fetch_request(state, event, request)
        case FetchSnapshotRequest() as request:
            return snapshots.on_fetch_snapshot_request(state, event, request)
        case DescribeQuorumRequest() as request:
            return describe_quorum.on_describe_quorum_request(state, event, request)
        case AddRaftVoterRequest() as request:
            return voter_changes.on_add_voter_request(state, event, request)
        case RemoveRaftVoterRequest() as request:
            return voter_changes.on_remove_voter_request(state, event, request)
        case UpdateRaftVoterRequest() as request:
            return voter_changes.on_update_voter_request(state, event, request)
        case ApiVersionsRequest() as request:
            return voter_changes.on_api_versions_request(state, event, request)


def _on_response(state: RaftState, event: events.ResponseReceived) -> Step:
    """Handle a response; one to a request that no replica sends is ignored.

    Kafka: KafkaRaftClient.handleResponse.
    """
    match event.response:
        case VoteResponse() as response:
            return votes.on_vote_response(state, event, response)
        case BeginQuorumEpochResponse() as response:
            return quorum_epochs.on_begin_quorum_epoch_response(state, event, response)
        case EndQuorumEpochResponse() as response:
            return quorum_epochs.on_end_quorum_epoch_response(state, event, response)
        case FetchResponse() as response:
            return follower.on_fetch_response(state, event, response)
        case FetchSnapshotResponse() as response:
            return snapshots.on_fetch_snapshot_response(state, event, response)
        case ApiVersionsResponse() as response:
            return voter_changes.on_api_versions_response(state, event, response)
        case UpdateRaftVoterResponse() as response:
            return voter_updates.on_update_voter_response(state, event, response)
        case _:
            return Step(state)
