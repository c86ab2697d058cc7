"""All seeded bugs of controllers and brokers, and of what passes between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.stack.mutants_brokers import BROKERS
from krafla.fuzz.stack.mutants_core import CORE
from krafla.fuzz.stack.mutants_data import DATA
from krafla.fuzz.stack.mutants_hosting import HOSTING
from krafla.fuzz.stack.mutants_images import IMAGES
from krafla.fuzz.stack.mutants_managers import MANAGERS
from krafla.fuzz.stack.mutants_operations import OPERATIONS
from krafla.fuzz.stack.mutants_partitions import PARTITIONS
from krafla.fuzz.stack.mutants_processes import PROCESSES
from krafla.fuzz.stack.mutants_replay import REPLAY
from krafla.fuzz.stack.mutants_tokens import TOKENS

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *CORE, *IMAGES, *BROKERS, *PARTITIONS, *PROCESSES, *MANAGERS, *DATA,
    *OPERATIONS, *TOKENS, *REPLAY, *HOSTING,
)  # fmt: skip
"""In the order: core, images, brokers, partitions, broker processes, other entries, data,
operations, tokens, mistakes of the replay that all share, and of what runs a controller."""
