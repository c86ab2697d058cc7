"""The reassignment system: a partition that moves between brokers, judged by Reassignment."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem, profiles_of
from krafla.refinement.reassignment import spec
from kraft.ids import BrokerId
from kraft.sim.reassignment import choices
from kraft.sim.reassignment.cluster import Configuration, first_cluster
from kraft.sim.reassignment.scheduler import Scheduler
from kraft.sim.reassignment.step import step

__all__ = ["CONFIGURATIONS", "SYSTEM"]

_FOUR: Final = tuple(BrokerId(number) for number in (1, 2, 3, 4))
_FIRST_TWO: Final = _FOUR[:2]

# The names seed the runs, so they never change.
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
_SENTENCES: Final = {
    "moves": "Four brokers, two replicas.",
    "moves-of-one": "Three brokers, one replica.",
    "unclean-by-hand": "As moves; operators may ask for unclean elections.",
    "unclean": "As moves; the topic enables unclean elections, and operators may ask for them.",
    "late-heartbeats": "A late heartbeat may unfence a broker that is shutting down.",
    "repeats": "Requests are sent again.",
    "eligible": "Eligible leader replicas (KIP-966), two in-sync replicas at least.",
    "eligible-of-three": "As eligible, with four brokers and three replicas.",
    "eligible-unclean": "As eligible, with unclean elections.",
    "eligible-by-hand": "As eligible, with at least three in-sync replicas and elections by hand.",
    "strays": "Requests that no correct leader sends.",
}

SYSTEM: Final = ChoiceSystem(
    name="reassignment",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(choices.Deliver, choices.RetryAlterPartition),
    modules=(spec.MODULE, spec.ELR_MODULE),
    profiles=profiles_of(CONFIGURATIONS, Scheduler, _SENTENCES),
    default_profiles=tuple(CONFIGURATIONS),
)
