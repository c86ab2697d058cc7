"""What all responses share: the epoch and its leader.

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
"""Errors that tell a replica that its epoch or leader is out of date."""


_SAYS_NOTHING = frozenset({ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_VOTER_KEY})
"""Errors from which nothing follows, if they may come at all."""


def handle_common(turn: Turn, error: ErrorCode, epoch: int, leader_id: NodeId | None) -> bool:
    """Handle the epoch and the leader of a response; True: there is nothing else to handle.

    A higher epoch, or a leader that was unknown, makes a transition. The rest of that response is
    ignored; the next request asks for it again.

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

    It stood in that epoch, lost, followed, and was restarted. Its vote requests are invalid and are
    refused, which must not end it.
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
    """Return whether a response of the replica's own epoch brings the leader, or its endpoints.

    An unattached replica may have the leader's id from its file. It follows when a response names
    the leader again, with its endpoints.

    Spec: KRaftElection!LearnsLeader. Kafka: KafkaRaftClient.maybeTransition.
    """
    if leader_id is None or leader_id == turn.configuration.node_id:
        return False
    known = leader_of(turn.role)
    return known is None or (known == leader_id and isinstance(turn.role, Unattached))


def is_other_leader(turn: Turn, epoch: int, leader_id: NodeId | None) -> bool:
    """Return whether a message names an impossible leader: a second one of this epoch.

    It may name this replica only if the replica leads, or led, this epoch.
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
