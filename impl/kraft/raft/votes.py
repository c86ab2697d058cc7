"""Votes and pre-votes: how they are granted, and what the answers decide.

Spec: KRaftElection!CanGrantVote.
Kafka: KafkaRaftClient.handleVoteRequest, handleVoteResponse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.ids import OffsetAndEpoch, ReplicaKey
from kraft.raft.connections import accept, back_off
from kraft.raft.effects import Fatal, SendResponse
from kraft.raft.quorum import (
    become_candidate,
    become_leader,
    become_unattached,
    is_majority,
    vote_as_prospective,
)
from kraft.raft.responses import handle_common
from kraft.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Unattached,
    leader_of,
    voted_of,
)
from kraft.raft.state import Step
from kraft.raft.turn import Turn
from kraft.raft.validation import cluster_id_is_valid, is_addressed, voter_only_error
from kraft.rpc.vote import VoteRequest, VoteResponse

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.raft.events import RequestReceived, ResponseReceived
    from kraft.raft.roles import Nominee
    from kraft.raft.state import RaftState


def on_vote_request(state: RaftState, event: RequestReceived, request: VoteRequest) -> Step:
    """Vote or refuse; a higher epoch is taken over either way.

    Spec: KRaftElection!GrantVote, GrantPreVote, RefuseVote, FenceRequest.
    Kafka: KafkaRaftClient.handleVoteRequest.
    """
    turn = Turn.begin(state, event.now, event.chance)
    error, granted = _vote(turn, request)
    response = VoteResponse(error, turn.role.epoch, leader_of(turn.role), granted)
    turn.do(SendResponse(event.source, response))
    return turn.step()


def can_grant_vote(turn: Turn, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
    """Return whether a replica of the candidate's own epoch grants it the vote.

    A pre-vote binds no replica: a leader refuses it, and so does a follower whose leader has
    answered it. A replica votes once in an epoch, and not if it knows the leader. The candidate
    that got the vote gets it again, whatever its log, which was checked the first time.

    Spec: KRaftElection!CanGrantVote. Kafka: EpochState.canGrantVote.
    """
    role = turn.role
    if pre_vote:
        refuses = isinstance(role, Leader) or (isinstance(role, Follower) and role.has_fetched)
        return up_to_date and not refuses
    if not isinstance(role, Unattached | Prospective) or turn.configuration.node_id is None:
        return False
    if role.voted is not None:
        return _is_same_voter(role.voted, candidate)
    return up_to_date and role.leader_id is None


def is_up_to_date(turn: Turn, end: OffsetAndEpoch) -> bool:
    """Return whether a log with this end is at least as up to date as the replica's own.

    Epochs are compared first, and offsets only within one epoch.
    Spec: KRaftState!IsUpToDate. Kafka: OffsetAndEpoch.
    """
    own = turn.log.end
    return (end.epoch, end.end_offset) >= (own.epoch, own.end_offset)


def on_vote_response(state: RaftState, event: ResponseReceived, response: VoteResponse) -> Step:
    """Count an answer: it may decide the election, or be the last that could have won it.

    Spec: KRaftElection!RecordVote, BecomeCandidate, BecomeLeader, DiscoverEpoch, IgnoreResponse.
    Kafka: KafkaRaftClient.handleVoteResponse, EpochElection.recordVote.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if not accept(turn, event):
        return Step(state)
    role = turn.role
    error = response.error_code
    if error == ErrorCode.UNSUPPORTED_VERSION and isinstance(role, Prospective):
        # An older voter knows no pre-votes: stand without them.
        become_candidate(turn)
        return turn.step()
    if handle_common(turn, error, response.epoch, response.leader_id):
        return turn.step()
    if error != ErrorCode.NONE:
        back_off(turn, event.sender)
    elif isinstance(role, Prospective | Candidate):
        _record(turn, role, event.sender, response.vote_granted)
    return turn.step()


def _vote(turn: Turn, request: VoteRequest) -> tuple[ErrorCode, bool]:
    """Return the error and whether the vote is granted, after the transition that this makes."""
    if not cluster_id_is_valid(turn, request.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID, False
    if not _is_sane(request):
        return ErrorCode.INVALID_REQUEST, False
    error = voter_only_error(turn, request.candidate_id, request.epoch)
    if error != ErrorCode.NONE:
        return error, False
    candidate = ReplicaKey(request.candidate_id, request.candidate_directory_id)
    addressed = is_addressed(turn, request.voter_id, request.voter_directory_id)
    up_to_date = is_up_to_date(turn, OffsetAndEpoch(request.last_offset, request.last_epoch))
    if request.epoch > turn.role.epoch:
        # Nothing binds the replica in a new epoch but its log.
        can_vote = turn.configuration.node_id is not None or request.pre_vote
        granted = addressed and up_to_date and can_vote
        voted = candidate if granted and not request.pre_vote else None
        become_unattached(turn, request.epoch, voted)
    else:
        granted = addressed and can_grant_vote(turn, candidate, up_to_date, request.pre_vote)
        if granted and not request.pre_vote and voted_of(turn.role) is None:
            _give_vote(turn, candidate)
    return (ErrorCode.NONE if addressed else ErrorCode.INVALID_VOTER_KEY), granted


def _give_vote(turn: Turn, candidate: ReplicaKey) -> None:
    if isinstance(turn.role, Prospective):
        vote_as_prospective(turn, candidate)
    else:
        become_unattached(turn, turn.role.epoch, candidate)


def _is_sane(request: VoteRequest) -> bool:
    """Return whether the end of the candidate's log is possible.

    A candidate has no record of the epoch in which it stands; a prospective may have some.
    Kafka: KafkaRaftClient.handleVoteRequest.
    """
    if request.last_offset < 0 or request.last_epoch < 0:
        return False
    if request.pre_vote:
        return request.last_epoch <= request.epoch
    return request.last_epoch < request.epoch


def _is_same_voter(voted: ReplicaKey, candidate: ReplicaKey) -> bool:
    """Return whether a vote was for this candidate, as far as its disk is known.

    Kafka: UnattachedState.canGrantVote.
    """
    return voted.node_id == candidate.node_id and (
        voted.directory_id in (None, candidate.directory_id)
    )


def _record(turn: Turn, role: Nominee, sender: NodeId, granted: bool) -> None:
    against = role.rejected if granted else role.granted
    if sender not in turn.voters.node_ids or sender in against:
        turn.do(Fatal(f"node {sender} is no voter, or has answered otherwise before"))
        return
    if not granted:
        turn.role = replace(role, rejected=role.rejected | {sender})
        return
    turn.role = won = replace(role, granted=role.granted | {sender})
    if not is_majority(turn.voters, won.granted):
        return
    if isinstance(won, Prospective):
        become_candidate(turn)
    else:
        become_leader(turn)
