"""Checks of a request before it is handled: its cluster, the replica it is for, its epoch.

Kafka: KafkaRaftClient.hasValidClusterId, validateVoterOnlyRequest, validateLeaderOnlyRequest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.errors import ErrorCode
from kraft.raft.roles import Leader

if TYPE_CHECKING:
    from kraft.ids import DirectoryId, NodeId
    from kraft.raft.turn import Turn


def cluster_id_is_valid(turn: Turn, cluster_id: str | None) -> bool:
    """Return whether a request names this cluster, or none.

    Kafka: KafkaRaftClient.hasValidClusterId.
    """
    return cluster_id is None or cluster_id == turn.configuration.cluster_id


def voter_only_error(turn: Turn, sender: NodeId, epoch: int) -> ErrorCode:
    """Return why a Vote, BeginQuorumEpoch or EndQuorumEpoch of a sender is refused, or NONE.

    Spec: KRaftElection!FenceRequest. Kafka: KafkaRaftClient.validateVoterOnlyRequest.
    """
    if epoch < turn.role.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.INVALID_REQUEST if sender < 0 else ErrorCode.NONE


def leader_only_error(turn: Turn, epoch: int) -> ErrorCode:
    """Return why a request that only the leader of its epoch takes is refused, or NONE.

    Spec: KRaftElection!FenceRequest, KRaft!RefuseFetch.
    Kafka: KafkaRaftClient.validateLeaderOnlyRequest.
    """
    if epoch < turn.role.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > turn.role.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if not isinstance(turn.role, Leader):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if turn.shutdown_deadline is not None:
        return ErrorCode.BROKER_NOT_AVAILABLE
    return ErrorCode.NONE


def follower_error(turn: Turn, epoch: int, replica_id: NodeId) -> ErrorCode:
    """Return why a Fetch or FetchSnapshot is refused, or NONE; a leader refuses one of itself.

    Spec: KRaft!RefuseFetch.
    Kafka: KafkaRaftClient.validateLeaderOnlyRequest, LeaderState.updateFetchedVoters.
    """
    error = leader_only_error(turn, epoch)
    if error == ErrorCode.NONE and replica_id == turn.configuration.node_id:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return error


def is_addressed(turn: Turn, voter_id: NodeId, directory_id: DirectoryId | None) -> bool:
    """Return whether a request that names its addressee is for this replica.

    An id of -1 is for any replica, an id without a directory for the node with any disk.
    Kafka: KafkaRaftClient.isValidVoterKey.
    """
    if voter_id < 0:
        return True
    configuration = turn.configuration
    return voter_id == configuration.node_id and directory_id in (
        None,
        configuration.directory_id,
    )
