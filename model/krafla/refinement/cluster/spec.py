"""Cluster, loaded once in a process for each configuration, and its judges."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.loader import find_module
from krafla.oracle.properties import Properties, properties_of
from krafla.refinement.cluster.mapping import ClusterMapping
from krafla.refinement.cluster.notation import supported_value
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.loading import load_pinned
from krafla.refinement.common.lockstep import judge_by
from krafla.refinement.lease.vocabulary import NIL
from krafla.values import function

if TYPE_CHECKING:
    from kraft.sim.cluster.cluster import Configuration

__all__ = ["MODULE", "constants_of", "judge", "load"]

MODULE: Final = "ClusterProperties"


def constants_of(configuration: Configuration) -> dict[str, Any]:
    """Return the constants of Cluster; a node is its id, a process its incarnation id."""
    nodes = configuration.controllers
    controller_processes = configuration.controller_processes
    lowest = configuration.levels[0]
    return {
        "Broker": frozenset(map(int, configuration.brokers)),
        "BrokerOrder": tuple(map(int, configuration.brokers)),
        "Incarnation": frozenset(str(one.incarnation_id) for one in configuration.processes),
        "BrokerOf": function(
            (str(one.incarnation_id), int(one.broker_id)) for one in configuration.processes
        ),
        "Controller": frozenset(map(int, nodes)),
        "ControllerProcess": frozenset(str(one.incarnation_id) for one in controller_processes),
        "ControllerOf": function(
            (str(one.incarnation_id), int(one.controller_id)) for one in controller_processes
        ),
        "RunningProcess": function(
            (int(node), str(configuration.running(node).incarnation_id)) for node in nodes
        ),
        "Supported": function(
            (str(one.incarnation_id), supported_value(configuration, lowest, one.highest_level))
            for one in controller_processes
        ),
        "Level": frozenset(configuration.levels),
        "GateLevel": configuration.gate_level,
        "Replicas": tuple(map(int, configuration.replicas)),
        "Nil": NIL,
    }


def _properties() -> Properties:
    """Return the properties that every run must keep, and the witnesses that runs must reach.

    Each property that is left out is false for a reason, which a model of specs/broken/cluster
    shows.
    """
    # TwoOfOneId, TwoLeaders; ForgottenLeave, FencedLeave
    left_out = {"OneLeaderPerEpochInv", "OneLeaderInv", "ShutdownSafeProp"}
    return properties_of(find_module(MODULE, None), left_out)


@lru_cache(maxsize=8)
def load(configuration: Configuration) -> JudgedSpec[ClusterMapping]:
    """Return Cluster with the constants of a configuration and the properties that hold."""
    constants = constants_of(configuration)
    spec = load_pinned(MODULE, constants)
    judged = JudgedSpec(MODULE, constants, spec, _properties(), ClusterMapping(configuration))
    first = int(configuration.controllers[0])
    judged.initial = next(one for one in spec.initial_states() if one["leader"] == first)
    return judged


judge: Final = judge_by(load)
"""Makes the judge of one run of a configuration."""
