"""One run: choices made by a scheduler or read from a list, each step judged."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from krafla.refinement.judgement import Agreed
from krafla.refinement.lease_spec import lease_judge
from krafla.refinement.tracing import TraceRecorder
from kraft.sim.cluster import first_cluster
from kraft.sim.recording import Recording
from kraft.sim.step import step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.fuzz.profiles import Profile
    from krafla.refinement.judgement import Finding, Judgement
    from krafla.refinement.lockstep import Judge
    from krafla.traces import Trace
    from kraft.sim.choices import Choice
    from kraft.sim.cluster import Cluster
    from kraft.sim.configuration import Configuration
    from kraft.sim.step import StepResult

__all__ = ["Player", "Run", "play", "play_seed", "trace_of"]


@dataclass(frozen=True, slots=True)
class Run:
    """What a run came to: the choices that reproduce it, and the finding that ended it, if any."""

    recording: Recording
    finding: Finding | None
    also: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """Return how many choices were made."""
        return len(self.recording.choices)


class Player:
    """A cluster in the making, each step of it judged, until the first finding."""

    def __init__(self, configuration: Configuration, also: tuple[str, ...] = ()) -> None:
        self.configuration = configuration
        self.also = also
        self.judge = lease_judge(configuration, also)
        self.cluster: Cluster = first_cluster(configuration)
        self.choices: list[Choice] = []

    @property
    def finding(self) -> Finding | None:
        """Return what ended the run."""
        return self.judge.finding

    @property
    def run(self) -> Run:
        """Return the run up to now."""
        return Run(Recording(self.configuration, tuple(self.choices)), self.finding, self.also)

    def take(self, choice: Choice) -> tuple[StepResult | None, Judgement]:
        """Return the step of a choice, if the implementation takes one, and what is said of it.

        A choice that is not possible, and rightly so, is left out of the run.
        """
        try:
            result = step(self.cluster, choice)
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

    ``observe`` hears of every step that was agreed on.
    """
    random = Random(f"{profile.name} {seed}")  # noqa: S311 - to be reproducible, not secret
    configuration = profile.configuration
    driver = profile.driver(configuration, random)
    player = Player(configuration, profile.also)
    for _ in range(steps):
        result, judgement = player.take(driver.next_choice(player.cluster))
        if result is None or not isinstance(judgement, Agreed):
            break
        if observe is not None:
            observe(player.judge, judgement)
        driver.observe(result)
    return player.run


def play(
    configuration: Configuration, choices: Iterable[Choice], also: tuple[str, ...] = ()
) -> Run:
    """Return the run of a list of choices, cut after its first finding."""
    player = Player(configuration, also)
    for choice in choices:
        player.take(choice)
        if player.finding is not None:
            break
    return player.run


def trace_of(run: Run, *, profile: str | None = None, seed: str | None = None) -> Trace:
    """Return the trace of a run, up to its finding, with the choices that make it again."""
    player = Player(run.recording.configuration, run.also)
    recorder = TraceRecorder(player.judge.judged, player.cluster)
    for choice in run.recording.choices:
        result, judgement = player.take(choice)
        recorder.record(choice, result, judgement)
    return recorder.trace(profile=profile, seed=seed)
