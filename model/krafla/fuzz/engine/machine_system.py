"""Systems on simulated machines: raft and stack.

A run is a configuration, a seed and a plan of faults. Properties are checked after every event;
with ``--lockstep`` specs judge the events, too, by the actions that each event is read as.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from krafla.fuzz.engine import machine_file
from krafla.fuzz.engine.machine_run import Case, Played, play
from krafla.fuzz.engine.machine_runs import MachineFailure, MachineRuns, case_lines, sizes
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.run_file import Replay
from krafla.fuzz.engine.system import System, named
from krafla.verdict import KraflaError, Verdict
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.configuration import draw_knobs
from kraft.sim.raft.kinds import ALL_PROMISES, KINDS, kinds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.fuzz.engine.machine_run import MachineJudge, Observer
    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.run_source import Failure, RunSource
    from krafla.fuzz.engine.system import RunOptions
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.workload import Workload

__all__ = ["SEED_BITS", "MachineSystem"]

SEED_BITS: Final = 63
"""How many bits the seed of a run has."""
_SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class MachineSystem(System):
    """A simulation of machines, disks, clocks and networks, and what its runs are held to.

    ``case_of`` returns a run by the seed of the campaign, its number and the kinds of faults.
    ``checks`` is told whether the run has no faults; ``checks_modules`` are the specs that the
    checks ask. With ``--lockstep`` a ``judge`` asks ``judge_modules``, and ``actions`` returns the
    names of the actions that runs can take. ``nodes`` says how large a run is at most.
    """

    name: str
    properties: tuple[str, ...]
    kinds: tuple[str, ...]
    case_of: Callable[[int, int, tuple[str, ...]], Case]
    workload: Callable[[Case], Callable[[Simulation], Workload]]
    checks: Callable[[bool], Observer]
    judge: Callable[[Simulation], MachineJudge]
    judge_modules: tuple[str, ...]
    actions: Callable[[], tuple[str, ...]]
    nodes: str
    checks_modules: tuple[str, ...] = ()
    takes: ClassVar[tuple[str, ...]] = ("--faults", "--chaos", "--lockstep")

    def runs(self, seed: int, options: RunOptions) -> RunSource:
        """Return the runs of a seed."""
        kinds = self._kinds_chosen(options.faults)
        return MachineRuns(self.name, seed, kinds, options.chaos, lockstep=bool(options.lockstep))

    def play(self, case: Case, *, lockstep: bool = False) -> Played:
        """Play a case, judged by the specs as well if ``lockstep`` says so."""
        return play(case, self, self.judge if lockstep else None)

    def replay(self, data: bytes, place: str) -> Replay:
        """Play a kept run again, with its seeded bug if it has one, and compare the two."""
        kept = machine_file.decode(data, place)
        bug = find_mutant(kept.mutant, self).applied() if kept.mutant else nullcontext()
        with bug:
            played = self.play(kept.case, lockstep=kept.lockstep)
        finding = None if played.violation is None else str(played.violation)
        is_same = played.digest == kept.digest
        verdict = Verdict.HELD if finding is None else Verdict.VIOLATED
        if finding is None and not kept.failed and not is_same:
            # A run that held before is another run now: this says nothing of the one in the file.
            verdict = Verdict.INCONCLUSIVE
        lines = [f"  with the seeded bug {kept.mutant}"] if kept.mutant else []
        lines += [*case_lines(played.case), *([] if finding is None else [f"  {finding}"])]
        sentence = f"{played.events:,} events, {played.simulated / _SECOND:,.3f} simulated s; "
        sentence += "the same run as in the file" if is_same else "not the run in the file"
        return Replay(
            verdict, played.events, finding, played.digest, is_same, tuple(lines), sentence
        )

    def search_run(self, mutant: Mutant, seed: int, number: int) -> Failure | None:
        """Play run ``number`` of the search for a seeded bug.

        Every other run has the faults that the bug asks for, if it asks for any.
        """
        case = self.case_of(seed, number, self.kinds)
        if mutant.focus and number % 2:
            configuration = case.configuration
            if case.above is None:
                configuration = replace(configuration, voters=3, observers=1, kraft_version=1)
            rates = tuple((kind, gap * MILLISECOND) for kind, gap in sorted(mutant.focus))
            knobs = replace(draw_knobs(case.seed, configuration), rates=rates)
            case = Case(configuration, case.seed, None, knobs, case.above)
        played = self.play(case)
        if played.violation is None:
            return None
        return MachineFailure(self.name, seed, number, sizes(case), played, played)

    def fault_lines(self) -> Iterator[str]:
        """Yield every kind of fault by its room; ``*`` marks those that runs draw by default."""
        for kind in KINDS.values():
            drawn = "*" if kind.name in self.kinds else " "
            left = (
                "" if kind.promised == ALL_PROMISES else f" What stays promised: {kind.promised}."
            )
            yield f"{drawn} {kind.room:9} {kind.name:19} {kind.sentence}{left}"

    def _kinds_chosen(self, text: str | None) -> tuple[str, ...]:
        """Return the kinds of faults that ``--faults`` names; ``KraflaError`` for a wrong word."""
        if text is None:
            return self.kinds
        if text == "none":
            return ()
        for word in text.split(","):
            try:
                kinds_of(word)
            except ValueError:
                words = named(word, (*KINDS, "network", "process", "disk", "broker", "all", "none"))
                hint = f"(`krafla fuzz {self.name} --faults list` shows them)"
                raise KraflaError(
                    f"no fault is called {word!r}; {words} {hint}", "--faults"
                ) from None
        return kinds_of(text)
