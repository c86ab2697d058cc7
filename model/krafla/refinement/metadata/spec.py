"""MetadataLog loaded for a configuration, once in a process, and its judges."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle import Spec
from krafla.oracle.constants import pin_constants
from krafla.oracle.loader import find_module, folders_for
from krafla.oracle.properties import Properties, properties_of
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.lockstep import Judge
from krafla.refinement.lease.vocabulary import NIL
from krafla.refinement.metadata.mapping import MetadataMapping, node_value, request_value
from krafla.values import fmt

if TYPE_CHECKING:
    from collections.abc import Collection

    from krafla.values import Value
    from kraft.sim.metadata.cluster import Configuration

__all__ = ["MODULE", "constants_of", "load_metadata", "metadata_judge", "properties_for"]

MODULE: Final = "MetadataLogProperties"
_ROOT: Final = "MetadataLogLockstep"

# What a deposed controller refuses may be right by now (specs/broken/metadata/StaleRefusal).
_NOT_TRUE: Final = frozenset({"UnchangedIsCurrentProp"})
# Between two changes in one transaction a question is answered by what nobody else ever sees.
_NOT_IN_TRANSACTIONS: Final = frozenset({"NoReadYourUncommittedInv"})

# What requests mean is as in MCMetadataLog: a configuration file cannot say operators.
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
    """Return the constants of MetadataLog that are no operators; a node is a model value."""
    return {
        "Controller": frozenset(map(node_value, configuration.controllers)),
        "Broker": frozenset(map(node_value, configuration.brokers)),
        "Request": frozenset(map(request_value, configuration.requests)),
        "Nil": NIL,
    }


def properties_for(configuration: Configuration) -> Properties:
    """Return the properties that all runs of a configuration must keep.

    Witnesses that its runs cannot reach, for want of what it leaves out, are not asked for.
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
def load_metadata(configuration: Configuration) -> JudgedSpec[MetadataMapping]:
    """Return MetadataLog with the constants of a configuration and the properties that hold."""
    constants = constants_of(configuration)
    names = [str(node_value(node)) for node in configuration.nodes]
    text = _TEXT.format(
        nodes=", ".join(names),
        controllers=fmt(constants["Controller"]),
        brokers=fmt(constants["Broker"]),
        requests=fmt(constants["Request"]),
    )
    nodes = "\n".join(f"  {name} = {name}" for name in names)
    folders = folders_for(find_module(MODULE, None))
    with tempfile.TemporaryDirectory(prefix="krafla-lockstep-") as temporary:
        module = Path(temporary, f"{_ROOT}.tla")
        module.write_text(text, encoding="utf-8")
        settings = Path(temporary, f"{_ROOT}.cfg")
        settings.write_text(_SETTINGS.format(nodes=nodes), encoding="utf-8")
        spec = Spec.load(_ROOT, cfg=settings, path=module, search_path=folders)
        spec.sources.find(_ROOT)
    pin_constants(spec)
    return JudgedSpec(spec, properties_for(configuration), MetadataMapping(configuration))


def metadata_judge(configuration: Configuration, also: Collection[Any] = ()) -> Judge:
    """Return the judge of one run."""
    assert not also, "no property of MetadataLog is to be asked for"
    return Judge(load_metadata(configuration))
