"""The metadata system: controllers and brokers over one metadata log, judged by MetadataLog."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.fuzz.metadata.profiles import CONFIGURATIONS, PROFILES
from krafla.refinement.common.trace_recorder import TraceRecorder
from krafla.refinement.metadata import spec
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import Configuration, first_cluster
from kraft.sim.metadata.step import step

__all__ = ["SYSTEM"]

SYSTEM: Final = ChoiceSystem(
    name="metadata",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    recorder=TraceRecorder,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(),
    modules=(spec.MODULE,),
    profiles=PROFILES,
    default_profiles=tuple(CONFIGURATIONS),
)
