"""What all answers have in common: what they tell of the epoch and of its leader.

Spec: KRaftElection!DiscoverEpoch, IgnoreResponse.
Kafka: KafkaRaftClient.maybeHandleCommonResponse, maybeTransition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft.connections import NOT_READY
from kraft.raft.effects import Fatal
from kraft.raft.quorum import become_follower, become_unattached
from kraft.raft.roles import Candidate, Unattached, leader_of

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.raft.turn import Turn

_STALE = frozenset({ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER})
"""Errors that tell who asked that he is behind."""


_SAYS_NOTHING = frozenset({ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_VOTER_KEY})
"""Errors from which nothing follows, if they may come at all."""


def handle_common(turn: Turn, error: ErrorCode, epoch: int, leader_id: NodeId | None) -> bool:
    """Take what an answer says of the epoch and its leader; True: there is nothing else in it.

    A higher epoch, or a leader that was not known, makes a transition; whatever else the answer
    says is left, the next request asks for it again.

    Spec: KRaftElection!DiscoverEpoch, IgnoreResponse.
    Kafka: KafkaRaftClient.maybeHandleCommonResponse, maybeTransition.
    """
    known = turn.role.epoch
    if error == ErrorCode.INCONSISTENT_CLUSTER_ID:
        return True
    if epoch < known or error == ErrorCode.UNKNOWN_LEADER_EPOCH:
        return True
    if epoch > known or error in _STALE:
        discover(turn, epoch, leader_id)
        return True
    if learns_leader(turn, leader_id):
        discover(turn, epoch, leader_id)
        return True
    if leader_of(turn.role) is not None and is_other_leader(turn, epoch, leader_id):
        refuse_leader(turn, epoch, leader_id)
        return True
    if error == ErrorCode.INVALID_REQUEST and not _followed_before(turn):
        turn.do(Fatal(f"a request of epoch {epoch} was refused as invalid"))
        return True
    return error in NOT_READY or error in _SAYS_NOTHING


def _followed_before(turn: Turn) -> bool:
    """Return whether this candidate has records of the epoch that it stands in.

    It stood there, lost, followed, and was restarted. Its vote requests cannot be right, and are
    refused; that must not end it.
    """
    return isinstance(turn.role, Candidate) and turn.log.last_epoch >= turn.role.epoch


def discover(turn: Turn, epoch: int, leader_id: NodeId | None) -> None:
    """Take over a higher epoch, or the leader of this one; nothing if both are known.

    Spec: KRaftElection!DiscoverEpoch. Kafka: KafkaRaftClient.maybeTransition.
    """
    if is_other_leader(turn, epoch, leader_id):
        refuse_leader(turn, epoch, leader_id)
    elif leader_id is not None and (epoch > turn.role.epoch or learns_leader(turn, leader_id)):
        become_follower(turn, epoch, leader_id)
    elif epoch > turn.role.epoch:
        become_unattached(turn, epoch)


def learns_leader(turn: Turn, leader_id: NodeId | None) -> bool:
    """Return whether an answer of the replica's own epoch tells it the leader, or where that is.

    An unattached replica may have the leader's id from its file. It follows when an answer names
    the leader again, with its endpoints.

    Spec: KRaftElection!LearnsLeader. Kafka: KafkaRaftClient.maybeTransition.
    """
    if leader_id is None or leader_id == turn.configuration.node_id:
        return False
    known = leader_of(turn.role)
    return known is None or (known == leader_id and isinstance(turn.role, Unattached))


def is_other_leader(turn: Turn, epoch: int, leader_id: NodeId | None) -> bool:
    """Return whether a message names a leader that cannot be: a second one of this epoch.

    Nor may it name this replica, unless that leads, or led, this epoch.
    Spec: KRaftElection!OtherLeader. Kafka: KafkaRaftClient.hasConsistentLeader.
    """
    if leader_id is None:
        return False
    known = leader_of(turn.role) if epoch == turn.role.epoch else None
    if leader_id == turn.configuration.node_id:
        return known != leader_id
    return known is not None and known != leader_id


def refuse_leader(turn: Turn, epoch: int, leader_id: NodeId | None) -> None:
    """End the process: two leaders of an epoch cannot both be right."""
    known = leader_of(turn.role)
    turn.do(
        Fatal(
            f"leader {leader_id} of epoch {epoch} contradicts"
            f" leader {known} of epoch {turn.role.epoch}"
        )
    )
