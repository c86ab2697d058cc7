"""The runs of a campaign: each is known by its number, and is the same wherever it is played.

Run ``n`` of a source depends on the source alone. So several processes, or many machines, can share
a campaign. The distributor knows a protocol only through `RunSource`.
"""

from __future__ import annotations

import functools
import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from krafla.fuzz.engine.seen import TALLIES
from krafla.oracle.digest import spec_digest
from krafla.traces.spec_facts import facts_files
from kraft import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

__all__ = ["Failure", "Kept", "RunResult", "RunSource", "judging_digest"]

# A verdict can depend on the code of these rooms and of no others; a test checks it.
ROOMS: Final = ("audit", "fuzz", "match", "oracle", "refinement", "shrink", "tlc", "traces")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of one run.

    ``steps`` counts the choices of a run that is driven by choices, the events of a run on
    machines. ``finding`` is the kind of the finding, empty if there is none, and ``detail`` its
    text. ``run`` is the digest of everything that happened. ``tallies`` has some of ``TALLIES``;
    a name with the count 0 could have been counted and was not. ``states`` are the fingerprints of
    the spec's states that were visited, where they are known. ``first_reached`` has for each
    witness the judged step that reached it first.
    """

    number: int
    profile: str
    steps: int
    finding: tuple[str, ...]
    detail: str
    run: str
    tallies: Mapping[str, Mapping[str, int]]
    states: frozenset[int] = frozenset()
    first_reached: Mapping[str, int] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything but the states: equal digests mean equal results."""
        counts = [
            (
                name,
                sorted((one, count) for one, count in tally.items() if count or name == "totals"),
            )
            for name, tally in ((name, self.tallies.get(name, {})) for name in TALLIES)
        ]
        content = (
            self.number,
            self.profile,
            self.steps,
            self.finding,
            self.detail,
            self.run,
            counts,
        )
        return hashlib.sha256(repr(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Kept:
    """The smallest run found with the finding of a run, and the files that keep it.

    ``steps`` is where the finding was in the original run. A run that is driven by choices shrinks
    to ``shrunk_steps`` steps; a run on machines shrinks from ``faults`` faults to ``faults_left``.
    ``replay`` has for each file the command that plays it, without the file's name.
    """

    number: int
    profile: str
    steps: int
    detail: str
    saved: tuple[str, ...] = ()
    replay: tuple[str, ...] = ()
    shrunk_steps: int | None = None
    faults: int | None = None
    faults_left: int | None = None

    @property
    def size(self) -> int:
        """Return how small the run is, for comparison with other runs of the same protocol."""
        size = self.faults_left if self.shrunk_steps is None else self.shrunk_steps
        assert size is not None, "something was made small"
        return size


class Failure(ABC):
    """A run with a finding, and the smallest run with the same finding that is known.

    ``number`` is the number of the run in its source, ``profile`` its kind.
    """

    number: int
    profile: str

    @property
    @abstractmethod
    def found_by(self) -> str:
        """Return the name of the property or action that was violated."""

    @property
    @abstractmethod
    def detail(self) -> str:
        """Return the finding of the smallest run as text."""

    @abstractmethod
    def shrunk(self, progress: Callable[[str], object]) -> Failure:
        """Return the failure with a run as small as can be found; it reports its progress."""

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Yield what a person is shown: where it was found, and the smallest run."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return the same as JSON data."""

    @abstractmethod
    def save(self, folder: Path, mutant: str = "") -> Kept:
        """Write the smallest run into a folder; ``mutant`` names its seeded bug, if it has one."""


class RunSource(ABC):
    """The runs of one system under one seed and one set of options.

    It is a value that can be sent to other processes.
    """

    seed: int
    chunk: ClassVar[int]
    """How many runs are worth a task of their own."""
    steps_of_a_run: ClassVar[int]
    """About how many steps of a run are judged."""
    properties: int = 0
    """How many properties are asked besides those of the specs."""
    keeps_in: ClassVar[Path | None] = None
    """The folder in which ``krafla fuzz`` keeps a failing run unless ``--save`` names another."""

    @property
    @abstractmethod
    def system(self) -> str:
        """Return the name of the system on the command line."""

    @property
    @abstractmethod
    def modules(self) -> tuple[str, ...]:
        """Return the specs that judge the runs."""

    @property
    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """Return the options that decide the runs, as JSON data."""

    @property
    @abstractmethod
    def options(self) -> str:
        """Return the options of the command that differ from the defaults, each after a blank."""

    @abstractmethod
    def profile_of(self, number: int) -> str:
        """Return what kind of run ``number`` is."""

    @abstractmethod
    def load(self, *, brief: bool) -> None:
        """Prepare this process to play: start a JVM if a spec judges the runs.

        ``brief`` says that the process plays little and ends soon.
        """

    @abstractmethod
    def play(self, number: int, reached: Collection[str] = (), /) -> RunResult:
        """Return the result of run ``number``; the witnesses in ``reached`` are not looked for."""

    @abstractmethod
    def failure(self, number: int) -> Failure:
        """Return the failure of run ``number``, which has a finding, before any shrinking."""

    @property
    @abstractmethod
    def bounds(self) -> str:
        """Return how large a run is at most."""

    def judged_by(self) -> str:
        """Return the SHA-256 of the code that is judged, and of all code and specs that judge it.

        Results with different digests belong to different campaigns.
        """
        return judging_digest(self.modules)


@functools.cache
def judging_digest(modules: tuple[str, ...]) -> str:
    """Return the SHA-256 of all code that is judged or judges, and of these modules of TLA+."""
    judged, judge = Path(errors.__file__).parent, Path(__file__).parents[2]
    code = {f"kraft/{path.relative_to(judged)}": path for path in judged.rglob("*.py")}
    rooms = [*judge.glob("*.py")]
    for room in ROOMS:
        rooms += (judge / room).rglob("*.py")
    code |= {f"krafla/{path.relative_to(judge)}": path for path in rooms}
    code |= {f"specs/{path.parent.name}/{path.name}": path for path in facts_files()}
    content = hashlib.sha256()
    for module in modules:
        content.update(f"{module} {spec_digest(module)}\n".encode())
    for name, path in sorted(code.items()):
        content.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return content.hexdigest()
