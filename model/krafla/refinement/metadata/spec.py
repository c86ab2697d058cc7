"""MetadataLog, loaded once in a process for each configuration, and its judges."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.oracle.loader import find_module
from krafla.oracle.properties import Properties, properties_of
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.loading import load_pinned
from krafla.refinement.common.lockstep import judge_by
from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.metadata.mapping import MetadataMapping, node_value, request_value
from krafla.traces.spec_facts import facts_of

if TYPE_CHECKING:
    from krafla.values import Value
    from kraft.sim.metadata.cluster import Configuration

__all__ = ["MODULE", "constants_of", "judge", "load", "properties_for"]

MODULE: Final = "MetadataLogProperties"

# A deposed controller may refuse a request that is valid by now
# (specs/broken/metadata/StaleRefusal).
_NOT_TRUE: Final = frozenset({"UnchangedIsCurrentProp"})
# Between two changes of one transaction, an answer may rest on a state that no other node sees.
_NOT_IN_TRANSACTIONS: Final = frozenset({"NoReadYourUncommittedInv"})


def constants_of(configuration: Configuration) -> dict[str, Value]:
    """Return the constants of MetadataLog, without the operators; a node is a model value."""
    return {
        "Controller": frozenset(map(node_value, configuration.controllers)),
        "Broker": frozenset(map(node_value, configuration.brokers)),
        "Request": frozenset(map(request_value, configuration.requests)),
        "Nil": NIL,
    }


def properties_for(configuration: Configuration) -> Properties:
    """Return the properties that every run of a configuration must keep.

    Witnesses that need something the configuration leaves out are left out too.
    """
    never = _NOT_TRUE | (_NOT_IN_TRANSACTIONS if configuration.transactions else frozenset())
    found = properties_of(find_module(MODULE, None), never)
    left_out = set()
    if not configuration.transactions:
        left_out |= {
            "OpenTransactionAbortedReach", "TransactionEndedReach", "StandbyInTransactionReach",
        }  # fmt: skip
    if not (configuration.snapshots and configuration.restarts and configuration.brokers):
        left_out |= {"StartedFromSnapshotReach", "FarBehindReach"}
    witnesses = tuple(name for name in found.witnesses if name not in left_out)
    return Properties(found.invariants, found.steps, witnesses)


@lru_cache(maxsize=8)
def load(configuration: Configuration) -> JudgedSpec[MetadataMapping]:
    """Return MetadataLog with the constants of a configuration and the properties that hold."""
    constants = constants_of(configuration)
    spec = load_pinned(MODULE, constants, **facts_of(MODULE).definitions())
    mapping = MetadataMapping(configuration)
    return JudgedSpec(MODULE, constants, spec, properties_for(configuration), mapping)


judge: Final = judge_by(load)
"""Makes the judge of one run of a configuration."""
