"""Systems that are driven by choices: lease, metadata, reassignment, registration and cluster.

A run is a configuration and a list of choices. One spec judges every step from the state before it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from krafla.collector import gc_paused
from krafla.fuzz.engine.choice_failure import ChoiceFailure, step_lines
from krafla.fuzz.engine.choice_run import Profile, Run, play, play_seed
from krafla.fuzz.engine.choice_shrink import Shrinker
from krafla.fuzz.engine.coverage import Coverage
from krafla.fuzz.engine.run_file import Replay, read_bytes, system_of
from krafla.fuzz.engine.run_source import RunResult, RunSource, missed, missed_doubts
from krafla.fuzz.engine.system import NAMES, System, find_system, named
from krafla.oracle.jvm import settle, start
from krafla.verdict import KraflaError, Verdict
from kraft.sim.common.recording import Recording, RecordingError, from_json, to_json
from kraft.sim.lease.configuration import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.run_source import Failure, Seen
    from krafla.fuzz.engine.system import RunOptions
    from krafla.refinement.common.lockstep import Judge
    from krafla.traces import Trace

__all__ = ["DEFAULT_STEPS", "ChoiceSystem", "play_file", "system_of_trace"]

DEFAULT_STEPS: Final = 600
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
    recorder: Callable[[Any, Any], Any]
    configuration: type[Any]
    choice: Any
    of_message: tuple[type[Any], ...]
    modules: tuple[str, ...]
    profiles: tuple[Profile, ...]
    default_profiles: tuple[str, ...]
    faults: Mapping[str, str] = field(default_factory=dict)
    conditions: Callable[[Any, Sequence[Any]], tuple[str, ...]] = _no_conditions
    shrinker: type[Shrinker] = Shrinker
    takes: ClassVar[tuple[str, ...]] = ("--steps", "--profile")

    @cached_property
    def _by_name(self) -> dict[str, Profile]:
        return {profile.name: profile for profile in self.profiles}

    def profile(self, name: str) -> Profile:
        """Return the profile of this name; ``KraflaError`` says what may be meant."""
        if name in self._by_name:
            return self._by_name[name]
        others = [other for other in NAMES if name in _profile_names(other)]
        hint = f"it is one of {others[0]}" if others else named(name, tuple(self._by_name))
        raise KraflaError(f"{name!r} is no profile of {self.name}; {hint}")

    def runs(self, seed: int, options: RunOptions) -> RunSource:
        """Return the runs of a seed; they take the profiles in turn."""
        names = tuple(options.profiles or self.default_profiles)
        for name in names:
            self.profile(name)
        return ChoiceRuns(self.name, seed, options.steps or DEFAULT_STEPS, names)

    def recording(self, configuration: Any, choices: Sequence[Any]) -> Recording[Any, Any]:
        """Return a run as data that can be kept in a file."""
        return Recording(configuration, tuple(choices))

    def play_recording(self, data: bytes | str, place: str) -> Run:
        """Return the judged run of a recording as JSON text; ``KraflaError`` if it is none."""
        encoded = data.encode() if isinstance(data, str) else data
        system_of(encoded, place, self.name)
        try:
            recording = from_json(
                _without_header(encoded), self.configuration, self.choice, self.name
            )
        except (RecordingError, ConfigurationError) as error:
            raise KraflaError(str(error), place) from error
        also = self.conditions(recording.configuration, recording.choices)
        return play(self, recording.configuration, recording.choices, also)

    def replay(self, data: bytes, place: str) -> Replay:
        """Play a recording on the implementation, each step judged by the spec."""
        run = self.play_recording(data, place)
        finding = None if run.finding is None else str(run.finding)
        verdict = Verdict.HELD if finding is None else Verdict.VIOLATED
        if not run.steps:
            verdict = Verdict.INCONCLUSIVE
        told = (f"  {line}" for line in (finding or "").splitlines())
        agreed = "each agreed to by the spec" if finding is None else "the last one is a finding"
        return Replay(
            verdict,
            run.steps,
            finding,
            _digest(run),
            None,
            (*step_lines(run), *told),
            f"{run.steps:,} steps of the implementation, {agreed}",
        )

    def search_run(self, mutant: Mutant, seed: int, number: int) -> Failure | None:
        """Play run ``number`` of the search for a seeded bug, in the profile the bug asks for."""
        profile = self.profile(mutant.profile or self.default_profiles[0])
        own = str(number) if seed == 0 else f"{seed} {number}"
        run = play_seed(profile, own, _SEARCH_STEPS)
        if run.finding is None:
            return None
        return ChoiceFailure(number, profile.name, run, run, own)


def play_file(path: Path) -> Run:
    """Return the judged run of a recording in a file; ``KraflaError`` if it holds none."""
    data = read_bytes(path)
    name = system_of(data, str(path))
    system = find_system(name)
    if not isinstance(system, ChoiceSystem):
        raise KraflaError(
            f"is a run of `krafla fuzz {name}`, which shrinks a run when it finds it; "
            f"`krafla fuzz {name} --replay` plays it",
            str(path),
        )
    return system.play_recording(data, str(path))


def system_of_trace(trace: Trace) -> ChoiceSystem:
    """Return the system whose spec a trace is of; ``KraflaError`` if none is judged by it."""
    for system in map(find_system, NAMES):
        if isinstance(system, ChoiceSystem) and trace.spec in system.modules:
            return system
    raise KraflaError(f"no system of `krafla fuzz` is judged by {trace.spec}")


def _profile_names(system: str) -> tuple[str, ...]:
    found = find_system(system)
    if not isinstance(found, ChoiceSystem):
        return ()
    return tuple(profile.name for profile in found.profiles)


def _without_header(data: bytes) -> bytes:
    """Return a recording without what a file says of its format."""
    fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    kept = {key: value for key, value in fields.items() if key not in {"format", "version"}}
    return msgspec.json.encode(kept)


def _digest(run: Run) -> str:
    return hashlib.sha256(to_json(run.recording)).hexdigest()


@dataclass(frozen=True, slots=True)
class ChoiceRuns(RunSource):
    """The runs of a system that is driven by choices; run ``n`` takes the ``n``-th profile in turn.

    It names its system, so that it can be sent to other processes.
    """

    name: str
    seed: int
    steps: int
    profiles: tuple[str, ...]
    chunk: ClassVar[int] = 25

    @property
    def _system(self) -> ChoiceSystem:
        found = find_system(self.name)
        assert isinstance(found, ChoiceSystem), "its runs are lists of choices"
        return found

    @property
    def system(self) -> str:
        """Return the name of the system."""
        return self.name

    @property
    def steps_of_a_run(self) -> int:  # type: ignore[override]  # an option, not a constant
        """Return how many steps of a run are judged."""
        return self.steps

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the specs that judge the runs."""
        return self._system.modules

    @property
    def plan(self) -> dict[str, Any]:
        """Return steps and profiles."""
        return {"steps": self.steps, "profiles": list(self.profiles)}

    @property
    def options(self) -> str:
        """Return the options of the command that differ from the defaults."""
        options = "" if self.steps == DEFAULT_STEPS else f" --steps {self.steps}"
        if self.profiles != self._system.default_profiles:
            options += "".join(f" --profile {name}" for name in self.profiles)
        return options

    def profile_of(self, number: int) -> str:
        """Return the name of the profile of run ``number``."""
        return self.profiles[number % len(self.profiles)]

    def load(self, *, brief: bool) -> None:
        """Start a JVM in this process, unless one runs."""
        start(brief=brief)
        settle()

    def play(self, number: int, reached: Collection[str] = ()) -> RunResult:
        """Return the result of run ``number``."""
        coverage = Coverage(reached)
        run = self._run(number, coverage)
        faults = self._system.faults
        counts = {
            fault: coverage.actions[name]
            for name, fault in faults.items()
            if coverage.actions[name]
        }
        return RunResult(
            number=number,
            profile=self.profile_of(number),
            steps=run.steps,
            finding=() if run.finding is None else tuple(run.finding.kind),
            detail="" if run.finding is None else str(run.finding),
            run=_digest(run),
            tallies={
                "actions": {**dict.fromkeys(coverage.all_actions, 0), **coverage.actions},
                "witnesses": {name: int(name in coverage.first_reached)
                              for name in coverage.all_witnesses},
                "faults": counts,
                "totals": {
                    "judged": coverage.steps,
                    "refused": coverage.steps - coverage.actions.total(),
                },
            },
            states=frozenset(coverage.states),
            first_reached=coverage.first_reached,
        )  # fmt: skip

    def failure(self, number: int) -> Failure:
        """Return the failure of run ``number``."""
        run = self._run(number)
        assert run.finding is not None, f"run {number} has no finding"
        return ChoiceFailure(number, self.profile_of(number), run, run, self._seed_of(number))

    def _run(self, number: int, coverage: Coverage | None = None) -> Run:
        profile = self._system.profile(self.profile_of(number))
        observe = None if coverage is None else coverage.observe
        with gc_paused():
            return play_seed(profile, self._seed_of(number), self.steps, observe)

    def _seed_of(self, number: int) -> str:
        return f"{self.seed} {number}"

    def doubts(self, seen: Seen) -> tuple[str, ...]:
        """Return which actions were never taken, and which witnesses never reached."""
        nothing = () if seen.counts("totals").get("judged") else ("no step was taken",)
        actions = missed(seen.counts("actions"))
        return nothing + missed_doubts(actions, missed(self._witnesses(seen)))

    def coverage_lines(self, seen: Seen) -> Iterator[str]:
        """Yield how often each action was taken, and where each witness was reached."""
        for name, count in sorted(seen.counts("actions").items(), key=_most_first):
            yield f"  {count:>11,}  {name}"
        for name, count in seen.counts("witnesses").items():
            first = (seen.first_reached or {}).get(name)
            where = f"{count:,} seeds" if seen.first_reached is None else f"step {first or 0:,}"
            yield f"  {where if count or first else 'never':>11}  {name}"

    def counts(self, seen: Seen) -> dict[str, int]:
        """Return how many choices were made, judged and refused, and how many states visited."""
        totals = seen.counts("totals")
        return {
            "steps": seen.steps,
            "judged": totals.get("judged", 0),
            "refused": totals.get("refused", 0),
            "states": seen.states,
        }

    def summary(self, seen: Seen, seconds: float | None = None) -> str:
        """Return in a line how much was judged and covered."""
        judged = seen.counts("totals").get("judged", 0)
        rate = "" if seconds is None else f", {judged / seconds:,.0f} steps/s"
        about = "about " if seen.is_estimate else ""
        return (
            f"{judged:,} judged steps{rate}, {about}{seen.states:,} distinct states, actions "
            f"{_share(seen.counts('actions'))}, witnesses {_share(self._witnesses(seen))}"
        )

    @property
    def bounds(self) -> str:
        """Return how many choices a run has at most."""
        return f"at most {self.steps} steps"

    def evidence(self, seen: Seen) -> tuple[str, ...]:
        """Return what a verdict on these runs rests on."""
        actions, witnesses = seen.counts("actions"), self._witnesses(seen)
        return (
            f"{seen.counts('totals').get('judged', 0):,} steps judged",
            f"{len(actions) - len(missed(actions))} of {len(actions)} actions taken",
            f"{len(witnesses) - len(missed(witnesses))} of {len(witnesses)} witnesses reached",
            f"{seen.states:,} distinct states of the spec",
        )

    @staticmethod
    def _witnesses(seen: Seen) -> Mapping[str, int]:
        """Return how often each witness was reached, or that it was reached at all."""
        first = seen.first_reached or {}
        return {
            name: count or int(name in first) for name, count in seen.counts("witnesses").items()
        }


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _share(counts: Mapping[str, int]) -> str:
    return f"{len(counts) - len(missed(counts))}/{len(counts)}"
