"""Runs bred from runs: each round of a campaign learns from the rounds before it.

Every other run of a round, after the first, is bred; the others are those that a campaign without
learning plays. Everything depends on the numbers of the runs and on the rounds before alone.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

import msgspec

from krafla.fuzz.engine.bred_choice import BranchPlan, bred_choices, play_choices
from krafla.fuzz.engine.bred_machine import bred_faults, play_machines
from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.fuzz.engine.machine_system import MachineSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.fuzz.engine.novelty import Parent, Tried
    from krafla.fuzz.engine.runs import Runs

__all__ = ["ROUND", "is_bred", "plan_of", "tried"]

ROUND: Final = 32
"""The runs of the first round: each later one has a quarter more than all before it."""


def is_bred(number: int) -> bool:
    """Return whether a run is bred, if there is something to breed from."""
    return number % 2 == 1


def plan_of(runs: Runs, number: int, parents: Sequence[Parent] = ()) -> bytes:
    """Return the plan of a run: bred from the best runs of earlier rounds, the best most often."""
    system = runs.system
    if is_bred(number) and parents:
        chance = Random(f"{runs.seed} {number} bred")  # noqa: S311 - to be reproducible, not secret
        parent, other = (parents[_place(len(parents), chance)] for _ in range(2))
        if isinstance(system, ChoiceSystem):
            return bred_choices(number, parent, chance)
        assert isinstance(system, MachineSystem), f"{system.name} runs on machines"
        return bred_faults(parent, other, chance)
    if isinstance(system, ChoiceSystem):
        return msgspec.json.encode(BranchPlan(number))
    assert isinstance(system, MachineSystem), f"{system.name} runs on machines"
    return system.case(runs.seed, number, runs.options).encoded


def tried(runs: Runs, plan: bytes) -> Tried:
    """Return the run of a plan, and what is rare or common in it."""
    system = runs.system
    if isinstance(system, ChoiceSystem):
        return play_choices(system, runs, plan)
    assert isinstance(system, MachineSystem), f"{system.name} runs on machines"
    return play_machines(system, plan)


def _place(count: int, chance: Random) -> int:
    """Return a place in a list, an early one more often."""
    return min(chance.randrange(count), chance.randrange(count))
