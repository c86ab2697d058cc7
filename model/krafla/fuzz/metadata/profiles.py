"""The kinds of runs of metadata. Their names seed the runs, so they never change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.choice_run import Profile
from kraft.ids import NodeId
from kraft.sim.metadata.cluster import Configuration
from kraft.sim.metadata.scheduler import Scheduler
from kraft.sim.metadata.values import SetValue

if TYPE_CHECKING:
    from random import Random

    from krafla.fuzz.engine.choice_run import Driver

__all__ = ["CONFIGURATIONS", "PROFILES"]

_THREE: Final = tuple(NodeId(number) for number in (1, 2, 3))
_TWO: Final = _THREE[:2]
_BROKER: Final = (NodeId(11),)
_VALUES: Final = 4
# From each value to each, and to the same: that is a question.
_REQUESTS: Final = tuple(
    SetValue(expected, to) for expected in range(_VALUES) for to in range(_VALUES)
)

CONFIGURATIONS: Final = {
    "failovers": Configuration(_THREE, (), _REQUESTS),
    "controllers": Configuration(
        _TWO, _BROKER, _REQUESTS, transactions=True, snapshots=True, restarts=True
    ),
    "transactions": Configuration(_TWO, _BROKER, _REQUESTS, transactions=True),
    "snapshots": Configuration(_TWO, _BROKER, _REQUESTS, snapshots=True, restarts=True),
}


def _driver(configuration: Configuration, random: Random) -> Driver:
    return Scheduler(configuration, random)


PROFILES: Final = tuple(
    Profile(name, configuration, _driver, system="metadata")
    for name, configuration in CONFIGURATIONS.items()
)
