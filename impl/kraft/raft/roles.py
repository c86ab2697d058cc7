"""The six roles of a replica: what each keeps, and nothing else.

`leader_id` and `voted` are those of the quorum-state file, so that a role never contradicts the
file. Deadlines are nanoseconds of the replica's own clock.

Spec: KRaftState!Role.
Kafka: EpochState and its classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from immutables import Map

if TYPE_CHECKING:
    from kraft.ids import NodeId, OffsetAndEpoch, ReplicaKey
    from kraft.raft.accumulator import Accumulator
    from kraft.raft.pending_requests import ParkedFetch, PendingVoterChange
    from kraft.rpc.endpoints import Endpoints

NEVER: Final = 2**63 - 1
"""A deadline that never comes."""


@dataclass(frozen=True, slots=True)
class Unattached:
    """Waits for a leader, or for its election timer. Kafka: UnattachedState."""

    epoch: int
    leader_id: NodeId | None
    voted: ReplicaKey | None
    election_deadline: int


@dataclass(frozen=True, slots=True)
class Prospective:
    """Asks whether it could win an election. Kafka: ProspectiveState."""

    epoch: int
    leader_id: NodeId | None
    leader_endpoints: Endpoints
    voted: ReplicaKey | None
    granted: frozenset[NodeId]
    rejected: frozenset[NodeId]
    election_deadline: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """Has voted for itself and asks for votes. Kafka: CandidateState.

    `voted` is itself.
    """

    epoch: int
    voted: ReplicaKey
    granted: frozenset[NodeId]
    rejected: frozenset[NodeId]
    election_deadline: int


@dataclass(frozen=True, slots=True)
class ReplicaProgress:
    """What a leader knows of another replica; times are -1 until they happen.

    `end_offset` is None until the replica fetches in this epoch. At `begin_deadline` the leader
    announces itself to a voter again. Kafka: LeaderState.ReplicaState.
    """

    key: ReplicaKey
    end_offset: int | None = None
    last_fetch_time: int = -1
    last_fetch_leader_end_offset: int = -1
    last_caught_up_time: int = -1
    begin_deadline: int = 0


NO_PROGRESS: Final[Map[ReplicaKey, ReplicaProgress]] = Map()


@dataclass(frozen=True, slots=True)
class Leader:
    """Leads its epoch. Kafka: LeaderState.

    `epoch_start` is the offset of its LeaderChange record. `progress` has every other voter, by its
    key in the voter set, and every observer that fetched, by its own key: two disks of a node are
    two replicas. `fetched` are the voters that fetched since the check of the quorum was last
    reset, which expires at `check_quorum_deadline`.
    With `must_flush` its last append is not flushed yet, and it takes no message before that.
    """

    epoch: int
    leader_id: NodeId
    epoch_start: int
    check_quorum_deadline: int
    progress: Map[ReplicaKey, ReplicaProgress] = NO_PROGRESS
    fetched: frozenset[NodeId] = frozenset()
    must_flush: bool = False
    parked: tuple[ParkedFetch, ...] = ()
    accumulator: Accumulator | None = None
    pending_change: PendingVoterChange | None = None
    resign_requested: bool = False


@dataclass(frozen=True, slots=True)
class Follower:
    """Fetches from its leader. Kafka: FollowerState.

    `fetching_snapshot` is the snapshot it must load first, `snapshot_pieces` are the pieces that it
    has of it.
    """

    epoch: int
    leader_id: NodeId
    leader_endpoints: Endpoints
    voted: ReplicaKey | None
    fetch_deadline: int
    update_voter_deadline: int = NEVER
    has_fetched: bool = False
    fetching_snapshot: OffsetAndEpoch | None = None
    snapshot_pieces: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Resigned:
    """Led its epoch and has stopped; it tells the voters. Kafka: ResignedState."""

    epoch: int
    leader_id: NodeId
    unacknowledged: frozenset[NodeId]
    preferred_successors: tuple[ReplicaKey, ...]
    election_deadline: int


Role = Unattached | Prospective | Candidate | Leader | Follower | Resigned
Nominee = Prospective | Candidate


def leader_of(role: Role) -> NodeId | None:
    """Return the known leader of the epoch of a role, a resigned one included.

    Spec: KRaftState!leader. Kafka: QuorumState.leaderId.
    """
    return None if isinstance(role, Candidate) else role.leader_id


def voted_of(role: Role) -> ReplicaKey | None:
    """Return the replica that got the vote. Spec: KRaftState!voted. Kafka: QuorumState.votedKey."""
    return None if isinstance(role, Leader | Resigned) else role.voted


def leader_endpoints_of(role: Role) -> Endpoints:
    """Return the known endpoints of the epoch's leader."""
    return role.leader_endpoints if isinstance(role, Prospective | Follower) else ()
