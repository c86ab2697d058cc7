"""Deterministic simulation of a cluster: choices in, states out.

`run` plays a seed; `replay_choices` plays a list of choices; `step` plays one. A configuration and
a list of choices reproduce a run byte for byte.
"""

from kraft.sim.cluster import Cluster, digest, first_cluster
from kraft.sim.configuration import Configuration, ConfigurationError
from kraft.sim.faults import NO_FAULTS, FaultPlan
from kraft.sim.outcome import Done, Refused
from kraft.sim.recording import Recording, RecordingError
from kraft.sim.runs import Run, play, run
from kraft.sim.step import StepResult, replay_choices, step

__all__ = [
    "NO_FAULTS",
    "Cluster",
    "Configuration",
    "ConfigurationError",
    "Done",
    "FaultPlan",
    "Recording",
    "RecordingError",
    "Refused",
    "Run",
    "StepResult",
    "digest",
    "first_cluster",
    "play",
    "replay_choices",
    "run",
    "step",
]
