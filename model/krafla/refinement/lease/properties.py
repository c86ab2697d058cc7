"""The judged properties of BrokerLease: all unconditional ones that its properties module defines.

They are read from the module, so a property added there is judged from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.oracle.properties import properties_of
from krafla.traces.spec_facts import facts_of
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from krafla.oracle.properties import Properties

__all__ = ["MODULE", "read_properties"]

MODULE: Final = "BrokerLeaseProperties"


def read_properties(module: Path, also: Collection[str] = ()) -> Properties:
    """Return the properties of a module without the conditional ones, except those in ``also``.

    ``KraflaError`` if the module defines none, or if one in ``also`` is not conditional.
    """
    facts = facts_of(MODULE)
    unknown = sorted(set(also) - facts.conditional.keys())
    if unknown:
        raise KraflaError(f"{', '.join(unknown)}: no conditional property", str(module))
    return properties_of(module, {*facts.left_to_models, *facts.conditional} - set(also))
