"""Cluster loaded for a configuration, once in a process, and its judges."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle import Spec
from krafla.oracle.constants import pin_constants
from krafla.oracle.loader import find_module
from krafla.oracle.properties import Properties, properties_of
from krafla.refinement.cluster.mapping import ClusterMapping
from krafla.refinement.cluster.notation import supported_value
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.lockstep import Judge
from krafla.refinement.lease.vocabulary import NIL
from krafla.values import function

if TYPE_CHECKING:
    from collections.abc import Collection

    from kraft.sim.cluster.cluster import Configuration

__all__ = ["MODULE", "cluster_judge", "cluster_properties", "constants_of", "load_cluster"]

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


def cluster_properties() -> Properties:
    """Return the properties that all runs keep, and what they must reach.

    Each of those left out is false for a reason, and a model of specs/broken/cluster shows it.
    """
    # TwoOfOneId, TwoLeaders; ForgottenLeave, FencedLeave
    left_out = {"OneLeaderPerEpochInv", "OneLeaderInv", "ShutdownSafeProp"}
    return properties_of(find_module(MODULE, None), left_out)


@lru_cache(maxsize=8)
def load_cluster(configuration: Configuration) -> JudgedSpec[ClusterMapping]:
    """Return Cluster with the constants of a configuration and the properties that hold."""
    spec = Spec.load(MODULE, constants_of(configuration))
    pin_constants(spec)
    judged = JudgedSpec(spec, cluster_properties(), ClusterMapping(configuration))
    first = int(configuration.controllers[0])
    judged.initial = next(one for one in spec.initial_states() if one["leader"] == first)
    return judged


def cluster_judge(configuration: Configuration, also: Collection[str] = ()) -> Judge:
    """Return the judge of one run; its configuration says which properties there are."""
    assert not also, "no property of Cluster is to be asked for"
    return Judge(load_cluster(configuration))
