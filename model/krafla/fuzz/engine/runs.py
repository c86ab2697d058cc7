"""The runs of a campaign: each is known by its number, and is the same wherever it is played.

Run ``n`` depends on its `Runs` alone. So several processes, or many machines, can share a campaign.
The distributor knows a protocol only through `Runs`.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine import run_file
from krafla.fuzz.engine.seen import TALLIES
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.oracle.digest import spec_digest
from krafla.traces.ndjson import write_trace
from krafla.traces.spec_facts import facts_files
from kraft import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from krafla.fuzz.engine.system import System
    from krafla.fuzz.engine.violation import Violation
    from krafla.refinement.common.judgement import Finding
    from krafla.report.explain.account import Account

__all__ = ["Failure", "Kept", "Run", "Runs", "judging_digest", "save_run"]

# A verdict can depend on the code of these rooms and of no others; a test checks it.
ROOMS: Final = ("audit", "fuzz", "match", "oracle", "refinement", "shrink", "tlc", "traces")


@dataclass(frozen=True, slots=True)
class Run:
    """A run, and what it showed.

    ``case`` is all that decides the run. ``steps`` counts the choices of a run that is driven by
    choices, the events of a run on machines. ``digest`` is of the choices, or of all that the
    machines did. ``tallies`` has some of ``TALLIES``; a name with the count 0 could have been
    counted and was not. ``states`` are the fingerprints of the spec's states that were visited,
    where they are known. ``first_reached`` has for each witness the judged step that reached it
    first.
    """

    case: Any
    finding: Finding | Violation | None
    steps: int
    digest: str
    tallies: Mapping[str, Mapping[str, int]]
    states: frozenset[int] = frozenset()
    first_reached: Mapping[str, int] = field(default_factory=dict)

    @property
    def profile(self) -> str:
        """Return what kind of run it is."""
        return str(self.case.profile)

    @property
    def kind(self) -> tuple[str, ...]:
        """Return the kind of the finding, empty if there is none."""
        return () if self.finding is None else tuple(self.finding.kind)

    @property
    def found_by(self) -> str:
        """Return the property or action that was violated, empty if there is no finding."""
        return self.kind[1] if self.kind else ""

    @property
    def detail(self) -> str:
        """Return the text of the finding, empty if there is none."""
        return "" if self.finding is None else str(self.finding)

    def result_digest(self, number: int) -> str:
        """Return the SHA-256 of the number and of what the run showed: equal, equal results."""
        counts = [
            (
                name,
                sorted((one, count) for one, count in tally.items() if count or name == "totals"),
            )
            for name, tally in ((name, self.tallies.get(name, {})) for name in TALLIES)
        ]
        content = number, self.profile, self.steps, self.kind, self.detail, self.digest, counts
        return hashlib.sha256(repr(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Kept:
    """What is told of a failure: its run, the smallest run, and the files that keep that.

    ``steps`` is where the finding was in the run. ``size`` is how many of ``unit``, steps or
    faults, the run has, and ``smallest`` how many are left. Without shrinking both are equal; both
    are None for a run that was not played again.
    """

    number: int
    profile: str
    steps: int
    property: str
    detail: str
    unit: str
    size: int | None = None
    smallest: int | None = None
    saved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A run with a finding, and the smallest run with the same finding that is known."""

    system: System
    seed: int
    number: int
    run: Run
    smallest: Run

    def shrunk(self, progress: Callable[[str], object]) -> Failure:
        """Return the failure with a run as small as can be found; it reports its progress."""

        def show(size: int) -> None:
            progress(f"found; shrinking: {size} {self.system.unit}")

        return replace(self, smallest=self.system.shrunk(self.run, show))

    def kept(self, saved: tuple[str, ...] = ()) -> Kept:
        """Return what is told of the failure; ``saved`` are the files that keep it."""
        run, smallest = self.run, self.smallest
        return Kept(
            self.number, run.profile, run.steps, self.run.found_by, smallest.detail,
            self.system.unit, run.case.size, smallest.case.size, saved,
        )  # fmt: skip

    @property
    def place(self) -> str:
        """Return where it was found, and how small the run was made."""
        kept = self.kept()
        return (
            f"run {self.number} ({kept.profile}), found at step {kept.steps:,}; "
            f"{kept.smallest} of {kept.size} {kept.unit} are left"
        )

    def account(self) -> Account:
        """Return what was found in the smallest run, and the steps that lead there."""
        return self.system.account(self.smallest)

    def save(self, folder: Path, mutant: str = "") -> Kept:
        """Write the smallest run into a folder; ``mutant`` names its seeded bug, if it has one.

        A system that has traces keeps it as a trace, too. ``KraflaError`` if that is not possible.
        """
        which = mutant or f"{self.seed}-{self.number}"
        return self.kept(save_run(self.system, self.smallest, folder, which, mutant))


def save_run(
    system: System, run: Run, folder: Path, which: str, mutant: str = ""
) -> tuple[str, ...]:
    """Write a run with a finding into a folder, and return the names of its files.

    ``which`` is part of the names, ``mutant`` the seeded bug that the run has. A system that has
    traces keeps it as a trace, too. ``KraflaError`` if that is not possible.
    """
    name = f"krafla-{system.name}-{which}-{run.found_by}"
    stem = "".join(letter if letter.isalnum() else "-" for letter in name)[:80]
    run_file.write(system, run, folder / f"{stem}.json", mutant)
    trace = system.trace(run)
    if trace is None:
        return (f"{stem}.json",)
    write_trace(run_file.naming_bug(trace, mutant), folder / f"{stem}.ndjson")
    return f"{stem}.ndjson", f"{stem}.json"


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one system under one seed and one set of options.

    It is a value that can be sent to other processes: it names its system. ``modules`` are the
    specs that judge the runs. About ``judged_steps`` steps of a run are judged. ``bounds`` says
    how large a run is at most.
    """

    name: str
    seed: int
    options: RunOptions
    modules: tuple[str, ...]
    judged_steps: int
    bounds: str

    @property
    def system(self) -> System:
        """Return the system."""
        return find_system(self.name)

    @property
    def plan(self) -> dict[str, Any]:
        """Return the options that decide the runs, as JSON data."""
        return {name: self.options.arguments.get(name, "").strip() for name in self.system.takes}

    @property
    def arguments(self) -> str:
        """Return the options of the command that differ from the defaults, each after a blank."""
        usual = self.system.runs(0, RunOptions()).options.arguments
        given = self.options.arguments
        return "".join(text for name, text in given.items() if usual.get(name) != text)

    def profile_of(self, number: int) -> str:
        """Return what kind of run ``number`` is, without playing it."""
        return self.system.profile_of(self.seed, number, self.options)

    def load(self, *, brief: bool) -> None:
        """Prepare this process to play: start a JVM if a spec judges the runs.

        ``brief`` says that the process plays little and ends soon.
        """
        if self.modules:
            from krafla.oracle.jvm import settle, start

            start(brief=brief)
            settle()

    def play(self, number: int, reached: Collection[str] = ()) -> Run:
        """Return run ``number``; the witnesses in ``reached`` are not looked for."""
        return self.system.play_number(self.seed, number, self.options, reached)

    def failure(self, number: int, run: Run) -> Failure:
        """Return the failure of run ``number``, which has a finding, before any shrinking."""
        assert run.finding is not None, f"run {number} has no finding"
        return Failure(self.system, self.seed, number, run, run)

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
