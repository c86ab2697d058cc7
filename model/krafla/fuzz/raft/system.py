"""The raft system: a quorum on machines, held to the properties of KRaft."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from krafla.fuzz.engine.machine_run import Case
from krafla.fuzz.engine.machine_system import SEED_BITS, MachineSystem
from krafla.fuzz.raft.checks import PROPERTIES, Checks
from krafla.fuzz.raft.lockstep_judge import RaftJudge, raft_action_names
from krafla.fuzz.raft.sentences import SENTENCES
from kraft.chance import Stream, derive
from kraft.raft.configuration import MILLISECOND, Timeouts
from kraft.sim.raft.configuration import RaftConfiguration, draw_knobs
from kraft.sim.raft.kinds import DEFAULT_KINDS, MACHINE_KINDS
from kraft.sim.raft.register import Register

__all__ = ["SYSTEM", "raft_case_of"]

_VOTERS: Final = (1, 2, 3, 3, 3, 4, 5, 5)
_OBSERVERS: Final = (0, 0, 1, 2)
# Mostly Kafka's own. With the others a leader forgets observers that are silent for seconds, and a
# resigned leader gives up on a voter and tells it again.
_OBSERVER_SESSIONS_MS: Final = (300_000, 300_000, 3_000)
_REQUESTS_MS: Final = (2_000, 2_000, 700)
# A change of the voters takes seconds under one leader: one run in six has only these faults.
_OF_VOTER_CHANGES: Final = frozenset(
    ("add-voter", "kill", "newcomer-isolation", "new-port", "remove-voter", "shutdown")
)
_ONE_IN: Final = 6
_ALWAYS: Final = 1_000_000


def raft_case_of(seed: int, example: int, kinds: tuple[str, ...] = DEFAULT_KINDS) -> Case:
    """Return the case of one example of a campaign: its sizes are drawn, too."""
    own = derive(seed, "example", example) & ((1 << SEED_BITS) - 1)
    chance = Stream(own, "sizes")
    voters = chance.choice(_VOTERS)
    configuration = RaftConfiguration(
        voters=voters,
        observers=chance.choice(_OBSERVERS),
        kraft_version=0 if chance.below(4) == 0 else 1,
        timeouts=Timeouts(
            observer_session=chance.choice(_OBSERVER_SESSIONS_MS) * MILLISECOND,
            request=chance.choice(_REQUESTS_MS) * MILLISECOND,
        ),
        kinds=kinds,
    )
    few = tuple(kind for kind in kinds if kind in _OF_VOTER_CHANGES)
    if few and chance.below(_ONE_IN) == 0:
        configuration = replace(
            configuration,
            kraft_version=1,
            kinds=few,
            observers=max(configuration.observers, 1),
        )
        return Case(configuration, own, knobs=draw_knobs(own, configuration, _ALWAYS))
    return Case(configuration, own)


SYSTEM: Final = MachineSystem(
    name="raft",
    properties=PROPERTIES,
    kinds=DEFAULT_KINDS,
    possible_kinds=MACHINE_KINDS,
    case_of=raft_case_of,
    workload=lambda _case: Register,
    checks=lambda stable: Checks(stable=stable, hosted=True),
    judge=RaftJudge,
    judge_modules=("KRaftSteps",),
    actions=raft_action_names,
    nodes="at most 5 voters and 2 observers",
    sentences=SENTENCES,
)
"""Replicas of `kraft.raft`, whose state machines are registers."""
