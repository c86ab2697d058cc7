"""Bred runs that are driven by choices: a run is taken again up to a step, then chance differs.

The same driver goes on with other random numbers. So a bred run keeps whatever its profile
promises, which a list of choices that was edited would not.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import msgspec

from krafla.collector import gc_paused
from krafla.fuzz.engine.choice_run import ChoiceCase, Player
from krafla.fuzz.engine.choice_system import DEFAULT_STEPS
from krafla.fuzz.engine.novelty import Paths, Tried
from krafla.refinement.common.judgement import Agreed

if TYPE_CHECKING:
    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.fuzz.engine.novelty import Parent
    from krafla.fuzz.engine.runs import Runs

__all__ = ["BranchPlan", "bred_choices", "play_choices"]

_BACK_MAX = 12
_BRANCHES_MAX = 6


class BranchPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run: the number that it starts as, and the steps from which on others decide its chance."""

    number: int
    branches: tuple[tuple[int, int], ...] = ()


def play_choices(system: ChoiceSystem, runs: Runs, plan: bytes) -> Tried:
    """Return the run of a plan; without a branch it is run ``number`` of the runs."""
    wanted = msgspec.json.decode(plan, type=BranchPlan)
    profile = system.profile(runs.profile_of(wanted.number))
    seed = f"{runs.seed} {wanted.number}"
    chance = Random(f"{profile.name} {seed}")  # noqa: S311 - to be reproducible, not secret
    driver = profile.driver(profile.configuration, chance)
    case = ChoiceCase(profile.configuration, (), profile.also, profile.name, seed)
    branches, paths = dict(wanted.branches), Paths()
    with gc_paused():
        player = Player(system, case, ())
        for place in range(runs.options.steps or DEFAULT_STEPS):
            if place in branches:
                chance.seed(f"{profile.name} {runs.seed} {branches[place]}")
            choice = driver.next_choice(player.cluster)
            result, judgement = player.step(choice)
            if result is None or not isinstance(judgement, Agreed):
                break
            refused = f"no {type(choice).__name__}"
            paths.add(judgement.action.name if judgement.action else refused, place)
            driver.observe(result)
        return Tried(player.run, plan, paths.found)


def bred_choices(number: int, parent: Parent, chance: Random) -> bytes:
    """Return the plan of a child: its parent up to shortly before what is rarest in that."""
    known = msgspec.json.decode(parent.plan, type=BranchPlan)
    place = max(1, parent.place + 1 - chance.randrange(_BACK_MAX))
    kept = tuple(one for one in known.branches if one[0] < place)[-_BRANCHES_MAX:]
    return msgspec.json.encode(BranchPlan(known.number, (*kept, (place, number))))
