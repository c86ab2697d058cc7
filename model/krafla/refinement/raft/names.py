"""The spec's names for what an implementation's state and messages refer to.

A node id alone names no replica. Where the implementation has only the id, the replica is looked
up: the leader of an epoch is the disk that led it, and a voter is the one in the voter set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krafla.refinement.common.interner import Interner
from krafla.refinement.raft.terms import Term
from kraft.ids import ReplicaKey
from kraft.log.batches import read_batches
from kraft.raft.roles import leader_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krafla.refinement.raft.terms import Message, Terms
    from krafla.refinement.raft.vocabulary import Vocabulary
    from kraft.ids import NodeId, OffsetAndEpoch
    from kraft.raft.state import RaftState
    from kraft.rpc.fetch import FetchResponse
    from kraft.rpc.requests import RaftRequest

__all__ = ["Naming"]


class Naming:
    """The names of replicas, and the values that messages carry."""

    def __init__(self, vocabulary: Vocabulary, terms: Terms) -> None:
        self.vocabulary = vocabulary
        self.terms = terms
        self.replica = vocabulary.name
        self.leaders = terms.leaders
        self._records: Interner[Term] = Interner(20_000)
        self.snapshots: dict[OffsetAndEpoch, Term] = {}

    def leader(self, epoch: int, node: NodeId | None) -> str | None:
        """Return the replica on a node that leads an epoch; None for no leader."""
        if node is None:
            return None
        known = self.leaders.get((epoch, node))
        return known if known is not None else self.vocabulary.of_node(node)

    def leader_of(self, state: RaftState) -> str | None:
        """Return the replica that a replica believes to lead its epoch."""
        return self.leader(state.role.epoch, leader_of(state.role))

    def voter(self, state: RaftState, node: NodeId) -> str:
        """Return a node's voter by a replica's own log, otherwise the node's first disk."""
        voter = state.controls.voters.get(node)
        return self.vocabulary.of_node(node) if voter is None else self.replica(voter.key)

    def voters(self, state: RaftState, nodes: Iterable[NodeId]) -> tuple[str, ...]:
        """Return the voters of some nodes, sorted."""
        return tuple(sorted(self.voter(state, node) for node in nodes))

    def offset(self, found: OffsetAndEpoch | None) -> Term | None:
        """Return an offset and epoch as a term; None stays None."""
        if found is None:
            return None
        return Term(("offset", found), self.terms.offset_and_epoch(*found))

    def records(self, data: bytes) -> Term:
        """Return the records that a response carries."""

        def read() -> Term:
            entries: list[Any] = []
            for batch in read_batches(data) if data else ():
                entries += self.terms.entries(batch, self.replica)
            java = self.terms.sequence(entries) if entries else self.terms.empty
            return Term(("records", data), java)

        return self._records.get(data, read)

    def receiver(self, state: RaftState, node: NodeId, request: RaftRequest) -> str:
        """Return the replica that a request to a node is meant for."""
        voter = getattr(request, "voter_id", None)
        if voter is not None:
            directory = getattr(request, "voter_directory_id", None)
            return self.replica(ReplicaKey(voter, directory))
        if node == leader_of(state.role):
            found = self.leader(state.role.epoch, node)
            assert found is not None, "a node has a name"
            return found
        return self.voter(state, node)

    def fetch_response(self, request: Message, response: FetchResponse) -> Message:
        """Return the answer to a fetch. Spec: KRaftState!FetchResponse."""
        return self.terms.message(
            "FetchResponse",
            request.receiver,
            request.sender,
            None,
            ("epoch", response.epoch),
            ("leader", self.leader(response.epoch, response.leader_id)),
            ("error", response.error_code.name),
            ("records", self.records(response.records)),
            ("high_watermark", response.high_watermark),
            ("diverging", self.offset(response.diverging)),
            ("snapshot_id", self.offset(response.snapshot_id)),
        )
