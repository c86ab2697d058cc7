"""All seeded bugs of what is simulated over machines, by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from krafla.fuzz.raft.mutants import MUTANTS as RAFT
from krafla.fuzz.stack.mutants import MUTANTS as STACK
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["MUTANTS", "find_mutant"]

MUTANTS: Final[dict[str, tuple[Mutant, ...]]] = {"raft": RAFT, "stack": STACK}
"""By what is simulated."""

_BY_NAME: Final = {mutant.name: mutant for mutants in MUTANTS.values() for mutant in mutants}
assert len(_BY_NAME) == sum(map(len, MUTANTS.values())), "two seeded bugs have one name"


def find_mutant(name: str) -> Mutant:
    """Return the seeded bug of this name; ``KraflaError`` guesses what was meant."""
    if name not in _BY_NAME:
        near = get_close_matches(name, _BY_NAME)
        meant = f"{' or '.join(near)}? " if near else ""
        raise KraflaError(f"no seeded bug {name!r}; {meant}--mutants list shows them")
    return _BY_NAME[name]
