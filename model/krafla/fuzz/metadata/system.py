"""The metadata system: controllers and brokers over one metadata log, judged by MetadataLog."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem, profiles_of
from krafla.refinement.metadata import spec
from kraft.ids import NodeId
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import Configuration, first_cluster
from kraft.sim.metadata.scheduler import Scheduler
from kraft.sim.metadata.step import step
from kraft.sim.metadata.values import SetValue

__all__ = ["CONFIGURATIONS", "SYSTEM"]

_THREE: Final = tuple(NodeId(number) for number in (1, 2, 3))
_TWO: Final = _THREE[:2]
_BROKER: Final = (NodeId(11),)
_VALUES: Final = 4
# From each value to each, and to the same: that is a question.
_REQUESTS: Final = tuple(
    SetValue(expected, to) for expected in range(_VALUES) for to in range(_VALUES)
)

# The names seed the runs, so they never change.
CONFIGURATIONS: Final = {
    "failovers": Configuration(_THREE, (), _REQUESTS),
    "controllers": Configuration(
        _TWO, _BROKER, _REQUESTS, transactions=True, snapshots=True, restarts=True
    ),
    "transactions": Configuration(_TWO, _BROKER, _REQUESTS, transactions=True),
    "snapshots": Configuration(_TWO, _BROKER, _REQUESTS, snapshots=True, restarts=True),
}
_SENTENCES: Final = {
    "failovers": "Three controllers without brokers; leaders change.",
    "controllers": "Two controllers and a broker, with transactions, snapshots and restarts.",
    "transactions": "Two controllers and a broker; operations in transactions.",
    "snapshots": "Two controllers and a broker; nodes write snapshots and restart.",
}

SYSTEM: Final = ChoiceSystem(
    name="metadata",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(),
    modules=(spec.MODULE,),
    profiles=profiles_of(CONFIGURATIONS, Scheduler, _SENTENCES),
    default_profiles=tuple(CONFIGURATIONS),
)
