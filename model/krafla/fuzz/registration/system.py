"""The registration system: controllers that register, judged by ControllerRegistration."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.fuzz.registration.profiles import CONFIGURATIONS, PROFILES
from krafla.refinement.common.trace_recorder import TraceRecorder
from krafla.refinement.registration import spec
from kraft.sim.registration import choices
from kraft.sim.registration.cluster import Configuration, first_cluster
from kraft.sim.registration.step import step

__all__ = ["SYSTEM"]

SYSTEM: Final = ChoiceSystem(
    name="registration",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    recorder=TraceRecorder,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(
        choices.Deliver,
        choices.DeliverElsewhere,
        choices.LoseMessage,
        choices.DuplicateMessage,
    ),
    modules=(spec.MODULE,),
    profiles=PROFILES,
    default_profiles=tuple(CONFIGURATIONS),
)
