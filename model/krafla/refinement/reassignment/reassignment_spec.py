"""Reassignment loaded for a configuration, once in a process, and its judges."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle import Spec
from krafla.oracle.loading import find_module
from krafla.oracle.pinning import pin_constants
from krafla.refinement.judged_spec import JudgedSpec
from krafla.refinement.lockstep import Judge
from krafla.refinement.properties import properties_of
from krafla.refinement.reassignment.mapping import ReassignmentMapping
from krafla.refinement.vocabulary import NIL

if TYPE_CHECKING:
    from collections.abc import Collection

    from kraft.sim.reassignment.cluster import Configuration

__all__ = ["MODULE", "left_out", "load_reassignment", "reassignment_judge"]

MODULE: Final = "ReassignmentProperties"

_MIDWAY: Final = frozenset({"AddingRemovingDisjointInv", "TargetHonouredProp"})


def left_out(configuration: Configuration) -> frozenset[str]:
    """Return the properties of Reassignment that need not hold in the runs of a configuration.

    Each is false for a reason, and a model of specs/broken/reassignment shows it.
    """
    # A reassignment is changed midway in every run: StaleAdding, ForgottenTarget.
    names = set(_MIDWAY)
    if configuration.late_heartbeats:
        # UnfencedOnTheWayOut
        names |= {"LeaderUsableInv", "NoFencedInIsrInv", "BuilderIdempotentInv"}
    if configuration.unclean_enabled or configuration.unclean_elections:
        names |= {"NotCompletableInv", "BuilderIdempotentInv"}  # CompletableNotCompleted
    if configuration.unclean_enabled:
        names.add("UncleanIsMarkedProp")  # ForcedCancel
    if configuration.repeats or configuration.strays:
        names.add("MaximalIsrInv")  # OvertakenAlterPartition
    return frozenset(names)


def constants_of(configuration: Configuration) -> dict[str, Any]:
    """Return the constants of Reassignment; a broker is its id."""
    brokers = tuple(sorted(configuration.brokers))
    return {
        "Broker": frozenset(brokers),
        "BrokerOrder": brokers,
        "InitialReplicas": configuration.initial_replicas,
        "UncleanEnabled": configuration.unclean_enabled,
        "LateHeartbeats": configuration.late_heartbeats,
        "Nil": NIL,
    }


@lru_cache(maxsize=12)
def load_reassignment(configuration: Configuration) -> JudgedSpec[ReassignmentMapping]:
    """Return Reassignment with the constants of a configuration and the properties that hold."""
    spec = Spec.load(MODULE, constants_of(configuration))
    pin_constants(spec)
    properties = properties_of(find_module(MODULE, None), left_out(configuration))
    return JudgedSpec(spec, properties, ReassignmentMapping(configuration))


def reassignment_judge(configuration: Configuration, also: Collection[str] = ()) -> Judge:
    """Return the judge of one run; its configuration says which properties there are."""
    assert not also, "no property of Reassignment is to be asked for"
    return Judge(load_reassignment(configuration))
