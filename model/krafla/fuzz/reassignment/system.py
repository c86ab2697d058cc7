"""The reassignment system: a partition that moves between brokers, judged by Reassignment."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.fuzz.reassignment.profiles import CONFIGURATIONS, PROFILES
from krafla.refinement.common.trace_recorder import TraceRecorder
from krafla.refinement.reassignment import spec
from kraft.sim.reassignment import choices
from kraft.sim.reassignment.cluster import Configuration, first_cluster
from kraft.sim.reassignment.step import step

__all__ = ["SYSTEM"]

SYSTEM: Final = ChoiceSystem(
    name="reassignment",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    recorder=TraceRecorder,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(choices.Deliver, choices.RetryAlterPartition),
    modules=(spec.MODULE, spec.ELR_MODULE),
    profiles=PROFILES,
    default_profiles=tuple(CONFIGURATIONS),
)
