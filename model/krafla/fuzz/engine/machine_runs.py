"""The runs of a system on simulated machines, and those of them that broke a property."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from krafla.fuzz.engine import machine_file
from krafla.fuzz.engine.machine_shrink import shrink
from krafla.fuzz.engine.run_file import write
from krafla.fuzz.engine.run_source import Failure, Kept, RunResult, RunSource
from krafla.fuzz.engine.system import find_system
from kraft.sim.raft.faults import target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from krafla.fuzz.engine.machine_run import Case, Played
    from krafla.fuzz.engine.machine_system import MachineSystem

__all__ = ["MachineFailure", "MachineRuns", "case_lines", "sizes"]

_SECOND: Final = 1_000_000_000


def sizes(case: Case) -> str:
    """Return how many voters and observers a run has, as text."""
    return f"{case.configuration.voters} voters, {case.configuration.observers} observers"


@dataclass(frozen=True, slots=True)
class MachineRuns(RunSource):
    """The runs of a system on machines. It names its system, so that it can be sent elsewhere.

    ``chaos`` is how long things go wrong in a run, in seconds; None for the configuration's own.
    """

    name: str
    seed: int
    kinds: tuple[str, ...]
    chaos: float | None = None
    lockstep: bool = False
    chunk: ClassVar[int] = 5
    steps_of_a_run: ClassVar[int] = 4_000
    # A run of machines has too much in it to be printed.
    keeps_in: ClassVar[Path | None] = Path()

    @property
    def _system(self) -> MachineSystem:
        return cast("MachineSystem", find_system(self.name))

    @property
    def system(self) -> str:
        """Return the name of the system."""
        return self.name

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the specs that judge the runs."""
        system = self._system
        return system.checks_modules + (system.judge_modules if self.lockstep else ())

    @property
    def properties(self) -> int:  # type: ignore[override]  # the system knows it
        """Return how many properties are asked after every event."""
        return len(self._system.properties)

    @property
    def plan(self) -> dict[str, Any]:
        """Return the kinds of faults, the seconds of chaos, and whether specs judge in lockstep."""
        return {"faults": list(self.kinds), "chaos": self.chaos, "lockstep": self.lockstep}

    @property
    def options(self) -> str:
        """Return the options of the command that differ from the defaults."""
        given = ""
        if self.kinds != self._system.kinds:
            given += f" --faults {','.join(self.kinds) or 'none'}"
        if self.chaos is not None:
            given += f" --chaos {self.chaos:g}"
        return f"{given} --lockstep" if self.lockstep else given

    def profile_of(self, number: int) -> str:
        """Return the sizes that run ``number`` draws."""
        return sizes(self._case_of(number))

    def load(self, *, brief: bool) -> None:
        """Start a JVM in this process, unless one runs or no spec is asked."""
        if self.modules:
            from krafla.oracle.jvm import settle, start

            start(brief=brief)
            settle()

    def play(self, number: int, _reached: Collection[str] = ()) -> RunResult:
        """Return the result of run ``number``."""
        played = self._played(number)
        expected = dict.fromkeys(self._system.actions(), 0) if self.lockstep else {}
        return RunResult(
            number=number,
            profile=sizes(played.case),
            steps=played.events,
            finding=() if played.violation is None else ("property", played.violation.property),
            detail="" if played.violation is None else str(played.violation),
            run=played.digest,
            tallies={
                "actions": expected | dict(played.actions),
                "faults": dict(played.faults),
                "hazards": dict(played.hazards),
                "liveness": {played.liveness: 1},
                "totals": {
                    "judged": played.judged,
                    "unpromised": played.unpromised,
                    "simulated_ns": played.simulated,
                    "acknowledged": played.acknowledged,
                },
            },
        )

    def failure(self, number: int) -> Failure:
        """Return the failure of run ``number``."""
        played = self._played(number)
        assert played.violation is not None, f"run {number} has no finding"
        return MachineFailure(
            self.name, self.seed, number, sizes(played.case), played, played, self.lockstep
        )

    def _played(self, number: int) -> Played:
        return self._system.play(self._case_of(number), lockstep=self.lockstep)

    def _case_of(self, number: int) -> Case:
        """Return a run; it depends on the seed, its number, the kinds and the chaos only."""
        case = self._system.case_of(self.seed, number, self.kinds)
        if self.chaos is None:
            return case
        chaos = round(self.chaos * _SECOND)
        return replace(case, configuration=replace(case.configuration, chaos=chaos))

    @property
    def bounds(self) -> str:
        """Return how many nodes a run has at most, and how long things go wrong."""
        chaos = "" if self.chaos is None else f", {self.chaos:g} seconds of faults in each"
        return f"{self._system.nodes}{chaos}"


def case_lines(case: Case) -> Iterator[str]:
    """Yield the size of a run, and each fault of its plan."""
    configuration, above = case.configuration, case.above
    yield f"  {sizes(case)}, kraft.version {configuration.kraft_version}, seed {case.seed}"
    if above is not None:
        elr = ", eligible leader replicas" if above.eligible_leader_replicas else ""
        yield f"  a cluster of metadata version {above.metadata_version}{elr}"
    for fault in case.plan or ():
        lasts = f" for {fault.duration / _SECOND:.3f} s" if fault.duration else ""
        yield f"  {fault.time / _SECOND:>9.3f} s  {fault.kind} of {target_of(fault)}{lasts}"


@dataclass(frozen=True, slots=True)
class MachineFailure(Failure):
    """A run on machines that broke a property, and the same with as few faults as were found."""

    system: str
    seed: int
    number: int
    profile: str
    played: Played
    smallest: Played
    lockstep: bool = False

    @property
    def found_by(self) -> str:
        """Return the name of the property."""
        assert self.smallest.violation is not None
        return self.smallest.violation.property

    @property
    def detail(self) -> str:
        """Return the violation of the smallest run."""
        return str(self.smallest.violation)

    def shrunk(self, progress: Callable[[str], object]) -> Failure:
        """Return the failure with as few faults as can be found."""
        system = cast("MachineSystem", find_system(self.system))

        def again(case: Case) -> Played:
            return system.play(case, lockstep=self.lockstep)

        left = shrink(self.played, again, lambda count: progress(f"found; {count} faults are left"))
        return replace(self, smallest=left)

    @property
    def _faults(self) -> tuple[int, int]:
        return len(self.played.case.plan or ()), len(self.smallest.case.plan or ())

    def lines(self) -> Iterator[str]:
        """Yield how many faults are left, each of them, and the violation."""
        planned, left = self._faults
        yield f"run {self.number}: {planned} faults planned, {left} are left"
        yield from case_lines(self.smallest.case)
        yield f"  {self.detail}"

    def document(self) -> dict[str, Any]:
        """Return the same as JSON data."""
        planned, left = self._faults
        return {
            "run": self.number,
            "property": self.found_by,
            "text": self.detail,
            "faults": planned,
            "faults_left": left,
        }

    def save(self, folder: Path, mutant: str = "") -> Kept:
        """Write the smallest run into a folder, as one file."""
        name = f"krafla-{self.system}-{mutant or f'{self.seed}-{self.number}'}.json"
        kept = machine_file.kept(self.system, self.smallest, mutant, lockstep=self.lockstep)
        write(kept, folder / name)
        assert self.played.violation is not None
        planned, left = self._faults
        return Kept(
            self.number,
            self.profile,
            self.played.violation.step,
            self.detail,
            (name,),
            (f"krafla fuzz {self.system} --replay",),
            faults=planned,
            faults_left=left,
        )
