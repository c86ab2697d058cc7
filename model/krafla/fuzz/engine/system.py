"""What `krafla fuzz` can run: one `System` for each of the seven words of the command."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.runs import Run, Runs
    from krafla.report.explain.account import Account
    from krafla.shrink import Shrunk
    from krafla.testing import Trace

__all__ = ["CHOICE_NAMES", "NAMES", "RunOptions", "System", "find_system", "named"]

NAMES: Final = ("lease", "metadata", "reassignment", "registration", "cluster", "raft", "stack")
"""The seven words, in the order of the help."""
CHOICE_NAMES: Final = NAMES[:5]
"""Those of them that are driven by choices."""
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

    ``faults`` are words of ``--faults``, or in `Runs` kinds of faults. ``chaos`` is in seconds.
    """

    steps: int | None = None
    profiles: tuple[str, ...] | None = None
    faults: tuple[str, ...] | None = None
    chaos: float | None = None
    lockstep: bool | None = None

    @property
    def arguments(self) -> dict[str, str]:
        """Return for each option that is given, by its name, what the command takes for it."""
        found = {}
        if self.steps is not None:
            found["--steps"] = f" --steps {self.steps}"
        if self.profiles is not None:
            found["--profile"] = "".join(f" --profile {name}" for name in self.profiles)
        if self.faults is not None:
            found["--faults"] = f" --faults {','.join(self.faults) or 'none'}"
        if self.chaos is not None:
            found["--chaos"] = f" --chaos {self.chaos:g}"
        if self.lockstep is not None:
            found["--lockstep"] = " --lockstep" if self.lockstep else " --no-lockstep"
        return found


class System(ABC):
    """What is simulated, which specs judge it, and how its runs are drawn, read and broken.

    A *case* is all that decides a run. Each system has cases of its own: a case has a ``profile``
    and a ``size`` in units, and is ``encoded`` as a JSON object, which a file keeps.
    """

    name: str
    properties: tuple[str, ...]
    """The properties that are asked besides those of the specs."""
    takes: ClassVar[tuple[str, ...]]
    """The options of the command, of those in `RunOptions`, that the system takes."""
    unit: ClassVar[str]
    """What a run is made smaller by: its steps or its faults."""
    chunk: ClassVar[int]
    """How many runs are worth a task of their own."""

    @abstractmethod
    def runs(self, seed: int, options: RunOptions) -> Runs:
        """Return the runs of a seed; ``KraflaError`` for an option that names nothing."""

    @abstractmethod
    def profile_of(self, seed: int, number: int, options: RunOptions) -> str:
        """Return what kind of run a number gives, without playing it."""

    @abstractmethod
    def play_number(
        self, seed: int, number: int, options: RunOptions, reached: Collection[str] | None = None
    ) -> Run:
        """Return run ``number`` of a seed; witnesses are looked for but for those in ``reached``.

        None looks for no witness. The run depends only on seed, number and options.
        """

    @abstractmethod
    def play(self, case: Any) -> Run:
        """Return the run of a case with the implementation as it is now."""

    @abstractmethod
    def search_run(self, mutant: Mutant, seed: int, number: int) -> Run:
        """Return run ``number`` of the search for a seeded bug."""

    def shrunk(self, run: Run, progress: Callable[[int], object]) -> Run:
        """Return the smallest run found with the finding of a run; ``progress`` hears its size."""
        return self.shrink(run, progress).result

    @abstractmethod
    def shrink(
        self, run: Run, progress: Callable[[int], object], tries: int | None = None
    ) -> Shrunk[Run]:
        """Return the same, and whether the search ended before ``tries`` candidates."""

    @abstractmethod
    def account(self, run: Run) -> Account:
        """Return what was found in a run and the steps that lead there, for a person.

        The steps are played again, with the implementation as it is now.
        """

    def trace(self, run: Run) -> Trace | None:  # noqa: ARG002 - a system may have no traces
        """Return the run as a trace of its spec, if the system has traces."""
        return None

    @abstractmethod
    def decoded(self, data: bytes, place: str) -> Any:
        """Return the case in a JSON object; ``KraflaError`` with its place if it is none."""

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        """Return the seeded bugs of the system."""
        found: tuple[Mutant, ...] = import_module(f"krafla.fuzz.{self.name}.mutants").MUTANTS
        return found

    def fault_lines(self) -> Iterator[str]:
        """Yield every kind of fault, with what it is."""
        yield from ()

    def profile_lines(self) -> Iterator[str]:
        """Yield every profile, with what it is."""
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
