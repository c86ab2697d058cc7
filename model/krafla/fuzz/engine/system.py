"""What `krafla fuzz` can run: one `System` for each of the seven words of the command."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.run_file import Replay
    from krafla.fuzz.engine.run_source import Failure, RunSource

__all__ = ["NAMES", "RunOptions", "System", "find_system", "named"]

NAMES: Final = ("lease", "metadata", "reassignment", "registration", "cluster", "raft", "stack")
"""The seven words, in the order of the help."""
# Nothing answers to these; the error says what does.
_OLD_WORDS: Final = {
    "together": "cluster",
    "whole": "stack",
    "quorum": "raft",
    "controlling": "metadata",
    "moving": "reassignment",
    "registering": "registration",
}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that decide the runs of a system; None where the system's own default holds.

    ``faults`` is the text of ``--faults``. ``chaos`` is in seconds.
    """

    steps: int | None = None
    profiles: Sequence[str] | None = None
    faults: str | None = None
    chaos: float | None = None
    lockstep: bool | None = None


class System(ABC):
    """What is simulated, which specs judge it, and how its runs are drawn, read and broken."""

    name: str
    takes: ClassVar[tuple[str, ...]]
    """The options of the command, of those in `RunOptions`, that the system takes."""

    @abstractmethod
    def runs(self, seed: int, options: RunOptions) -> RunSource:
        """Return the runs of a seed; ``KraflaError`` for an option that names nothing."""

    @abstractmethod
    def replay(self, data: bytes, place: str) -> Replay:
        """Play a kept run, given as the bytes of its file, and return what it shows now.

        ``KraflaError`` with its place if the bytes are no run of this system.
        """

    @abstractmethod
    def search_run(self, mutant: Mutant, seed: int, number: int) -> Failure | None:
        """Play run ``number`` of the search for a seeded bug; return its failure, if it has one."""

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        """Return the seeded bugs of the system."""
        found: tuple[Mutant, ...] = import_module(f"krafla.fuzz.{self.name}.mutants").MUTANTS
        return found

    def fault_lines(self) -> Iterator[str]:
        """Yield every kind of fault, with what it is."""
        yield from ()


def find_system(name: str) -> System:
    """Return the system of this name; ``KraflaError`` says what was meant."""
    if name not in NAMES:
        raise KraflaError(unknown(name))
    system: System = import_module(f"krafla.fuzz.{name}.system").SYSTEM
    return system


def unknown(name: str) -> str:
    """Return the sentence about a word that names no system."""
    if name in _OLD_WORDS:
        return f"{name!r} is called {_OLD_WORDS[name]!r} now"
    return f"nothing is called {name!r} here; {named(name, NAMES)}"


def named(name: str, known: Sequence[str]) -> str:
    """Return what a mistyped name may have meant, or all names that there are."""
    near = get_close_matches(name, known)
    return f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
