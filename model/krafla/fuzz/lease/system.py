"""The lease system: brokers and their lease at one controller, judged by BrokerLease."""

from __future__ import annotations

from typing import Final

from krafla.fuzz.engine.choice_system import ChoiceSystem
from krafla.fuzz.lease.profiles import DEFAULT_PROFILES, PROFILES, conditions_met
from krafla.fuzz.lease.shrinker import LeaseShrinker
from krafla.refinement.lease import spec
from krafla.refinement.lease.faults import FAULTS
from krafla.refinement.lease.trace_recorder import LeaseTraceRecorder
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import first_cluster
from kraft.sim.lease.configuration import Configuration
from kraft.sim.lease.step import step

__all__ = ["SYSTEM"]

SYSTEM: Final = ChoiceSystem(
    name="lease",
    first_cluster=first_cluster,
    step=step,
    judge=spec.judge,
    recorder=LeaseTraceRecorder,
    configuration=Configuration,
    choice=choices.Choice,
    of_message=(choices.Deliver, choices.LoseMessage, choices.DuplicateMessage),
    modules=(spec.MODULE,),
    profiles=PROFILES,
    default_profiles=DEFAULT_PROFILES,
    faults=FAULTS,
    conditions=conditions_met,
    shrinker=LeaseShrinker,
)
