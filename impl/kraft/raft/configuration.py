"""The configuration of a replica: its identity, the nodes it may ask, and its timeouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kraft.ids import ReplicaKey
from kraft.records.limits import MAX_BATCH_BYTES

if TYPE_CHECKING:
    from kraft.ids import DirectoryId, NodeId
    from kraft.raft.voters import VoterSet
    from kraft.rpc.endpoints import Endpoints

MILLISECOND: Final = 1_000_000
"""Nanoseconds. All times and durations of a replica are integer nanoseconds of its own clock."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Kafka's `controller.quorum.*` settings and constants, in nanoseconds."""

    election: int = 1000 * MILLISECOND
    fetch: int = 2000 * MILLISECOND
    election_backoff_maximum: int = 1000 * MILLISECOND
    request: int = 2000 * MILLISECOND
    retry_backoff: int = 20 * MILLISECOND
    append_linger: int = 25 * MILLISECOND
    fetch_maximum_wait: int = 500 * MILLISECOND
    observer_session: int = 300_000 * MILLISECOND
    caught_up_window: int = 3_600_000 * MILLISECOND

    @property
    def check_quorum(self) -> int:
        """How long a leader may be without fetches of a majority. Kafka: LeaderState."""
        return self.fetch * 3 // 2

    @property
    def begin_quorum_epoch(self) -> int:
        """The time between two BeginQuorumEpoch requests to a voter."""
        return self.fetch // 2

    @property
    def update_voter(self) -> int:
        """The time between two looks of a follower at its own endpoints among the voters."""
        return self.fetch * 3


@dataclass(frozen=True, slots=True)
class Configuration:
    """One replica: its identity, its first voters, its limits.

    `node_id` is None for an observer without an id. `static_voters` are used until the log or a
    snapshot has voters (`controller.quorum.voters`). `bootstrap_servers` are the nodes to ask while
    no leader is known. `default_listener` is the controller listener that every voter must have.
    `followers_always_flush` is False for a broker: it never becomes a voter, and does not flush
    what it fetches. `key` is the replica's own key, None for an observer without an id.
    """

    cluster_id: str
    node_id: NodeId | None
    directory_id: DirectoryId
    endpoints: Endpoints
    static_voters: VoterSet
    bootstrap_servers: tuple[NodeId, ...] = ()
    timeouts: Timeouts = Timeouts()
    default_listener: str = "CONTROLLER"
    followers_always_flush: bool = True
    minimum_version: int = 0
    maximum_version: int = 1
    maximum_batch_bytes: int = MAX_BATCH_BYTES
    maximum_fetch_bytes: int = 8 * 1024 * 1024
    maximum_snapshot_bytes: int = 8 * 1024 * 1024
    maximum_completed_batches: int = 10
    key: ReplicaKey | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the key once: nearly every event asks for it."""
        key = None if self.node_id is None else ReplicaKey(self.node_id, self.directory_id)
        object.__setattr__(self, "key", key)
