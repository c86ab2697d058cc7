"""When replicas were last heard of: a leader by its follower, voters by their leader.

Kafka: FollowerState, LeaderState.updateCheckQuorumForFollowingVoter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.ids import NodeId, OffsetAndEpoch
    from kraft.raft.roles import Follower, Leader
    from kraft.raft.turn import Turn


def heard_leader(turn: Turn, role: Follower, fetching_snapshot: OffsetAndEpoch | None) -> None:
    """Note that the leader has answered, and which snapshot is to be loaded now, from its start.

    Spec: KRaftState!has_fetched. Kafka: FollowerState.resetFetchTimeoutForSuccessfulFetch.
    """
    turn.role = replace(
        role,
        fetch_deadline=turn.now + turn.configuration.timeouts.fetch,
        has_fetched=True,
        fetching_snapshot=fetching_snapshot,
        snapshot_pieces=(),
    )


def heard_of_voter(turn: Turn, role: Leader, node: NodeId) -> tuple[frozenset[NodeId], int]:
    """Return the voters that fetched since the check of the quorum began, and its deadline.

    The check begins anew once a majority has fetched; a leader that is a voter counts itself.

    Kafka: LeaderState.updateCheckQuorumForFollowingVoter.
    """
    voters = turn.controls.voters
    fetched = role.fetched if node in role.fetched else role.fetched | {node}
    needed = voters.majority - 1 if turn.is_voter else voters.majority
    if sum(voter.key.node_id in fetched for voter in voters.voters) >= needed:
        return frozenset(), turn.now + turn.configuration.timeouts.check_quorum
    return fetched, role.check_quorum_deadline
