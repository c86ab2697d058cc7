"""The metadata system: controllers and brokers over one metadata log, judged by MetadataLog."""

from __future__ import annotations

from functools import partial
from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.fuzz.metadata.profiles import CONFIGURATIONS, PROFILES
from krafla.refinement.common.trace_recorder import GameRecorder
from krafla.refinement.metadata import spec
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import Configuration, first_cluster
from kraft.sim.metadata.step import step

__all__ = ["SYSTEM"]

SYSTEM: Final = ChoiceSystem(
    name="metadata",
    first_cluster=first_cluster,
    step=step,
    judge=spec.metadata_judge,
    recorder=partial(GameRecorder, module_of=lambda _: spec.MODULE, constants_of=spec.constants_of),
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(),
    modules=(spec.MODULE,),
    profiles=PROFILES,
    default_profiles=tuple(CONFIGURATIONS),
)
