"""Raft as a state machine of Hypothesis: a quorum on machines, under every fault."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from krafla.fuzz.engine.plan_machine import PlanMachine, disk_changes
from krafla.fuzz.raft.system import SYSTEM, raft_case_of

if TYPE_CHECKING:
    from kraft.sim.raft.faults import Plan

__all__ = ["MACHINE", "RaftMachine"]


class RaftMachine(PlanMachine):
    """Voters and observers, whose clients append by themselves, under every fault there is.

    Spec: ``KRaft!Next``.
    """

    system = SYSTEM

    @initialize(
        seed=st.integers(0, 0xFFFF),
        voters=st.integers(1, 3),
        observers=st.integers(0, 2),
        kraft_version=st.sampled_from((1, 0)),
        calm_ms=st.sampled_from((2_000, 0)),
        disks=disk_changes(),
    )
    def begin(
        self, seed: int, voters: int, observers: int, kraft_version: int, calm_ms: int, disks: Plan
    ) -> None:
        """Draw the sizes of the quorum; the seed decides its speeds and its clocks."""
        case = raft_case_of(seed, 0)
        configuration = replace(
            case.configuration, voters=voters, observers=observers, kraft_version=kraft_version
        )
        self.start(replace(case, configuration=configuration, plan=disks), calm_ms)


MACHINE: Final = RaftMachine
