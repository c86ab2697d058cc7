"""Which properties of BrokerLease are judged: all that the properties module defines.

They are read from the module itself, so a property added there is judged from then on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

__all__ = ["BEGINNINGS", "CONDITIONAL", "MODULE", "Properties", "properties_of", "read_properties"]

MODULE: Final = "BrokerLeaseProperties"

# Why each of these is not judged in every run. Whoever meets the condition asks for it.
CONDITIONAL: Final = {
    "RegistrationIsKnownInv": "requests must arrive in the order in which they were sent",
    "NoOverlapInv": "brokers must fence themselves in time, requests keep order, and nobody "
    "may unregister a live broker",
    "OneServerPerIdInv": "as NoOverlapInv",
}

# Witnesses that a campaign need not reach, and why. A model reaches each.
LEFT_TO_MODELS: Final = {
    "ShutdownCancelledByFenceReach": "it counts the records of a log that holds little else",
}

# What is called neither Init nor Next, since the module extends one that has both.
BEGINNINGS: Final = {"ReassignmentElrProperties": ("ElrInit", "ElrNext")}

_DEFINITION = re.compile(r"^(?P<name>\w+?(?P<suffix>Inv|Prop|Reach)) *==", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Properties:
    """Names of properties: of every state, of every step, and of some state (witnesses)."""

    invariants: tuple[str, ...]
    steps: tuple[str, ...]
    witnesses: tuple[str, ...]


def read_properties(module: Path, also: Collection[str] = ()) -> Properties:
    """Return the unconditional properties of a module, and those conditional ones asked for.

    ``KraflaError`` if the module defines none, or one that was asked for is not conditional:
    a judge without properties would agree to everything.
    """
    unknown = sorted(set(also) - CONDITIONAL.keys())
    if unknown:
        raise KraflaError(f"{', '.join(unknown)}: no conditional property", str(module))
    return properties_of(module, {*LEFT_TO_MODELS, *CONDITIONAL} - set(also))


def properties_of(module: Path, left_out: Collection[str] = ()) -> Properties:
    """Return the properties that a module defines, and TypeOK, but for those left out.

    ``KraflaError`` if it defines none of a kind: a judge without properties would agree to all.
    """
    found: dict[str, list[str]] = {"Inv": [], "Prop": [], "Reach": []}
    for match in _DEFINITION.finditer(module.read_text(encoding="utf-8")):
        if match["name"] not in left_out:
            found[match["suffix"]].append(match["name"])
    empty = [suffix for suffix, names in found.items() if not names]
    if empty:
        raise KraflaError(f"defines no property called ...{empty[0]}", str(module))
    return Properties(("TypeOK", *found["Inv"]), tuple(found["Prop"]), tuple(found["Reach"]))
