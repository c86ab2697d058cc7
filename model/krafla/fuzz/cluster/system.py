"""The cluster system: controllers, brokers, a partition and operators, judged by Cluster."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.cluster.profiles import CONFIGURATIONS, PROFILES
from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.refinement.cluster import spec
from krafla.refinement.common.trace_recorder import TraceRecorder
from kraft.sim.cluster import choices
from kraft.sim.cluster.cluster import Configuration, first_cluster
from kraft.sim.cluster.step import step

__all__ = ["SYSTEM"]

SYSTEM: Final = ChoiceSystem(
    name="cluster",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    recorder=TraceRecorder,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(choices.Deliver, choices.LoseMessage),
    modules=(spec.MODULE,),
    profiles=PROFILES,
    default_profiles=tuple(CONFIGURATIONS),
)
