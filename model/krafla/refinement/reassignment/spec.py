"""Reassignment loaded for a configuration, once in a process, and its judges."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle import Spec
from krafla.oracle.constants import pin_constants
from krafla.oracle.loader import find_module
from krafla.oracle.properties import Properties, properties_of
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.lockstep import Judge
from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.reassignment.mapping import ReassignmentMapping
from krafla.traces.spec_facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from kraft.sim.reassignment.cluster import Configuration

__all__ = ["constants_of", "left_out", "load_reassignment", "module_of", "reassignment_judge"]

MODULE: Final = "ReassignmentProperties"
ELR_MODULE: Final = "ReassignmentElrProperties"

# Of ReassignmentProperties, those that hold with eligible leader replicas too.
_ELR_INVARIANTS: Final = (
    "LeaderInIsrOrNoneInv", "LeaderUsableInv", "EpochsOrderedInv", "RecoveringAloneInv",
    "OneLeaderPerEpochInv", "ViewsArePastInv", "MaximalIsrInv",
)  # fmt: skip
_ELR_STEPS: Final = ("EpochBumpProp", "StaleRequestRejectedProp", "IneligibleStaysOutProp")


def module_of(configuration: Configuration) -> str:
    """Return the module that judges the runs of a configuration."""
    return MODULE if configuration.min_isr is None else ELR_MODULE


_MIDWAY: Final = frozenset({"AddingRemovingDisjointInv", "TargetHonouredProp"})


def left_out(configuration: Configuration) -> frozenset[str]:
    """Return the properties of Reassignment that need not hold in the runs of a configuration.

    Each is false for a reason, and a model of specs/broken/reassignment shows it.
    """
    if configuration.min_isr is not None:
        return frozenset({"ElrSubsetReplicasInv"})  # ElrOutside
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
    constants: dict[str, Any] = {
        "Broker": frozenset(brokers),
        "BrokerOrder": brokers,
        "InitialReplicas": configuration.initial_replicas,
        "UncleanEnabled": configuration.unclean_enabled,
        "LateHeartbeats": configuration.late_heartbeats,
        "Nil": NIL,
    }
    if configuration.min_isr is not None:
        constants["MinIsr"] = configuration.min_isr
    return constants


@lru_cache(maxsize=12)
def load_reassignment(configuration: Configuration) -> JudgedSpec[ReassignmentMapping]:
    """Return Reassignment with the constants of a configuration and the properties that hold."""
    mapping = ReassignmentMapping(configuration)
    module, constants = module_of(configuration), constants_of(configuration)
    properties = properties_of(find_module(module, None), left_out(configuration))
    facts = facts_of(module)
    spec = Spec.load(module, constants, init=facts.init, next=facts.next)
    if configuration.min_isr is not None:
        properties = Properties(
            (*properties.invariants, "ElrTypeOK", *_ELR_INVARIANTS),
            (*properties.steps, *_ELR_STEPS),
            properties.witnesses,
        )
    pin_constants(spec)
    return JudgedSpec(spec, properties, mapping)


def reassignment_judge(configuration: Configuration, also: Collection[str] = ()) -> Judge:
    """Return the judge of one run; its configuration says which properties there are."""
    assert not also, "no property of Reassignment is to be asked for"
    return Judge(load_reassignment(configuration))
