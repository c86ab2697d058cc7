"""Systems that are driven by choices: lease, metadata, reassignment, registration and cluster.

A run is a configuration and a list of choices. One spec judges every step from the state before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from krafla.fuzz.engine.choice_run import ChoiceCase, Player, Profile, play_seed
from krafla.fuzz.engine.choice_shrink import Shrinker, shrink
from krafla.fuzz.engine.run_file import Header
from krafla.fuzz.engine.runs import Runs
from krafla.fuzz.engine.system import CHOICE_NAMES, RunOptions, System, find_system, named
from krafla.refinement.common.trace_recorder import TraceRecorder
from krafla.report.explain.account import Account
from krafla.report.explain.outcome import outcome_by
from krafla.report.explain.view import view_of
from krafla.traces.spec_facts import facts_of
from krafla.verdict import KraflaError
from kraft.sim.common.recording import RecordingError, from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from random import Random

    from krafla.fuzz.engine.choice_run import Driver
    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.runs import Run
    from krafla.refinement.common.lockstep import Judge
    from krafla.shrink import Shrunk
    from krafla.testing import Trace

__all__ = ["DEFAULT_STEPS", "ChoiceSystem", "planned", "play_plan", "profiles_of"]

DEFAULT_STEPS: Final = 600
"""The most steps of a run."""
_SEARCH_STEPS: Final = 300


def _no_conditions(_configuration: Any, _choices: Sequence[Any]) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class ChoiceSystem(System):
    """A simulation that is driven by choices, its judge, and its files.

    ``judge`` takes a configuration and the conditional properties to judge as well.
    ``of_message`` are the choices that name a message by its id. ``default_profiles`` are taken in
    turn by the runs of a campaign. ``faults`` are the actions of the spec that are faults, with
    what a table calls them. ``conditions`` returns the conditional properties that a list of
    choices must keep.
    """

    name: str
    first_cluster: Callable[[Any], Any]
    step: Callable[[Any, Any], Any]
    judge: Callable[[Any, tuple[str, ...]], Judge]
    configuration: type[Any]
    choice: Any
    of_message: tuple[type[Any], ...]
    modules: tuple[str, ...]
    profiles: Mapping[str, Profile]
    default_profiles: tuple[str, ...]
    recorder: Callable[[Any, Any], Any] = TraceRecorder
    faults: Mapping[str, str] = field(default_factory=dict)
    conditions: Callable[[Any, Sequence[Any]], tuple[str, ...]] = _no_conditions
    shrinker: type[Shrinker] = Shrinker
    properties: tuple[str, ...] = ()
    takes: ClassVar[tuple[str, ...]] = ("--steps", "--profile")
    unit: ClassVar[str] = "steps"
    chunk: ClassVar[int] = 25

    def profile(self, name: str) -> Profile:
        """Return the profile of this name; ``KraflaError`` says what may be meant."""
        if name in self.profiles:
            return self.profiles[name]
        others = [one.name for one in _choice_systems() if name in one.profiles]
        hint = f"it is one of {others[0]}" if others else named(name, tuple(self.profiles))
        raise KraflaError(f"{name!r} is no profile of {self.name}; {hint}")

    def profile_lines(self) -> Iterator[str]:
        """Yield every profile with what is special in it; ``*`` marks those taken by default."""
        width = max(map(len, self.profiles))
        for name, profile in self.profiles.items():
            taken = "*" if name in self.default_profiles else " "
            yield f"{taken} {name:{width}}  {profile.sentence}"
        yield "Runs take those with * in turn by default."

    def runs(self, seed: int, options: RunOptions) -> Runs:
        """Return the runs of a seed; they take the profiles in turn."""
        names = options.profiles or self.default_profiles
        for name in names:
            self.profile(name)
        steps = options.steps or DEFAULT_STEPS
        bounds = f"at most {steps} steps"
        return Runs(self.name, seed, RunOptions(steps, names), self.modules, steps, bounds)

    def profile_of(self, _seed: int, number: int, options: RunOptions) -> str:
        """Return the profile of run ``number``; they are taken in turn."""
        names = options.profiles or self.default_profiles
        return names[number % len(names)]

    def play_number(
        self, seed: int, number: int, options: RunOptions, reached: Collection[str] | None = None
    ) -> Run:
        """Return run ``number`` of a seed."""
        profile, steps = self.profile_of(seed, number, options), options.steps or DEFAULT_STEPS
        return play_seed(self, self.profile(profile), f"{seed} {number}", steps, reached)

    def play(self, case: ChoiceCase) -> Run:
        """Return the run of a list of choices, cut after its first finding."""
        player = Player(self, case)
        for choice in case.choices:
            player.step(choice)
            if player.finding is not None:
                break
        return player.run

    def search_run(self, mutant: Mutant, seed: int, number: int) -> Run:
        """Return run ``number`` of the search for a seeded bug, in the profile it asks for."""
        profile = self.profile(mutant.profile or self.default_profiles[0])
        own = str(number) if seed == 0 else f"{seed} {number}"
        return play_seed(self, profile, own, _SEARCH_STEPS)

    def shrink(
        self, run: Run, progress: Callable[[int], object], tries: int | None = None
    ) -> Shrunk[Run]:
        """Return the shortest run found."""
        return shrink(self, run, progress, tries)

    def account(self, run: Run) -> Account:
        """Return what the spec denies, and each step of the run with what it changed."""
        trace, finding = self.trace(run), run.finding
        outcome = None
        if finding is not None:
            explanation = getattr(finding, "explanation", None)
            outcome = outcome_by(trace, explanation, getattr(finding, "breaks", ()))
        return Account(outcome, view_of(trace, outcome))

    def trace(self, run: Run) -> Trace:
        """Return the trace of a run, up to its finding, with the choices that make it again."""
        case: ChoiceCase = run.case
        player = Player(self, case)
        recorder = self.recorder(player.judge.judged, player.cluster)
        for choice in case.choices:
            result, judgement = player.step(choice)
            recorder.record(choice, result, judgement)
        trace: Trace = recorder.trace(case.profile, case.seed, case.recording.decode())
        return trace

    def decoded(self, data: bytes, place: str) -> ChoiceCase:
        """Return the case of a recording, with the conditional properties that it must keep."""
        try:
            fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
            also = msgspec.json.decode(fields.pop("also", b"null"), type=tuple[str, ...] | None)
            own = {key: fields[key] for key in fields if key not in Header.__struct_fields__}
            recording = from_json(
                msgspec.json.encode(own), self.configuration, self.choice, self.name
            )
        except (msgspec.DecodeError, RecursionError, RecordingError) as error:
            raise KraflaError(str(error), place) from error
        configuration, choices = recording.configuration, recording.choices
        # Older files and the plans of traces do not name the conditional properties.
        also = self.conditions(configuration, choices) if also is None else also
        unknown = sorted({*also} - {*facts_of(self.modules[0]).conditional})
        if unknown:
            raise KraflaError(f"{unknown[0]} is no conditional property of {self.name}", place)
        return ChoiceCase(configuration, choices, also)


def _choice_systems() -> Iterator[ChoiceSystem]:
    for name in CHOICE_NAMES:
        system = find_system(name)
        assert isinstance(system, ChoiceSystem), f"{name} is driven by choices"
        yield system


def profiles_of(
    configurations: Mapping[str, Any],
    driver: Callable[[Any, Random], Driver],
    sentences: Mapping[str, str],
) -> dict[str, Profile]:
    """Return a profile for each configuration, with one driver for all, by their names.

    ``sentences`` has what is special in each.
    """
    pairs = configurations.items()
    return {name: Profile(name, sentences[name], one, driver) for name, one in pairs}


def planned(trace: Trace, place: str) -> tuple[ChoiceSystem, bytes]:
    """Return the choices in a trace as a recording, and the system that plays them.

    ``KraflaError`` if no system that is driven by choices is judged by its spec.
    """
    assert trace.origin is not None
    assert trace.origin.plan is not None
    for system in _choice_systems():
        if trace.spec in system.modules:
            return system, trace.origin.plan.encode()
    raise KraflaError(f"no system that is driven by choices is judged by {trace.spec}", place)


def play_plan(trace: Trace, place: str) -> tuple[ChoiceSystem, Run]:
    """Return the run of the choices in a trace without any seeded bug, and its system."""
    system, plan = planned(trace, place)
    return system, system.play(system.decoded(plan, place))
