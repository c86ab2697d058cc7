"""The kinds of runs of reassignment. Their names seed the runs, so they never change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.choice_run import Profile
from kraft.ids import BrokerId
from kraft.sim.reassignment.cluster import Configuration
from kraft.sim.reassignment.scheduler import Scheduler

if TYPE_CHECKING:
    from random import Random

    from krafla.fuzz.engine.choice_run import Driver

__all__ = ["CONFIGURATIONS", "PROFILES"]

_FOUR: Final = tuple(BrokerId(number) for number in (1, 2, 3, 4))
_FIRST_TWO: Final = _FOUR[:2]

CONFIGURATIONS: Final = {
    "moves": Configuration(_FOUR, _FIRST_TWO),
    "moves-of-one": Configuration(_FOUR[:3], _FOUR[:1]),
    "unclean-by-hand": Configuration(_FOUR, _FIRST_TWO, unclean_elections=True),
    "unclean": Configuration(_FOUR, _FIRST_TWO, unclean_enabled=True, unclean_elections=True),
    "late-heartbeats": Configuration(_FOUR[:3], _FIRST_TWO, late_heartbeats=True),
    "repeats": Configuration(_FOUR[:3], _FIRST_TWO, repeats=True),
    "eligible": Configuration(_FOUR[:3], _FIRST_TWO, min_isr=2),
    "eligible-of-three": Configuration(_FOUR, _FOUR[:3], min_isr=2),
    "eligible-unclean": Configuration(
        _FOUR[:3], _FIRST_TWO, unclean_enabled=True, unclean_elections=True, min_isr=2
    ),
    "eligible-by-hand": Configuration(_FOUR[:3], _FIRST_TWO, unclean_elections=True, min_isr=3),
    "strays": Configuration(_FOUR[:3], _FIRST_TWO, strays=True),
}


def _driver(configuration: Configuration, random: Random) -> Driver:
    return Scheduler(configuration, random)


PROFILES: Final = tuple(
    Profile(name, configuration, _driver, system="reassignment")
    for name, configuration in CONFIGURATIONS.items()
)
