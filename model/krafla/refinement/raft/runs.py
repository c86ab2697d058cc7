"""What a judge must know of a simulated quorum before its first step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from krafla.refinement.raft.vocabulary import Quorum
from kraft.ids import NodeId

if TYPE_CHECKING:
    from kraft.sim.raft.cluster import Simulation

__all__ = ["quorum_of"]

_NEW_DISKS: Final = frozenset(("lost-disk", "other-disk", "duplicate-node-id"))
"""The faults that give a node one more disk."""
_DISKS_MAXIMUM: Final = 25
"""The vocabulary has letters for so many disks of one node."""


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
    )
