"""Systems on simulated machines: raft and stack.

A run is a configuration, a seed and a plan of faults. Properties are checked after every event;
with ``--lockstep`` specs judge the events, too, by the actions that each event is read as.
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from krafla.fuzz.engine import machine_file
from krafla.fuzz.engine.machine_failure import MachineFailure, case_lines, sizes
from krafla.fuzz.engine.machine_run import Case, Played, play
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.run_file import Replay
from krafla.fuzz.engine.run_source import RunResult, RunSource, missed, missed_doubts
from krafla.fuzz.engine.system import System, find_system, named
from krafla.verdict import KraflaError, Verdict
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.configuration import draw_knobs
from kraft.sim.raft.kinds import ALL_PROMISES, KINDS, kinds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from krafla.fuzz.engine.machine_run import MachineJudge, Observer
    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.run_source import Failure, Seen
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
        return MachineFailure(self.name, seed, number, played, played)

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
        found = find_system(self.name)
        assert isinstance(found, MachineSystem), "its runs are simulated on machines"
        return found

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

    def play(
        self,
        number: int,
        reached: Collection[str] = (),  # noqa: ARG002 - no witnesses are looked for
    ) -> RunResult:
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
        return MachineFailure(self.name, self.seed, number, played, played, lockstep=self.lockstep)

    def _played(self, number: int) -> Played:
        return self._system.play(self._case_of(number), lockstep=self.lockstep)

    def _case_of(self, number: int) -> Case:
        """Return a run; it depends on the seed, its number, the kinds and the chaos only."""
        case = self._system.case_of(self.seed, number, self.kinds)
        if self.chaos is None:
            return case
        chaos = round(self.chaos * _SECOND)
        return replace(case, configuration=replace(case.configuration, chaos=chaos))

    def doubts(self, seen: Seen) -> tuple[str, ...]:
        """Return whether nothing was acknowledged, no run made progress, or actions are missing."""
        doubts: tuple[str, ...] = ()
        if not seen.counts("totals").get("acknowledged"):
            doubts = ("no value was ever acknowledged",)
        elif not seen.counts("liveness").get("progress"):
            doubts = ("no run came to its end and made progress there",)
        return doubts + missed_doubts(missed(seen.counts("actions")))

    def coverage_lines(self, seen: Seen) -> Iterator[str]:
        """Yield how often each action was taken, and how often faults had effects."""
        actions, faults = seen.counts("actions"), seen.counts("faults")
        if actions:
            yield "steps by the action of the spec that each of them is:"
        for name, count in sorted(actions.items(), key=_most_first):
            yield f"  {count:>11,}  {name}"
        if faults:
            yield "effects of faults, by kind:"
        for name, count in sorted(faults.items(), key=_most_first):
            yield f"  {count:>11,}  {name}{'' if name in KINDS else ' (an effect of faults)'}"
        unpromised = seen.counts("totals").get("unpromised")
        if unpromised:
            yield f"  {unpromised:>11,}  steps that promise less: a disk was damaged, or a"
            yield f"  {'':>11}  sole voter lost what only it had"
        for name, count in sorted(seen.counts("hazards").items()):
            yield f"  {count:>11,}  times {name} broke where it was promised no more"

    def counts(self, seen: Seen) -> dict[str, int]:
        """Return events, simulated seconds, acknowledged values, and how many properties hold."""
        totals = Counter(seen.counts("totals"))
        return {
            "events": seen.steps,
            "judged": totals["judged"],
            "unpromised": totals["unpromised"],
            "simulated_seconds": totals["simulated_ns"] // _SECOND,
            "acknowledged": totals["acknowledged"],
            "properties": len(self._system.properties),
        }

    @property
    def bounds(self) -> str:
        """Return how many nodes a run has at most, and how long things go wrong."""
        chaos = "" if self.chaos is None else f", {self.chaos:g} seconds of faults in each"
        return f"{self._system.nodes}{chaos}"

    def evidence(self, seen: Seen) -> tuple[str, ...]:
        """Return what a verdict on these runs rests on."""
        counts, faults = self.counts(seen), seen.counts("faults")
        return (
            f"{counts['events']:,} events, the properties asked after each",
            f"{sum(faults.values()):,} effects of {len(faults)} kinds of faults",
            f"{counts['acknowledged']:,} values acknowledged",
            f"{counts['simulated_seconds']:,} simulated seconds",
        )

    def summary(self, seen: Seen, seconds: float | None = None) -> str:
        """Return in a line how much was played, and how the runs ended."""
        counts = self.counts(seen)
        rate = "" if seconds is None else f" ({seen.steps / seconds:,.0f}/s)"
        pace = (
            "" if seconds is None else f" ({counts['simulated_seconds'] / seconds:,.0f} a second)"
        )
        judged = f", {counts['judged']:,} judged by the spec" if self.lockstep else ""
        if self.lockstep and seconds is not None:
            actions = seen.counts("actions")
            judged += f", actions {len(actions) - len(missed(actions))}/{len(actions)}"
        ends = sorted(seen.counts("liveness").items())
        return (
            f"{seen.steps:,} events{rate}{judged}, "
            f"{counts['simulated_seconds']:,} simulated s{pace}, "
            f"{sum(seen.counts('faults').values()):,} effects of faults, "
            f"{counts['acknowledged']:,} values acknowledged, {counts['properties']} properties; "
            f"at the end {', '.join(f'{count:,} {name}' for name, count in ends) or 'nothing'}"
        )


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
