"""How a replica starts from its quorum-state file.

Spec: KRaft!RoleAtBoot, Boot, Restart.
Kafka: QuorumState.initialize, KafkaRaftClient.initialize.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.ids import ZERO_UUID, DirectoryId, NodeId, ReplicaKey
from kraft.raft.controls import ControlHistory
from kraft.raft.quorum import (
    election_timeout,
    endpoints_of_voter,
    is_only_voter,
    other_voters,
    send_end_quorum_epoch,
    send_vote_request,
    write_quorum_state,
)
from kraft.raft.roles import NEVER, Candidate, Follower, Resigned, Unattached
from kraft.raft.state import RaftState
from kraft.raft.turn import Turn

if TYPE_CHECKING:
    from kraft.log.image import LogImage
    from kraft.log.text_files import QuorumState
    from kraft.raft.configuration import Configuration
    from kraft.raft.roles import Role
    from kraft.raft.state import Step


class BootError(Exception):
    """A replica may not start so: with one sentence that says what contradicts what."""


def boot(
    configuration: Configuration,
    quorum_state: QuorumState | None,
    log: LogImage,
    now: int,
    chance: int,
) -> Step:
    """Return a starting replica with its first requests; it has rewritten its quorum-state file.

    `quorum_state` is None if there is no file yet. A former leader starts as Resigned and never
    leads that epoch again, because it may have lost records that others have. A replica that voted
    for itself stands again in the same epoch. A sole voter waits for no vote: its first Poll makes
    it the leader of the next epoch. Raises BootError for a file or an identity that cannot belong
    to this replica, and CorruptRecordError for a log with invalid control records.

    Spec: KRaft!Boot. Kafka: QuorumState.initialize, KafkaRaftClient.initialize.
    """
    if configuration.directory_id == DirectoryId(ZERO_UUID):
        raise BootError(f"the directory id {ZERO_UUID} is reserved and names no disk")
    controls = ControlHistory.of_log(configuration.static_voters, log)
    turn = Turn.begin(
        RaftState(configuration, Unattached(0, None, None, NEVER), log, controls), now, chance
    )
    role = _role_at_boot(turn, quorum_state)
    write_quorum_state(turn, role)
    turn.role = role
    if isinstance(role, Candidate):
        for voter in other_voters(turn):
            send_vote_request(turn, voter)
    elif isinstance(role, Resigned):
        for voter in other_voters(turn):
            send_end_quorum_epoch(turn, voter)
    return turn.step()


def _role_at_boot(turn: Turn, file: QuorumState | None) -> Role:
    """Return the first role. Spec: KRaft!RoleAtBoot. Kafka: QuorumState.initialize."""
    key = turn.key
    epoch, leader_id, voted = (0, None, None) if file is None else _election(file)
    timeout = election_timeout(turn)
    deadline = turn.now + (0 if is_only_voter(turn) else timeout)
    waits = deadline if turn.is_voter else NEVER
    if voted is not None and key is None:
        raise BootError(
            f"the quorum-state file has a vote for node {voted.node_id}, but this replica has no id"
        )
    if epoch < turn.log.last_epoch:
        return Unattached(turn.log.last_epoch, None, None, waits)
    if key is not None and leader_id == key.node_id:
        unacknowledged = frozenset(voter.key.node_id for voter in other_voters(turn))
        return Resigned(epoch, key.node_id, unacknowledged, (), deadline)
    if key is not None and voted is not None and _is_vote_for(voted, key):
        return Candidate(epoch, key, frozenset({key.node_id}), frozenset(), deadline)
    if leader_id is None or turn.voters.get(leader_id) is None:
        return Unattached(epoch, leader_id, voted, waits)
    timeouts = turn.configuration.timeouts
    return Follower(
        epoch,
        leader_id,
        endpoints_of_voter(turn, leader_id),
        voted,
        turn.now + timeouts.fetch,
        turn.now + timeouts.update_voter,
    )


def _election(file: QuorumState) -> tuple[int, NodeId | None, ReplicaKey | None]:
    """Return epoch, leader and vote of a file, None for no leader or vote. Kafka: ElectionState."""
    leader_id = None if file.leader_id < 0 else NodeId(file.leader_id)
    if file.voted_id < 0:
        return file.leader_epoch, leader_id, None
    directory = file.voted_directory_id
    known = None if directory == ZERO_UUID else DirectoryId(directory)
    return file.leader_epoch, leader_id, ReplicaKey(NodeId(file.voted_id), known)


def _is_vote_for(voted: ReplicaKey, key: ReplicaKey) -> bool:
    """Return whether a vote was for a replica; a vote without a directory id matches any disk.

    Kafka: ElectionState.isVotedCandidate.
    """
    return voted.node_id == key.node_id and voted.directory_id in (None, key.directory_id)
