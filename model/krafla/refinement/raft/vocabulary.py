"""The constants of KRaftSteps for a quorum: the value of the spec that names each replica.

A replica of the spec is a node with one disk. If voters are known by node id only (kraft.version
0), a voter is its node's first disk.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.verdict import KraflaError
from kraft.ids import NodeId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kraft.ids import ReplicaKey
    from kraft.sim.raft.cluster import Simulation

__all__ = ["Quorum", "Vocabulary", "quorum_of"]

_LETTERS: Final = "bcdefghijklmnopqrstuvwxyz"
_NEW_DISKS: Final = frozenset(("lost-disk", "other-disk", "duplicate-node-id"))
"""The faults that give a node one more disk."""
_DISKS_MAXIMUM: Final = 25
"""The most disks of one node: the vocabulary has a letter for each."""


@dataclass(frozen=True, slots=True)
class Quorum:
    """What a judge must know of a quorum before its first step.

    `disks` says how many disks each node may have during the run. If `is_dynamic`, the first voters
    are known with their disks: the cluster was formatted with kraft.version 1. `brokers` do not
    flush what they fetch.
    """

    disks: Mapping[NodeId, int]
    first_voters: tuple[ReplicaKey, ...]
    is_dynamic: bool
    brokers: frozenset[NodeId] = frozenset()

    def names(self) -> tuple[tuple[str, NodeId], ...]:
        """Return the names of all replicas that there may be, with their nodes."""
        found = []
        for node in sorted(self.disks):
            count = self.disks[node]
            if count > len(_LETTERS):
                raise KraflaError(f"node {node} has {count} disks, more than {len(_LETTERS)}")
            found += [(_name(node, disk), node) for disk in range(count)]
        return tuple(found)


def quorum_of(simulation: Simulation) -> Quorum:
    """Return the quorum of a simulation, with as many disks as its plan may need."""
    configuration = simulation.configuration
    machines = configuration.voters + configuration.observers
    disks = Counter({NodeId(node): 1 for node in range(machines)})
    for fault in simulation.plan:
        if fault.kind in _NEW_DISKS:
            disks[NodeId(fault.target % machines)] += 1
    voters = simulation.processes.first_voters.voters
    return Quorum(
        {node: min(many, _DISKS_MAXIMUM) for node, many in disks.items()},
        tuple(voter.key for voter in voters),
        configuration.kraft_version > 0,
        frozenset(
            machine.node_id
            for machine in simulation.nodes
            if not simulation.workload.may_vote(machine)
        ),
    )


class Vocabulary:
    """The names of replicas, given to disks in the order of their first appearance."""

    def __init__(self, quorum: Quorum) -> None:
        self.quorum = quorum
        self.names = tuple(name for name, _ in quorum.names())
        self._free: dict[NodeId, list[str]] = {}
        for name, node in quorum.names():
            self._free.setdefault(node, []).append(name)
        self._first = {node: names[0] for node, names in self._free.items()}
        self._known: dict[ReplicaKey, str] = {}
        for key in quorum.first_voters:
            self.name(key)

    def name(self, key: ReplicaKey) -> str:
        """Return the name of a replica; a new disk gets the node's next name.

        KraflaError if the node has more disks than were announced.
        """
        known = self._known.get(key)
        if known is not None:
            return known
        node = key.node_id
        free = self._free.get(node)
        if free is None:
            raise KraflaError(f"node {node} is not part of the quorum that is judged")
        if key.directory_id is None:
            found = self._first[node]
        elif free:
            found = free.pop(0)
        else:
            raise KraflaError(f"node {node} has more disks than were announced")
        self._known[key] = found
        return found

    def of_node(self, node: NodeId) -> str:
        """Return the name of a node's first disk."""
        found = self._first.get(node)
        if found is None:
            raise KraflaError(f"node {node} is not part of the quorum that is judged")
        return found


def _name(node: NodeId, disk: int) -> str:
    return f"n{node}" if disk == 0 else f"n{node}{_LETTERS[disk - 1]}"
