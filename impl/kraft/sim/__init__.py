"""Deterministic simulation of a cluster: choices in, states out.

`run` plays a seed; `replay_choices` plays a list of choices; `step` plays one. A configuration and
a list of choices reproduce a run byte for byte.
"""

from kraft.sim.cluster import Cluster, digest, first_cluster
from kraft.sim.configuration import Configuration, ConfigurationError
from kraft.sim.outcome import Done, Refused
from kraft.sim.step import StepResult, replay_choices, step

__all__ = [
    "Cluster",
    "Configuration",
    "ConfigurationError",
    "Done",
    "Refused",
    "StepResult",
    "digest",
    "first_cluster",
    "replay_choices",
    "step",
]
