"""The transitions between the six roles.

A transition first writes the quorum-state file, if it has anything new. It drops the state of the
role that it ends and closes all connections, because the new role waits for none of the old
responses. The high watermark stays, except for a new leader.

Spec: KRaftState!WriteQuorumState, KRaftElection!Lead.
Kafka: QuorumState.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.raft.connections import reset_all, send
from kraft.raft.effects import WriteQuorumState
from kraft.raft.leadership import begin_epoch, end_leading
from kraft.raft.roles import (
    NEVER,
    NO_PROGRESS,
    Candidate,
    Follower,
    Leader,
    Prospective,
    ReplicaProgress,
    Resigned,
    Unattached,
    leader_endpoints_of,
    leader_of,
    voted_of,
)
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest, EndQuorumEpochRequest
from kraft.rpc.vote import VoteRequest

if TYPE_CHECKING:
    from kraft.ids import NodeId, ReplicaKey
    from kraft.raft.roles import Nominee, Role
    from kraft.raft.turn import Turn
    from kraft.raft.voters import Voter, VoterSet
    from kraft.rpc.endpoints import Endpoints


def election_timeout(turn: Turn) -> int:
    """Return a new election timeout in nanoseconds, from T up to 2 T.

    Kafka: QuorumState.randomElectionTimeoutMs.
    """
    timeout = turn.configuration.timeouts.election
    return timeout + turn.draw(timeout)


def other_voters(turn: Turn) -> tuple[Voter, ...]:
    """Return all voters but the replica itself, by node id."""
    return tuple(v for v in turn.voters.voters if v.key.node_id != turn.configuration.node_id)


def is_only_voter(turn: Turn) -> bool:
    """Return whether the replica is the only voter. Kafka: QuorumState.isOnlyVoter."""
    return turn.is_voter and len(turn.voters) == 1


def is_majority(voters: VoterSet, some: frozenset[NodeId]) -> bool:
    """Return whether these nodes are a majority of the voters. Spec: KRaftState!IsMajority."""
    return sum(node in some for node in voters.node_ids) >= voters.majority


def can_still_win(turn: Turn, role: Nominee) -> bool:
    """Return whether the voters that have not refused are still a majority.

    Kafka: EpochElection.isVoteRejected.
    """
    nodes = turn.voters.node_ids
    return sum(node not in role.rejected for node in nodes) >= turn.voters.majority


def become_unattached(
    turn: Turn, epoch: int, voted: ReplicaKey | None = None, leader_id: NodeId | None = None
) -> None:
    """Wait in an epoch for a leader, for the endpoints of the known leader, or for the timer.

    A replica that votes restarts its timer, since its candidate's chances are no worse than its
    own. A replica that does not vote keeps its remaining time, so that news of epochs cannot keep
    a voter from standing.
    In the same epoch `voted` must be the vote given there.

    Spec: KRaftState!TransitionToUnattached.
    Kafka: QuorumState.transitionToUnattached, unattachedAddVotedState.
    """
    role = turn.role
    votes = voted is not None and (epoch != role.epoch or voted_of(role) is None)
    deadline = NEVER if votes or isinstance(role, Leader | Follower) else role.election_deadline
    if isinstance(role, Prospective) and not can_still_win(turn, role):
        deadline = NEVER
    if not turn.is_voter:
        deadline = NEVER
    elif deadline == NEVER:
        deadline = turn.now + election_timeout(turn)
    _enter(turn, Unattached(epoch, leader_id, voted, deadline), keeps=votes and epoch == role.epoch)


def become_follower(turn: Turn, epoch: int, leader_id: NodeId, endpoints: Endpoints = ()) -> None:
    """Follow the leader of an epoch; the vote of that epoch stays.

    Where it listens is looked up among the voters if `endpoints` does not say.

    Spec: KRaftState!TransitionToFollower.
    Kafka: QuorumState.transitionToFollower, KafkaRaftClient.onBecomeFollower.
    """
    timeouts = turn.configuration.timeouts
    voted = voted_of(turn.role) if epoch == turn.role.epoch else None
    _enter(
        turn,
        Follower(
            epoch,
            leader_id,
            endpoints or endpoints_of_voter(turn, leader_id),
            voted,
            turn.now + timeouts.fetch,
            turn.now + timeouts.update_voter,
        ),
    )


def become_prospective(turn: Turn) -> None:
    """Ask all others whether they would vote for it, or lead at once as the sole voter.

    The epoch, its vote and the leader that is known stay.

    Spec: KRaftElection!BecomeProspective, BecomeSoleLeader.
    Kafka: QuorumState.transitionToProspective.
    """
    if is_only_voter(turn):
        _become_sole_leader(turn)
        return
    role = turn.role
    leader_id, endpoints = leader_of(role), leader_endpoints_of(role)
    _enter(turn, _prospective(turn, leader_id, endpoints, voted_of(role)))
    for voter in other_voters(turn):
        send_vote_request(turn, voter)


def vote_as_prospective(turn: Turn, candidate: ReplicaKey) -> None:
    """Give the vote of this epoch, and count anew; replicas it asked before may still answer.

    Spec: KRaftState!StandOn. Kafka: QuorumState.prospectiveAddVotedState.
    """
    _enter(turn, _prospective(turn, None, (), candidate), keeps=True)


def become_candidate(turn: Turn) -> None:
    """Stand in a new epoch: vote for itself, then ask all others for their vote.

    Spec: KRaftElection!BecomeCandidate. Kafka: QuorumState.transitionToCandidate.
    """
    key = turn.key
    if key is None:
        raise ValueError("a replica without an id cannot stand")
    deadline = turn.now + election_timeout(turn)
    granted = frozenset({key.node_id})
    _enter(turn, Candidate(turn.role.epoch + 1, key, granted, frozenset(), deadline))
    for voter in other_voters(turn):
        send_vote_request(turn, voter)


def send_vote_request(turn: Turn, voter: Voter) -> None:
    """Ask a voter for its vote, or how it would give it.

    Spec: KRaftElection!SendVoteRequest. Kafka: KafkaRaftClient.buildVoteRequest.
    """
    key = turn.key
    if key is None:
        raise ValueError("a replica without an id cannot stand")
    end = turn.log.end
    request = VoteRequest(
        turn.configuration.cluster_id,
        voter.key.node_id,
        voter.key.directory_id,
        turn.role.epoch,
        key.node_id,
        key.directory_id,
        end.epoch,
        end.end_offset,
        isinstance(turn.role, Prospective),
    )
    send(turn, voter.key.node_id, request)


def become_leader(turn: Turn) -> None:
    """Lead the epoch that the candidate has won.

    Spec: KRaftElection!BecomeLeader.
    Kafka: QuorumState.transitionToLeader, KafkaRaftClient.onBecomeLeader.
    """
    role = turn.role
    if not isinstance(role, Candidate):
        raise TypeError("only a candidate becomes the leader")
    _lead(turn, role.epoch, role.granted)


def become_resigned(turn: Turn) -> None:
    """Stop leading, and tell the voters; the list of successors has the best one first.

    The epoch's leader stays in the file: no replica may lead this epoch again, or vote in it.

    Spec: KRaftElection!Resign.
    Kafka: QuorumState.transitionToResigned, KafkaRaftClient.transitionToResigned.
    """
    role = turn.role
    if not isinstance(role, Leader):
        raise TypeError("only a leader resigns")
    successors = preferred_successors(turn, role)
    others = other_voters(turn)
    unacknowledged = frozenset(voter.key.node_id for voter in others)
    deadline = turn.now + election_timeout(turn)
    _enter(turn, Resigned(role.epoch, role.leader_id, unacknowledged, successors, deadline))
    for voter in others:
        send_end_quorum_epoch(turn, voter)


def preferred_successors(turn: Turn, role: Leader) -> tuple[ReplicaKey, ...]:
    """Return the other voters by their known log ends, the longest log first.

    Kafka: LeaderState.nonLeaderVotersByDescendingFetchOffset.
    """

    def order(voter: Voter) -> tuple[int, NodeId]:
        progress = role.progress.get(voter.key)
        end_offset = None if progress is None else progress.end_offset
        return (1 if end_offset is None else -end_offset, voter.key.node_id)

    return tuple(voter.key for voter in sorted(other_voters(turn), key=order))


def send_begin_quorum_epoch(turn: Turn, voter: Voter) -> None:
    """Tell a voter the leader.

    Spec: KRaftElection!SendBeginQuorumEpoch.
    Kafka: KafkaRaftClient.buildBeginQuorumEpochRequest.
    """
    configuration, role = turn.configuration, turn.role
    if not isinstance(role, Leader):
        raise TypeError("only a leader begins an epoch")
    request = BeginQuorumEpochRequest(
        configuration.cluster_id,
        voter.key.node_id,
        voter.key.directory_id,
        role.epoch,
        role.leader_id,
        configuration.endpoints,
    )
    send(turn, voter.key.node_id, request)


def send_end_quorum_epoch(turn: Turn, voter: Voter) -> None:
    """Tell a voter that its leader has stepped down.

    Spec: KRaftElection!Resign. Kafka: KafkaRaftClient.buildEndQuorumEpochRequest.
    """
    configuration, role = turn.configuration, turn.role
    if not isinstance(role, Resigned):
        raise TypeError("only a resigned leader ends an epoch")
    request = EndQuorumEpochRequest(
        configuration.cluster_id,
        role.epoch,
        role.leader_id,
        role.preferred_successors,
        configuration.endpoints,
    )
    send(turn, voter.key.node_id, request)


def endpoints_of_voter(turn: Turn, node: NodeId) -> Endpoints:
    """Return the endpoints of a voter, none if the node is no voter. Kafka: VoterSet.listeners."""
    voter = turn.voters.get(node)
    return voter.endpoints if voter is not None else ()


def write_quorum_state(turn: Turn, role: Role) -> None:
    """Write the quorum-state file for a role.

    Kafka: QuorumStateStore.writeElectionState.
    """
    turn.do(WriteQuorumState(role.epoch, leader_of(role), voted_of(role), turn.controls.version))


def _prospective(
    turn: Turn, leader_id: NodeId | None, endpoints: Endpoints, voted: ReplicaKey | None
) -> Prospective:
    key = turn.key
    if key is None:
        raise ValueError("a replica without an id cannot stand")
    deadline = turn.now + election_timeout(turn)
    granted = frozenset({key.node_id})
    epoch = turn.role.epoch
    return Prospective(epoch, leader_id, endpoints, voted, granted, frozenset(), deadline)


def _become_sole_leader(turn: Turn) -> None:
    """Lead the next epoch without asking for votes.

    Spec: KRaftElection!BecomeSoleLeader. Kafka: KafkaRaftClient.initialize.
    """
    key = turn.key
    if key is None:
        raise ValueError("a replica without an id cannot lead")
    _lead(turn, turn.role.epoch + 1, frozenset({key.node_id}))


def _lead(turn: Turn, epoch: int, granting: frozenset[NodeId]) -> None:
    """Begin an epoch with a record of its own, then tell the voters.

    The leader forgets its high watermark: a record of its own epoch must confirm it first.

    Spec: KRaftElection!Lead.
    """
    key = turn.key
    if key is None:
        raise ValueError("a replica without an id cannot lead")
    timeouts = turn.configuration.timeouts
    others = other_voters(turn)
    begin_deadline = turn.now + timeouts.begin_quorum_epoch
    progress = NO_PROGRESS
    for voter in others:
        known = ReplicaProgress(voter.key, begin_deadline=begin_deadline)
        progress = progress.set(voter.key, known)
    _enter(
        turn,
        Leader(
            epoch,
            key.node_id,
            turn.log.end_offset,
            turn.now + timeouts.check_quorum,
            progress,
        ),
    )
    turn.high_watermark = None
    begin_epoch(turn, granting)
    for voter in others:
        send_begin_quorum_epoch(turn, voter)


def _enter(turn: Turn, role: Role, *, keeps: bool = False) -> None:
    """Take a role, after the file says so. ``keeps``: a vote within the epoch closes no connection.

    Kafka: KafkaRaftClient.resetConnections.
    """
    left = turn.role
    said = (left.epoch, leader_of(left), voted_of(left))
    if (role.epoch, leader_of(role), voted_of(role)) != said:
        write_quorum_state(turn, role)
    if isinstance(left, Leader):
        end_leading(turn, role)
    if not keeps:
        reset_all(turn)
    turn.role = role
