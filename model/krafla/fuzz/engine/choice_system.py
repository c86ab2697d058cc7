"""Systems that are driven by choices: lease, metadata, reassignment, registration and cluster.

A run is a configuration and a list of choices. One spec judges every step from the state before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from krafla.fuzz.engine.choice_run import Profile, Run, play, play_seed
from krafla.fuzz.engine.choice_runs import (
    DEFAULT_STEPS,
    ChoiceFailure,
    ChoiceRuns,
    digest_of,
    step_lines,
)
from krafla.fuzz.engine.choice_shrink import Shrinker
from krafla.fuzz.engine.run_file import Replay, read_bytes, system_of
from krafla.fuzz.engine.system import NAMES, System, find_system, named
from krafla.verdict import KraflaError, Verdict
from kraft.sim.common.recording import Recording, RecordingError, from_json
from kraft.sim.lease.configuration import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.run_source import Failure, RunSource
    from krafla.fuzz.engine.system import RunOptions
    from krafla.refinement.common.lockstep import Judge
    from krafla.traces import Trace

__all__ = [
    "ChoiceSystem", "play_file", "system_of_trace",
]  # fmt: skip

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
            digest_of(run),
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
    """Return the choice-driven system of the spec of a trace; ``KraflaError`` if there is none."""
    for system in map(find_system, NAMES):
        if isinstance(system, ChoiceSystem) and trace.spec in system.modules:
            return system
    raise KraflaError(f"no system that is driven by choices is judged by {trace.spec}")


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
