"""Reassignment, loaded once in a process for each configuration, and its judges."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.loader import find_module
from krafla.oracle.properties import Properties, properties_of
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.loading import load_pinned
from krafla.refinement.common.lockstep import judge_by
from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.reassignment.mapping import ReassignmentMapping
from krafla.traces.spec_facts import facts_of

if TYPE_CHECKING:
    from kraft.sim.reassignment.cluster import Configuration

__all__ = ["ELR_MODULE", "MODULE", "constants_of", "judge", "left_out", "load"]

MODULE: Final = "ReassignmentProperties"
ELR_MODULE: Final = "ReassignmentElrProperties"

# The properties of ReassignmentProperties that also hold with eligible leader replicas.
_ELR_INVARIANTS: Final = (
    "LeaderInIsrOrNoneInv", "LeaderUsableInv", "EpochsOrderedInv", "RecoveringAloneInv",
    "OneLeaderPerEpochInv", "ViewsArePastInv", "MaximalIsrInv",
)  # fmt: skip
_ELR_STEPS: Final = ("EpochBumpProp", "StaleRequestRejectedProp", "IneligibleStaysOutProp")


_MIDWAY: Final = frozenset({"AddingRemovingDisjointInv", "TargetHonouredProp"})


def left_out(configuration: Configuration) -> frozenset[str]:
    """Return the properties of Reassignment that the runs of a configuration may break.

    Each is false for a reason, which a model of specs/broken/reassignment shows.
    """
    if configuration.min_isr is not None:
        return frozenset({"ElrSubsetReplicasInv"})  # ElrOutside
    # Every run changes a reassignment midway: StaleAdding, ForgottenTarget.
    names = set(_MIDWAY)
    if configuration.late_heartbeats:
        # UnfencedOnTheWayOut: the broker on the way out is elected, and is not active.
        names |= {"LeaderUsableInv", "NoFencedInIsrInv", "BuilderIdempotentInv"}
        names.add("LeaderIsFirstProp")
    if configuration.unclean_enabled or configuration.unclean_elections:
        names |= {"NotCompletableInv", "BuilderIdempotentInv"}  # CompletableNotCompleted
    if configuration.unclean_enabled:
        names.add("UncleanIsMarkedProp")  # ForcedCancel
    if configuration.repeats or configuration.strays:
        names.add("MaximalIsrInv")  # OvertakenAlterPartition
    if configuration.strays:
        names.add("AskedByViewProp")  # a stray request is one that no leader sent
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
def load(configuration: Configuration) -> JudgedSpec[ReassignmentMapping]:
    """Return Reassignment with the constants of a configuration and the properties that hold."""
    constants = constants_of(configuration)
    module = MODULE if configuration.min_isr is None else ELR_MODULE
    properties = properties_of(find_module(module, None), left_out(configuration))
    facts = facts_of(module)
    spec = load_pinned(module, constants, init=facts.init, next=facts.next)
    if configuration.min_isr is not None:
        properties = Properties(
            (*properties.invariants, "ElrTypeOK", *_ELR_INVARIANTS),
            (*properties.steps, *_ELR_STEPS),
            properties.witnesses,
        )
    return JudgedSpec(module, constants, spec, properties, ReassignmentMapping(configuration))


judge: Final = judge_by(load)
"""Makes the judge of one run of a configuration."""
