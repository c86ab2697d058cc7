"""One run that is driven by choices: a scheduler or a list makes them, and each step is judged."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Protocol, cast

from krafla.fuzz.engine.system import find_system
from krafla.refinement.common.judgement import Agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.fuzz.engine.choice_system import ChoiceSystem
    from krafla.refinement.common.judgement import Finding, Judgement
    from krafla.refinement.common.lockstep import Judge
    from krafla.traces import Trace
    from kraft.sim.common.recording import Recording

__all__ = ["Driver", "Player", "Profile", "Run", "play", "play_seed", "trace_of"]


class Driver(Protocol):
    """Makes the choices of a run."""

    def next_choice(self, cluster: Any) -> Any:
        """Return what happens next."""

    def observe(self, result: Any) -> None:
        """Take note of the step that the choice led to."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of run: a configuration, and the driver of its choices.

    The name seeds the random numbers of its runs, so it never changes. ``also`` names the
    conditional properties whose condition the configuration and the driver meet.
    """

    name: str
    configuration: Any
    driver: Callable[[Any, Random], Driver]
    also: tuple[str, ...] = ()
    system: str = "lease"


@dataclass(frozen=True, slots=True)
class Run:
    """The choices that reproduce a run, and the finding that ended it, if any."""

    system: ChoiceSystem
    recording: Recording[Any, Any]
    finding: Finding | None
    also: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """Return how many choices were made."""
        return len(self.recording.choices)


class Player:
    """Plays a run step by step until its first finding."""

    def __init__(
        self, system: ChoiceSystem, configuration: Any, also: tuple[str, ...] = ()
    ) -> None:
        self.system = system
        self.configuration = configuration
        self.also = also
        self.judge = system.judge(configuration, also)
        self.cluster: Any = system.first_cluster(configuration)
        self.choices: list[Any] = []

    @property
    def finding(self) -> Finding | None:
        """Return what ended the run."""
        return self.judge.finding

    @property
    def run(self) -> Run:
        """Return the run up to now."""
        recording = self.system.recording(self.configuration, self.choices)
        return Run(self.system, recording, self.finding, self.also)

    def step(self, choice: Any) -> tuple[Any, Judgement]:
        """Take a choice; return the implementation's step, None if it raised, and the judgement.

        A choice that is rightly refused is left out of the run.
        """
        try:
            result = self.system.step(self.cluster, choice)
        except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a finding
            self.choices.append(choice)
            return None, self.judge.fail(choice, error)
        judgement = self.judge.judge(result)
        if not isinstance(judgement, Agreed) or judgement.action is not None:
            self.choices.append(choice)
        self.cluster = result.after
        return result, judgement


def play_seed(
    profile: Profile,
    seed: int | str,
    steps: int,
    observe: Callable[[Judge, Agreed], None] | None = None,
) -> Run:
    """Return the run that a seed gives in a profile, at most ``steps`` choices long.

    ``observe`` is called after every step that the spec agrees to.
    """
    random = Random(f"{profile.name} {seed}")  # noqa: S311 - to be reproducible, not secret
    configuration = profile.configuration
    driver = profile.driver(configuration, random)
    player = Player(_system_of(profile), configuration, profile.also)
    for _ in range(steps):
        result, judgement = player.step(driver.next_choice(player.cluster))
        if result is None or not isinstance(judgement, Agreed):
            break
        if observe is not None:
            observe(player.judge, judgement)
        driver.observe(result)
    return player.run


def _system_of(profile: Profile) -> ChoiceSystem:
    return cast("ChoiceSystem", find_system(profile.system))


def play(
    system: ChoiceSystem, configuration: Any, choices: Iterable[Any], also: tuple[str, ...] = ()
) -> Run:
    """Return the run of a list of choices, cut after its first finding."""
    player = Player(system, configuration, also)
    for choice in choices:
        player.step(choice)
        if player.finding is not None:
            break
    return player.run


def trace_of(run: Run, *, profile: str | None = None, seed: str | None = None) -> Trace:
    """Return the trace of a run, up to its finding, with the choices that make it again."""
    player = Player(run.system, run.recording.configuration, run.also)
    recorder = run.system.recorder(player.judge.judged, player.cluster)
    for choice in run.recording.choices:
        result, judgement = player.step(choice)
        recorder.record(choice, result, judgement)
    trace: Trace = recorder.trace(profile=profile, seed=seed)
    return trace
