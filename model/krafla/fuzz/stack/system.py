"""The stack system: controllers over Raft, brokers and operators, on machines."""

from __future__ import annotations

from typing import Final

from krafla.audit.specs import LEASE, PARTITIONS, RAFT, REGISTRATIONS
from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.engine.machine_system import SEED_BITS, MachineSystem
from krafla.fuzz.stack.checks import PROPERTIES, StackChecks
from krafla.fuzz.stack.lockstep_judge import StackJudge, stack_action_names
from krafla.fuzz.stack.sentences import SENTENCES
from kraft.chance import Stream, derive
from kraft.sim.raft.configuration import RaftConfiguration
from kraft.sim.raft.kinds import BROKER_KINDS, DEFAULT_KINDS
from kraft.sim.raft.kinds import KINDS as ALL_KINDS
from kraft.sim.stack.configuration import draw_stack_knobs
from kraft.sim.stack.request_kinds import REQUEST_KINDS
from kraft.sim.stack.workload import stack_workload

__all__ = ["SYSTEM", "stack_case_of"]

_CONTROLLERS: Final = (3, 3, 3, 5)
_BROKERS: Final = (1, 2, 3, 3, 4, 6)
KINDS: Final = (*DEFAULT_KINDS, *BROKER_KINDS)
"""The faults of Raft, and those of brokers."""


def stack_case_of(seed: int, example: int, kinds: tuple[str, ...] = KINDS) -> Case:
    """Return the case of one run of a campaign: its sizes are drawn, too.

    The label of `derive` seeds the runs, so it keeps the word that the system had before.
    """
    own = derive(seed, "cluster example", example) & ((1 << SEED_BITS) - 1)
    chance = Stream(own, "sizes")
    configuration = RaftConfiguration(
        voters=chance.choice(_CONTROLLERS),
        observers=chance.choice(_BROKERS),
        kraft_version=1 - (chance.below(4) == 0),
        kinds=kinds,
    )
    return Case(configuration, own, above=draw_stack_knobs(own))


SYSTEM: Final = MachineSystem(
    name="stack",
    properties=PROPERTIES,
    kinds=KINDS,
    possible_kinds=tuple(ALL_KINDS),
    case_of=stack_case_of,
    workload=lambda case: stack_workload(case.above),
    checks=lambda stable: StackChecks(stable=stable),
    judge=StackJudge,
    judge_modules=("KRaftSteps", "MetadataLogSteps"),
    actions=stack_action_names,
    nodes="at most 5 controllers and 6 brokers",
    sentences=SENTENCES,
    checks_modules=(LEASE, RAFT, REGISTRATIONS, PARTITIONS),
    request_kinds=REQUEST_KINDS,
)
"""Controllers over Raft, and brokers; `krafla.fuzz.stack.checks` holds them to their properties."""
