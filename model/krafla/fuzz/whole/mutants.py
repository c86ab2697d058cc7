"""All seeded bugs of controllers, brokers, and what lies between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.whole.mutants_core import CORE
from krafla.fuzz.whole.mutants_data import DATA

if TYPE_CHECKING:
    from krafla.fuzz.quorum.seeding import Mutant

__all__ = ["MUTANTS"]

MUTANTS: Final[tuple[Mutant, ...]] = (*CORE, *DATA)
"""Of the controller's core, and of the data of partitions."""
