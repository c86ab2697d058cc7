"""Sets of voters.

Kafka: VoterSet, VoterSet.VoterNode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.ids import NodeId, ReplicaKey
    from kraft.rpc.endpoints import Endpoints


@dataclass(frozen=True, slots=True)
class Voter:
    """One voter: its key, where it listens, and the kraft.versions it supports."""

    key: ReplicaKey
    endpoints: Endpoints = ()
    minimum_version: int = 0
    maximum_version: int = 1


@dataclass(frozen=True, slots=True)
class VoterSet:
    """Voters in the order of their node ids, no two of one node. It may be empty.

    Spec: KRaftState!Voters.
    Kafka: VoterSet.
    """

    voters: tuple[Voter, ...] = ()

    @classmethod
    def of(cls, voters: Iterable[Voter]) -> VoterSet:
        """Return the set of these voters. Raises ValueError if two have the same node id."""
        ordered = tuple(sorted(voters, key=lambda voter: voter.key.node_id))
        if len({voter.key.node_id for voter in ordered}) != len(ordered):
            raise ValueError("two voters have the same node id")
        return cls(ordered)

    def __len__(self) -> int:
        return len(self.voters)

    @property
    def node_ids(self) -> tuple[NodeId, ...]:
        """The node ids, in ascending order."""
        return tuple(voter.key.node_id for voter in self.voters)

    @property
    def majority(self) -> int:
        """The size of a majority of the voters. Spec: KRaftState!IsMajority."""
        return len(self.voters) // 2 + 1

    def get(self, node_id: NodeId | None) -> Voter | None:
        """Return the voter of a node, if it is one."""
        for voter in self.voters:
            if voter.key.node_id == node_id:
                return voter
        return None

    def is_voter(self, key: ReplicaKey) -> bool:
        """Return whether a replica is among the voters.

        A voter without a directory id (kraft.version 0) is the node with any disk; a voter with one
        is the node with that disk. Kafka: VoterSet.isVoter.
        """
        voter = self.get(key.node_id)
        return voter is not None and voter.key.directory_id in (None, key.directory_id)

    def add(self, voter: Voter) -> VoterSet | None:
        """Return the set with one more voter; None if its node is a voter already.

        Kafka: VoterSet.addVoter.
        """
        if self.get(voter.key.node_id) is not None:
            return None
        return VoterSet.of((*self.voters, voter))

    def remove(self, key: ReplicaKey) -> VoterSet | None:
        """Return the set without this replica; None if it is not in the set, or the only voter.

        Kafka: VoterSet.removeVoter.
        """
        voter = self.get(key.node_id)
        if voter is None or voter.key != key or len(self.voters) == 1:
            return None
        return VoterSet(tuple(each for each in self.voters if each is not voter))

    def update(self, voter: Voter) -> VoterSet | None:
        """Return the set with this voter updated; None if the replica is not in it.

        Kafka: VoterSet.updateVoter.
        """
        if not self.is_voter(voter.key):
            return None
        return VoterSet(
            tuple(voter if each.key.node_id == voter.key.node_id else each for each in self.voters)
        )

    def needs_update(self, voter: Voter) -> bool:
        """Return whether this replica is in the set with other endpoints or versions.

        Kafka: VoterSet.voterNodeNeedsUpdate.
        """
        return self.is_voter(voter.key) and self.get(voter.key.node_id) != voter
