"""MetadataLog, loaded once in a process for each configuration, and its judges."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.oracle.loader import find_module
from krafla.oracle.properties import Properties, properties_of
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.loading import load_generated
from krafla.refinement.common.lockstep import judge_by
from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.metadata.mapping import MetadataMapping, node_value, request_value
from krafla.values import fmt

if TYPE_CHECKING:
    from krafla.values import Value
    from kraft.sim.metadata.cluster import Configuration

__all__ = ["MODULE", "constants_of", "judge", "load", "properties_for"]

MODULE: Final = "MetadataLogProperties"
_ROOT: Final = "MetadataLogLockstep"

# A deposed controller may refuse a request that is valid by now
# (specs/broken/metadata/StaleRefusal).
_NOT_TRUE: Final = frozenset({"UnchangedIsCurrentProp"})
# Between two changes of one transaction, an answer may rest on a state that no other node sees.
_NOT_IN_TRANSACTIONS: Final = frozenset({"NoReadYourUncommittedInv"})

# Requests mean the same as in MCMetadataLog. A configuration file cannot define operators.
_TEXT: Final = """---- MODULE MetadataLogLockstep ----
EXTENDS MetadataLogProperties
CONSTANTS {nodes}
TheControllers == {controllers}
TheBrokers == {brokers}
TheRequests == {requests}
ZeroImage == [left |-> 0, right |-> 0]
ReplaySet(image, record) == [image EXCEPT ![record.key] = record.value]
SetBoth(value) ==
  <<[type |-> "Set", key |-> "left", value |-> value],
    [type |-> "Set", key |-> "right", value |-> value]>>
RecordsToSet(request, image) ==
  IF image.left = request.from /\\ request.from # request.to THEN SetBoth(request.to) ELSE << >>
ResultOfSet(request, image) == IF image.left = request.from THEN "NONE" ELSE "INVALID_REQUEST"
====
"""
_SETTINGS: Final = """CONSTANTS
  Nil = Nil
{nodes}
  Controller <- TheControllers
  Broker <- TheBrokers
  Request <- TheRequests
  InitialImage <- ZeroImage
  Replay <- ReplaySet
  Records <- RecordsToSet
  Result <- ResultOfSet
INIT Init
NEXT Next
CHECK_DEADLOCK FALSE
"""


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
    names = [str(node_value(node)) for node in configuration.nodes]
    text = _TEXT.format(
        nodes=", ".join(names),
        controllers=fmt(constants["Controller"]),
        brokers=fmt(constants["Broker"]),
        requests=fmt(constants["Request"]),
    )
    settings = _SETTINGS.format(nodes="\n".join(f"  {name} = {name}" for name in names))
    spec = load_generated(_ROOT, text, settings, MODULE)
    mapping = MetadataMapping(configuration)
    return JudgedSpec(MODULE, constants, spec, properties_for(configuration), mapping)


judge: Final = judge_by(load)
"""Makes the judge of one run of a configuration."""
