"""The cluster system: controllers, brokers, a partition and operators, judged by Cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.choice_system import ChoiceSystem, profiles_of
from krafla.refinement.cluster import spec
from kraft.ids import BrokerId, ControllerId, IncarnationId, NodeId
from kraft.image.versions import IBP_3_7_IV0, IBP_3_7_IV2
from kraft.sim.cluster import choices
from kraft.sim.cluster.cluster import Configuration, ControllerProcess, first_cluster
from kraft.sim.cluster.scheduler import Scheduler
from kraft.sim.cluster.step import step
from kraft.sim.lease.configuration import processes

if TYPE_CHECKING:
    from random import Random

    from krafla.fuzz.engine.choice_run import Driver

__all__ = ["CONFIGURATIONS", "SYSTEM"]

_BELOW_GATE: Final = IBP_3_7_IV0 - 1
_LEVELS: Final = (_BELOW_GATE, IBP_3_7_IV0, IBP_3_7_IV2)
# How many of the runs have controllers that hear late of their successors.
_LINGERING: Final = 0.4
_FIRST_TWO: Final = (BrokerId(1), BrokerId(2))


def _controllers(count: int) -> tuple[ControllerProcess, ...]:
    """Return an old process of each controller, that knows no newest level, and the one that runs.

    Their incarnation ids are text and a UUID at once, such as `controller-1-process-2A`.
    """
    return tuple(
        ControllerProcess(
            IncarnationId(f"controller-{number}-{age}".ljust(21, "-") + "A"),
            ControllerId(number),
            highest,
        )
        for number in range(1, count + 1)
        for age, highest in (("old", IBP_3_7_IV0), ("new", IBP_3_7_IV2))
    )


def _of(controllers: int, brokers: int, of_each: int) -> Configuration:
    return Configuration(
        tuple(NodeId(number) for number in range(1, controllers + 1)),
        processes(brokers, of_each),
        _controllers(controllers),
        _FIRST_TWO,
        _LEVELS,
        IBP_3_7_IV0,
    )


# The names seed the runs, so they never change.
CONFIGURATIONS: Final = {
    "whole": _of(3, 3, 6),
    "two-and-two": _of(2, 2, 8),
    "one-controller": _of(1, 3, 6),
}
_SENTENCES: Final = {
    "whole": "Three controllers and three brokers.",
    "two-and-two": "Two controllers and two brokers, of more processes each.",
    "one-controller": "One controller and three brokers.",
}


def _driver(configuration: Configuration, random: Random) -> Driver:
    return Scheduler(configuration, random, lingering=random.random() < _LINGERING)


SYSTEM: Final = ChoiceSystem(
    name="cluster",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(choices.Deliver, choices.LoseMessage),
    modules=(spec.MODULE,),
    profiles=profiles_of(CONFIGURATIONS, _driver, _SENTENCES),
    default_profiles=tuple(CONFIGURATIONS),
)
