"""A campaign in pieces: what each single run comes to, whoever plays it, wherever and when.

Run ``n`` here is run ``n`` of ``krafla fuzz PROTOCOL --seed 0`` with the same options. So many
machines can share a campaign, and their results are those of one. Whoever shares it out knows
nothing of a protocol but what a ``RunSource`` says.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from krafla.oracle.digest import spec_digest
from krafla.traces.spec_facts import facts_files
from kraft import errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["SEED", "TALLIES", "Kept", "RunSource", "SeedResult", "Seen", "judging_digest"]

SEED: Final = 0
"""The seed whose runs the runs of every campaign are."""
TALLIES: Final = ("actions", "witnesses", "faults", "hazards", "liveness", "totals")
"""What can be counted in a run, each by name; see ``docs/internals/pipeline.md``."""
# All that a verdict can depend on; a test says that it sees no other room.
ROOMS: Final = ("audit", "fuzz", "match", "oracle", "refinement", "shrink", "tlc", "traces")


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What one run came to.

    ``steps`` are the choices of a game, the events of machines. ``finding`` is its kind, empty if
    nothing was found, and ``detail`` its text. ``run`` is the digest of all that happened in it,
    whatever was said of it. ``tallies`` has some of ``TALLIES``. ``states`` are the fingerprints of
    the states of the spec that were visited, where those are known.
    """

    seed: int
    profile: str
    steps: int
    finding: tuple[str, ...]
    detail: str
    run: str
    tallies: Mapping[str, Mapping[str, int]]
    states: frozenset[int] = frozenset()

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all that it says but the states: equal digests, equal results."""
        counts = [(name, sorted(self.tallies.get(name, {}).items())) for name in TALLIES]
        content = (self.seed, self.profile, self.steps, self.finding, self.detail, self.run, counts)
        return hashlib.sha256(repr(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Kept:
    """The smallest run found with the finding of a seed, and the files that keep it.

    ``steps`` is where the finding was in the run of the seed. What was made small: the steps of a
    game, of which ``shrunk_steps`` are left, or the faults of machines, of which there were
    ``faults``. ``replay`` has for each file the command that plays it, up to the file's name.
    """

    seed: int
    profile: str
    steps: int
    detail: str
    saved: tuple[str, ...]
    replay: tuple[str, ...]
    shrunk_steps: int | None = None
    faults: int | None = None
    faults_left: int | None = None

    @property
    def size(self) -> int:
        """Return how small it is; it compares with that of another run of the protocol."""
        size = self.faults_left if self.shrunk_steps is None else self.shrunk_steps
        assert size is not None, "something was made small"
        return size


@dataclass(frozen=True, slots=True)
class Seen:
    """What many runs came to in sum: how many, their steps, about how many states, all tallies."""

    seeds: int
    steps: int
    states: int
    tallies: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


class RunSource(Protocol):
    """What the runs of a campaign have in common, and all that is known of its protocol.

    It is a value that can be sent to other processes.
    """

    @property
    def protocol(self) -> str:
        """Return its name on the command line."""

    @property
    def plan(self) -> dict[str, Any]:
        """Return the options that decide the runs, as JSON data."""

    @property
    def options(self) -> str:
        """Return the options of the command that are not what they are by themselves."""

    @property
    def chunk(self) -> int:
        """Return how many runs are worth a task of their own."""

    def judged_by(self) -> str:
        """Return the SHA-256 of the code that is judged, and of all code and specs that judge it.

        Results with different numbers here are not of one campaign.
        """

    def names(self) -> dict[str, tuple[str, ...]]:
        """Return by tally what is to be counted even if it never happens."""

    def profile_of(self, number: int) -> str:
        """Return what kind of run ``number`` is."""

    def prepare(self, count: int) -> None:
        """Make this process ready to play about so many runs."""

    def play(self, number: int) -> SeedResult:
        """Return what run ``number`` comes to."""

    def keep(self, number: int, folder: Path) -> Kept:
        """Make run ``number``, which has a finding, as small as can be; write it to a folder."""

    def doubts(self, seen: Seen) -> tuple[str, ...]:
        """Return why runs show less than they should."""

    def coverage_lines(self, seen: Seen) -> Iterator[str]:
        """Yield line by line what runs have covered."""

    def counts(self, seen: Seen) -> dict[str, int]:
        """Return the numbers that tell how much was played, by name."""

    def summary(self, seen: Seen) -> str:
        """Return in a line how much was played and covered."""


@functools.cache
def judging_digest(modules: tuple[str, ...]) -> str:
    """Return the SHA-256 of all code that is judged or judges, and of these modules of TLA+."""
    judged, judge = Path(errors.__file__).parent, Path(__file__).parents[1]
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
