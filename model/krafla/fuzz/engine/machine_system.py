"""Systems on simulated machines: raft and stack.

A run is a configuration, a seed and a plan of faults. Properties are checked after every event;
with ``--lockstep`` specs judge the events, too, by the actions that each event is read as.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec

from krafla.fuzz.engine import machine_steps
from krafla.fuzz.engine.machine_run import Case, play
from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.system import RunOptions, System, named
from krafla.fuzz.engine.violation import Violation
from krafla.report.explain.account import Account, Section
from krafla.report.explain.meaning import Meanings
from krafla.report.explain.outcome import Falsehood, Outcome, detailed
from krafla.report.explain.words import Words
from krafla.shrink.reduce import Budget, minimise
from krafla.shrink.result import Shrunk
from krafla.verdict import KraflaError
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.configuration import draw_knobs
from kraft.sim.raft.kinds import ALL_PROMISES, KINDS, kinds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from krafla.fuzz.engine.machine_run import MachineJudge, Observer
    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.runs import Run
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.kinds import FaultKind
    from kraft.sim.raft.workload import Workload

__all__ = ["SEED_BITS", "MachineSystem"]

SEED_BITS: Final = 63
"""How many bits the seed of a run has."""
_SECOND: Final = 1_000_000_000
_REPLAYS: Final = 400
_RAFT: Final = "KRaftVotersProperties"
"""The module whose room states the properties of Raft."""
# About so many events of a run are judged.
_JUDGED_STEPS: Final = 4_000


@dataclass(frozen=True, slots=True)
class MachineSystem(System):
    """A simulation of machines, disks, clocks and networks, and what its runs are held to.

    ``case_of`` returns a run by the seed of the campaign, its number and the kinds of faults.
    ``checks`` is told whether the run has no faults; ``checks_modules`` are the specs that the
    checks ask. With ``--lockstep`` a ``judge`` asks ``judge_modules``, and ``actions`` returns the
    names of the actions that runs can take. The simulation can perform ``possible_kinds`` of
    faults, of which runs draw ``kinds`` by default. ``nodes`` says how large a run is at most.
    ``sentences`` has those of the properties that the specs of Raft do not state. A plan may name
    ``request_kinds`` besides faults: an operator sends such a request.
    """

    name: str
    properties: tuple[str, ...]
    kinds: tuple[str, ...]
    possible_kinds: tuple[str, ...]
    case_of: Callable[[int, int, tuple[str, ...]], Case]
    workload: Callable[[Case], Callable[[Simulation], Workload]]
    checks: Callable[[bool], Observer]
    judge: Callable[[Simulation], MachineJudge]
    judge_modules: tuple[str, ...]
    actions: Callable[[], tuple[str, ...]]
    nodes: str
    sentences: Mapping[str, str]
    checks_modules: tuple[str, ...] = ()
    request_kinds: Mapping[str, FaultKind] = field(default_factory=dict)
    takes: ClassVar[tuple[str, ...]] = ("--faults", "--chaos", "--lockstep")
    unit: ClassVar[str] = "faults"
    chunk: ClassVar[int] = 5

    def runs(self, seed: int, options: RunOptions) -> Runs:
        """Return the runs of a seed; rooms of faults become their kinds."""
        kinds = self.kinds
        if options.faults is not None:
            kinds = () if options.faults in {(), ("none",)} else self._kinds(options.faults)
        chaos, lockstep = options.chaos, bool(options.lockstep)
        return Runs(
            self.name,
            seed,
            RunOptions(faults=kinds, chaos=chaos, lockstep=lockstep),
            self.checks_modules + (self.judge_modules if lockstep else ()),
            _JUDGED_STEPS,
            self.nodes + ("" if chaos is None else f", {chaos:g} seconds of faults in each"),
        )

    def profile_of(self, seed: int, number: int, options: RunOptions) -> str:
        """Return the sizes that run ``number`` draws."""
        return self.case(seed, number, options).profile

    def play_number(
        self,
        seed: int,
        number: int,
        options: RunOptions,
        reached: Collection[str] | None = None,  # noqa: ARG002 - machines have no witnesses
    ) -> Run:
        """Return run ``number`` of a seed."""
        return self.play(self.case(seed, number, options))

    def play(self, case: Case) -> Run:
        """Return the run of a case."""
        return play(case, self)

    def search_run(self, mutant: Mutant, seed: int, number: int) -> Run:
        """Return run ``number`` of the search for a seeded bug.

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
        return self.play(case)

    def shrink(
        self, run: Run, progress: Callable[[int], object], tries: int | None = None
    ) -> Shrunk[Run]:
        """Return the run with the fewest faults that was found to break the same property.

        Each fault of a plan brings its own chance, so the other faults do what they did before.
        """
        assert run.finding is not None, "nothing was found"
        best, budget = run, Budget(tries or _REPLAYS)

        def fails(plan: Sequence[Fault]) -> bool:
            nonlocal best
            other = self.play(replace(run.case, plan=tuple(plan)))
            if other.kind != run.kind:
                return False
            best = other
            progress(len(plan))
            return True

        minimise(run.case.plan, fails, budget, pairs=False)
        return Shrunk(best, not budget.is_spent, budget.tries - budget.left)

    def account(self, run: Run) -> Account:
        """Return the broken property, the last steps of its node, and the faults before it."""
        case: Case = run.case
        sections = [Section("the machines", tuple(machine_steps.size_lines(case)))]
        violation = run.finding
        if not isinstance(violation, Violation):
            return Account(None, sections=tuple(sections))
        faults = tuple(machine_steps.fault_lines(case, violation.time))
        title = f"the last steps of {violation.node}"
        steps = Section(title, machine_steps.last_steps(self, case, violation))
        if faults:
            sections.append(Section("the faults that had begun", faults))
        name = violation.property
        outcome = Outcome(
            violation.step, f"{name} is false at {violation.place}", name=name,
            meaning=self.meaning(name), is_property=True,
        )  # fmt: skip
        if violation.explanation is not None:
            outcome = detailed(outcome, violation.explanation, Words())
        else:
            outcome = replace(outcome, falsehoods=(Falsehood("", "", violation.text),))
        return Account(outcome, sections=(steps, *sections))

    def meaning(self, name: str) -> str:
        """Return the sentence of a property that a violation names."""
        module, _, rule = name.rpartition("!")
        return self.sentences.get(name) or Meanings(module or _RAFT).of(rule)

    def decoded(self, data: bytes, place: str) -> Case:
        """Return the case in JSON text; values that no run can have are refused, too."""
        try:
            case = msgspec.json.decode(data, type=Case)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise KraflaError(f"no run of `krafla fuzz`: {error}", place) from error
        if case.plan is None or case.knobs is None:
            raise KraflaError("no run of `krafla fuzz`: a plan or knobs are missing", place)
        known = {*self.possible_kinds, *self.request_kinds}
        for fault in case.plan:
            if fault.kind not in known or fault.time < 0 or fault.duration < 0:
                raise KraflaError(f"has a fault that does not exist: {fault}", place)
        return case

    def fault_lines(self) -> Iterator[str]:
        """Yield the possible kinds of faults by room; ``*`` marks those drawn by default."""
        for kind in (KINDS[name] for name in self.possible_kinds):
            drawn = "*" if kind.name in self.kinds else " "
            left = (
                "" if kind.promised == ALL_PROMISES else f" What stays promised: {kind.promised}."
            )
            yield f"{drawn} {kind.room:9} {kind.name:19} {kind.sentence}{left}"
        yield "Runs draw those with * by default."

    def case(self, seed: int, number: int, options: RunOptions) -> Case:
        """Return a run; it depends on the seed, its number and the options only."""
        kinds = self.kinds if options.faults is None else options.faults
        case = replace(self.case_of(seed, number, kinds), lockstep=bool(options.lockstep))
        if options.chaos is None:
            return case
        chaos = round(options.chaos * _SECOND)
        return replace(case, configuration=replace(case.configuration, chaos=chaos))

    def _kinds(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the kinds that ``--faults`` names; ``KraflaError`` for a wrong word."""
        for word in words:
            try:
                kinds_of(word, self.possible_kinds)
            except ValueError:
                rooms = dict.fromkeys(KINDS[name].room for name in self.possible_kinds)
                known = (*self.possible_kinds, *rooms, "all")
                hint = f"(`krafla fuzz {self.name} --faults list` shows them)"
                raise KraflaError(
                    f"no fault is called {word!r}; {named(word, known)} {hint}", "--faults"
                ) from None
        return kinds_of(",".join(words), self.possible_kinds)
