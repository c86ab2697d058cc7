"""The stack as a state machine of Hypothesis: operators, brokers' faults and those of machines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from krafla.fuzz.engine.plan_machine import PlanMachine, disk_changes
from krafla.fuzz.stack.system import SYSTEM, stack_case_of

if TYPE_CHECKING:
    from kraft.sim.raft.faults import Plan

__all__ = ["MACHINE", "StackMachine"]

_OPERATORS_BESIDE_MS: Final = 8_000
"""Operators ask mostly by rules; a few requests more show progress after the healing."""


class StackMachine(PlanMachine):
    """Controllers above Raft and brokers, under every fault, with all that operators ask.

    Spec: ``KRaft!Next``, ``MetadataLog!Next``.
    """

    system = SYSTEM

    @initialize(
        seed=st.integers(0, 0xFFFF),
        controllers=st.sampled_from((3, 1)),
        brokers=st.integers(1, 3),
        calm_ms=st.sampled_from((4_000, 0)),
        disks=disk_changes(),
    )
    def begin(self, seed: int, controllers: int, brokers: int, calm_ms: int, disks: Plan) -> None:
        """Draw the sizes of the cluster; the seed decides its knobs, its speeds and its clocks."""
        case = stack_case_of(seed, 0)
        assert case.above is not None, "a case of the stack has knobs of what is above Raft"
        case = replace(
            case,
            configuration=replace(case.configuration, voters=controllers, observers=brokers),
            plan=disks,
            above=replace(case.above, admin_every_ms=_OPERATORS_BESIDE_MS),
        )
        self.start(case, calm_ms)


MACHINE: Final = StackMachine
