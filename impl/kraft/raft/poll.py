"""Poll does the first thing that is due, and tells when the next one will be.

The duties of a leader are in `leader`, those of a replica that fetches in `follower`. Here are the
timers of the other roles, unanswered requests, and retries.

Kafka: KafkaRaftClient.poll, pollCurrentState.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.raft import follower, leader
from kraft.raft.connections import can_send, expire_first, next_connection_deadline, ready_at
from kraft.raft.quorum import (
    become_follower,
    become_prospective,
    become_resigned,
    become_unattached,
    can_still_win,
    is_only_voter,
    other_voters,
    send_end_quorum_epoch,
    send_vote_request,
)
from kraft.raft.roles import NEVER, Candidate, Follower, Leader, Prospective, Resigned, Unattached
from kraft.raft.shutdown import complete_shutdown, may_end
from kraft.raft.state import Step
from kraft.raft.turn import Turn

if TYPE_CHECKING:
    from kraft.raft.events import Poll
    from kraft.raft.roles import Nominee
    from kraft.raft.state import RaftState
    from kraft.raft.voters import Voter

_NOW = 0
"""A deadline that is over: Poll has something to do."""


def on_poll(state: RaftState, event: Poll) -> Step:
    """Do the first thing that is due, and only that; nothing once it has shut down.

    Spec: KRaftElection!BecomeProspective, LosePreVote, LeaveResigned, BecomeSoleLeader, Resign,
    SendVoteRequest; KRaft!RequestTimeout; KRaftSteps!SendEndQuorumEpoch.
    Kafka: KafkaRaftClient.poll.
    """
    if state.shutdown_deadline == NEVER:
        return Step(state)
    turn = Turn.begin(state, event.now, event.chance)
    role = turn.role
    if isinstance(role, Leader) and role.must_flush:
        # Nothing comes between an append and its flush but the fetches that waited for it.
        leader.poll_leader(turn)
    elif not complete_shutdown(turn) and not expire_first(turn):
        _poll_role(turn)
    return turn.step()


def poll_deadline(state: RaftState) -> int:
    """Return when something is due, in nanoseconds of the replica's clock; NEVER if nothing is.

    Kafka: KafkaRaftClient.pollCurrentState.
    """
    role = state.role
    if isinstance(role, Leader) and role.must_flush:
        return _NOW
    if state.shutdown_deadline is None:
        # What most replicas are most of the time, without a turn.
        if isinstance(role, Follower):
            return min(next_connection_deadline(state), follower.follower_deadline(state))
        if isinstance(role, Leader):
            return min(next_connection_deadline(state), leader.leader_deadline(state))
    turn = Turn.begin(state, 0, 0)
    shutdown = NEVER
    if state.shutdown_deadline is not None:
        if state.shutdown_deadline == NEVER:
            return NEVER
        shutdown = _NOW if may_end(turn) else state.shutdown_deadline
    return min(shutdown, next_connection_deadline(state), _role_deadline(turn, state))


def _poll_role(turn: Turn) -> None:
    role = turn.role
    match role:
        case Leader():
            if role.resign_requested or turn.shutdown_deadline is not None:
                become_resigned(turn)
            else:
                leader.poll_leader(turn)
        case Follower():
            follower.poll_follower(turn)
        case Unattached():
            _poll_unattached(turn, role)
        case Prospective() | Candidate():
            _poll_nominee(turn, role)
        case Resigned():
            _poll_resigned(turn, role)


def _role_deadline(turn: Turn, state: RaftState) -> int:
    role = turn.role
    shutting_down = turn.shutdown_deadline is not None
    match role:
        case Leader():
            # It is shutting down, else it was asked before: it resigns.
            return _NOW
        case Follower():
            return follower.follower_deadline(state)
        case Unattached():
            if shutting_down:
                return NEVER
            return min(_election_deadline(turn, role), follower.follower_deadline(state))
        case Prospective() | Candidate():
            again = min(
                (ready_at(state, v.key.node_id) for v in _unheard(turn, role)), default=NEVER
            )
            if shutting_down:
                return again
            if isinstance(role, Prospective) and not can_still_win(turn, role):
                return _NOW
            return min(again, _election_deadline(turn, role))
        case Resigned():
            again = min(
                (ready_at(state, voter.key.node_id) for voter in _unacknowledged(turn, role)),
                default=NEVER,
            )
            return again if shutting_down else min(again, role.election_deadline)


def _election_deadline(turn: Turn, role: Unattached | Nominee) -> int:
    """Return when the election timer of a role ends; never for a replica that is no voter."""
    return role.election_deadline if turn.is_voter else NEVER


def _poll_unattached(turn: Turn, role: Unattached) -> None:
    """Stand for election once there was no leader for too long; until then ask for the leader.

    Kafka: KafkaRaftClient.pollUnattached.
    """
    if turn.shutdown_deadline is not None:
        return
    if _election_deadline(turn, role) <= turn.now:
        become_prospective(turn)
    else:
        follower.poll_follower(turn)


def _poll_nominee(turn: Turn, role: Nominee) -> None:
    """Give up an election that is lost or takes too long, or ask the silent voters again.

    A candidate that has lost waits out its timer, so that not all try again at once.
    Kafka: KafkaRaftClient.pollCandidate, pollProspective.
    """
    if turn.shutdown_deadline is None:
        if isinstance(role, Prospective):
            if not can_still_win(turn, role) or _election_deadline(turn, role) <= turn.now:
                _lose_pre_vote(turn, role)
                return
        elif _election_deadline(turn, role) <= turn.now:
            become_prospective(turn)
            return
    for voter in _unheard(turn, role):
        if can_send(turn, voter.key.node_id):
            send_vote_request(turn, voter)
            return


def _lose_pre_vote(turn: Turn, role: Prospective) -> None:
    """Go back to the known leader, or wait for one; the vote of the epoch stays.

    A replica that knows only the leader's id keeps it, and asks for the leader's endpoints.

    Spec: KRaftElection!LosePreVote, KRaftSteps!LosePreVoteByName.
    Kafka: KafkaRaftClient.prospectiveTransitionAfterElectionLoss.
    """
    if role.leader_id is None or not role.leader_endpoints:
        become_unattached(turn, role.epoch, role.voted, role.leader_id)
    else:
        become_follower(turn, role.epoch, role.leader_id, role.leader_endpoints)


def _poll_resigned(turn: Turn, role: Resigned) -> None:
    """Go on to the next epoch once the successors had their time; tell the others until then.

    Spec: KRaftElection!LeaveResigned, KRaftSteps!SendEndQuorumEpoch.
    Kafka: KafkaRaftClient.pollResigned.
    """
    if turn.shutdown_deadline is None and turn.now >= role.election_deadline:
        if is_only_voter(turn):
            become_prospective(turn)
        else:
            become_unattached(turn, role.epoch + 1)
        return
    for voter in _unacknowledged(turn, role):
        if can_send(turn, voter.key.node_id):
            send_end_quorum_epoch(turn, voter)
            return


def _unacknowledged(turn: Turn, role: Resigned) -> tuple[Voter, ...]:
    """Return the voters that have not said that they know. Kafka: ResignedState.unackedVoters."""
    return tuple(voter for voter in other_voters(turn) if voter.key.node_id in role.unacknowledged)


def _unheard(turn: Turn, role: Nominee) -> tuple[Voter, ...]:
    """Return the voters whose votes are missing; none once the nominee has lost.

    Kafka: EpochElection.isVoteRejected, NomineeState.
    """
    if not can_still_win(turn, role):
        return ()
    heard = role.granted | role.rejected
    return tuple(voter for voter in other_voters(turn) if voter.key.node_id not in heard)
