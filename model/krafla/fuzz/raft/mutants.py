"""All seeded bugs of Raft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.raft.mutants_election import ELECTION
from krafla.fuzz.raft.mutants_hosting import HOSTING
from krafla.fuzz.raft.mutants_leader import LEADING
from krafla.fuzz.raft.mutants_listener import LISTENER
from krafla.fuzz.raft.mutants_log import LOG
from krafla.fuzz.raft.mutants_storage import STORAGE
from krafla.fuzz.raft.mutants_voters import CHANGES

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["MUTANTS"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *ELECTION, *LEADING, *LOG, *LISTENER, *CHANGES, *STORAGE, *HOSTING
)  # fmt: skip
"""In the order: elections, leaders, logs, snapshots and listeners, voters and disks, storage,
what runs a replica."""
