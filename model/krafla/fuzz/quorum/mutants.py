"""All seeded bugs, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.quorum.mutants_election import ELECTION
from krafla.fuzz.quorum.mutants_leading import LEADING
from krafla.fuzz.quorum.mutants_listener import LISTENER
from krafla.fuzz.quorum.mutants_log import LOG
from krafla.fuzz.quorum.mutants_storage import STORAGE
from krafla.fuzz.quorum.mutants_voters import CHANGES
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.fuzz.quorum.seeding import Mutant

__all__ = ["MUTANTS", "find_mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *ELECTION, *LEADING, *LOG, *LISTENER, *CHANGES, *STORAGE
)  # fmt: skip
"""Of elections, who goes on leading, logs, snapshots with listeners, voters and disks, storage."""

_BY_NAME: Final = {mutant.name: mutant for mutant in MUTANTS}
assert len(_BY_NAME) == len(MUTANTS), "two seeded bugs have one name"


def find_mutant(name: str) -> Mutant:
    """Return the seeded bug of this name; ``KraflaError`` lists them if there is none."""
    if name not in _BY_NAME:
        raise KraflaError(f"no seeded bug {name!r}; there are: {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
