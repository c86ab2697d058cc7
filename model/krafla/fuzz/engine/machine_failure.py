"""A run on machines with a finding: shown by its faults, shrunk, and kept in a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine import machine_file
from krafla.fuzz.engine.machine_shrink import shrink
from krafla.fuzz.engine.run_file import write
from krafla.fuzz.engine.run_source import Failure, Kept
from krafla.fuzz.engine.system import find_system
from kraft.sim.raft.faults import whom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from krafla.fuzz.engine.machine_run import Case, Played

__all__ = ["MachineFailure", "case_lines", "sizes"]

_SECOND: Final = 1_000_000_000


def sizes(case: Case) -> str:
    """Return how many nodes a run has."""
    return f"{case.configuration.voters} voters, {case.configuration.observers} observers"


def case_lines(case: Case) -> Iterator[str]:
    """Yield the size of a run, and each fault of its plan."""
    configuration, above = case.configuration, case.above
    yield f"  {sizes(case)}, kraft.version {configuration.kraft_version}, seed {case.seed}"
    if above is not None:
        elr = ", eligible leader replicas" if above.eligible_leader_replicas else ""
        yield f"  a cluster of metadata version {above.metadata_version}{elr}"
    for fault in case.plan or ():
        lasts = f" for {fault.duration / _SECOND:.3f} s" if fault.duration else ""
        yield f"  {fault.time / _SECOND:>9.3f} s  {fault.kind} of {whom(fault)}{lasts}"


@dataclass(frozen=True, slots=True)
class MachineFailure(Failure):
    """A run on machines that broke a property, and the same with as few faults as were found."""

    system: str
    seed: int
    number: int
    played: Played
    smallest: Played
    lockstep: bool = False

    @property
    def profile(self) -> str:  # type: ignore[override]  # it follows from the run
        """Return the sizes of the run."""
        return sizes(self.played.case)

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
        system: Any = find_system(self.system)

        def again(case: Case) -> Played:
            played: Played = system.play(case, lockstep=self.lockstep)
            return played

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
