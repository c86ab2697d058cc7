"""A whole cluster as what is simulated: its examples, and what they are held to."""

from __future__ import annotations

from typing import Final

from krafla.audit.loading import LEASE, PARTITIONS, REGISTRATIONS
from krafla.fuzz.quorum.playing import Case, System
from krafla.fuzz.whole.checks import PROPERTIES, ClusterChecks
from kraft.chance import Stream, derive
from kraft.sim.quorum.configuration import QuorumConfiguration
from kraft.sim.quorum.kinds import BROKER_KINDS, DEFAULT_KINDS
from kraft.sim.whole.configuration import draw_cluster_knobs
from kraft.sim.whole.workload import cluster_workload

__all__ = ["CLUSTER", "cluster_case_of"]

_CONTROLLERS: Final = (3, 3, 3, 5)
_BROKERS: Final = (1, 2, 3, 3, 4, 6)
_SEED_BITS: Final = 63
KINDS: Final = (*DEFAULT_KINDS, *BROKER_KINDS)
"""The faults of a cluster: those of Raft, and those of brokers."""


def cluster_case_of(seed: int, example: int, kinds: tuple[str, ...] = KINDS) -> Case:
    """Return the case of one example of a campaign: its sizes are drawn, too."""
    own = derive(seed, "cluster example", example) & ((1 << _SEED_BITS) - 1)
    chance = Stream(own, "sizes")
    configuration = QuorumConfiguration(
        voters=chance.choice(_CONTROLLERS),
        observers=chance.choice(_BROKERS),
        kraft_version=1 - (chance.below(4) == 0),
        kinds=kinds,
    )
    return Case(configuration, own, above=draw_cluster_knobs(own))


CLUSTER: Final = System(
    "cluster",
    PROPERTIES,
    KINDS,
    cluster_case_of,
    lambda case: cluster_workload(case.above),
    lambda stable: ClusterChecks(stable=stable),
    (LEASE, REGISTRATIONS, PARTITIONS),
)
"""Controllers over Raft, and brokers; `krafla.fuzz.whole.checks` holds them to their properties."""
