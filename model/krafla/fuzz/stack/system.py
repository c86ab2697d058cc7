"""A whole cluster as what is simulated: its examples, and what they are held to."""

from __future__ import annotations

from typing import Final

from krafla.audit.specs import LEASE, PARTITIONS, REGISTRATIONS
from krafla.fuzz.engine.machine_run import Case, System
from krafla.fuzz.stack.checks import PROPERTIES, StackChecks
from kraft.chance import Stream, derive
from kraft.sim.raft.configuration import QuorumConfiguration
from kraft.sim.raft.kinds import BROKER_KINDS, DEFAULT_KINDS
from kraft.sim.stack.configuration import draw_stack_knobs
from kraft.sim.stack.workload import stack_workload

__all__ = ["STACK", "stack_case_of"]

_CONTROLLERS: Final = (3, 3, 3, 5)
_BROKERS: Final = (1, 2, 3, 3, 4, 6)
_SEED_BITS: Final = 63
KINDS: Final = (*DEFAULT_KINDS, *BROKER_KINDS)
"""The faults of a cluster: those of Raft, and those of brokers."""


def stack_case_of(seed: int, example: int, kinds: tuple[str, ...] = KINDS) -> Case:
    """Return the case of one example of a campaign: its sizes are drawn, too."""
    own = derive(seed, "cluster example", example) & ((1 << _SEED_BITS) - 1)
    chance = Stream(own, "sizes")
    configuration = QuorumConfiguration(
        voters=chance.choice(_CONTROLLERS),
        observers=chance.choice(_BROKERS),
        kraft_version=1 - (chance.below(4) == 0),
        kinds=kinds,
    )
    return Case(configuration, own, above=draw_stack_knobs(own))


STACK: Final = System(
    "stack",
    PROPERTIES,
    KINDS,
    stack_case_of,
    lambda case: stack_workload(case.above),
    lambda stable: StackChecks(stable=stable),
    (LEASE, REGISTRATIONS, PARTITIONS),
)
"""Controllers over Raft, and brokers; `krafla.fuzz.stack.checks` holds them to their properties."""
