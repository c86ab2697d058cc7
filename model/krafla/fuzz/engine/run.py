"""One run: choices made by a scheduler or read from a list, each step judged."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from krafla.fuzz.engine.systems import LEASE, Game
from krafla.refinement.common.judgement import Agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.fuzz.engine.profiles import Profile
    from krafla.refinement.common.judgement import Finding, Judgement
    from krafla.refinement.common.lockstep import Judge
    from krafla.traces import Trace

__all__ = ["Player", "Run", "play", "play_seed", "trace_of"]


@dataclass(frozen=True, slots=True)
class Run:
    """What a run came to: the choices that reproduce it, and the finding that ended it, if any."""

    recording: Any
    finding: Finding | None
    also: tuple[str, ...] = ()
    game: Game = LEASE

    @property
    def steps(self) -> int:
        """Return how many choices were made."""
        return len(self.recording.choices)


class Player:
    """A cluster in the making, each step of it judged, until the first finding."""

    def __init__(self, configuration: Any, also: tuple[str, ...] = (), game: Game = LEASE) -> None:
        self.configuration = configuration
        self.also = also
        self.game = game
        self.judge = game.judge(configuration, also)
        self.cluster: Any = game.first_cluster(configuration)
        self.choices: list[Any] = []

    @property
    def finding(self) -> Finding | None:
        """Return what ended the run."""
        return self.judge.finding

    @property
    def run(self) -> Run:
        """Return the run up to now."""
        recording = self.game.recording(self.configuration, tuple(self.choices))
        return Run(recording, self.finding, self.also, self.game)

    def take(self, choice: Any) -> tuple[Any, Judgement]:
        """Return the step of a choice, if the implementation takes one, and what is said of it.

        A choice that is not possible, and rightly so, is left out of the run.
        """
        try:
            result = self.game.step(self.cluster, choice)
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
    player = Player(configuration, profile.also, profile.game)
    for _ in range(steps):
        result, judgement = player.take(driver.next_choice(player.cluster))
        if result is None or not isinstance(judgement, Agreed):
            break
        if observe is not None:
            observe(player.judge, judgement)
        driver.observe(result)
    return player.run


def play(
    configuration: Any,
    choices: Iterable[Any],
    also: tuple[str, ...] = (),
    game: Game = LEASE,
) -> Run:
    """Return the run of a list of choices, cut after its first finding."""
    player = Player(configuration, also, game)
    for choice in choices:
        player.take(choice)
        if player.finding is not None:
            break
    return player.run


def trace_of(run: Run, *, profile: str | None = None, seed: str | None = None) -> Trace:
    """Return the trace of a run, up to its finding, with the choices that make it again."""
    player = Player(run.recording.configuration, run.also, run.game)
    recorder = run.game.recorder(player.judge.judged, player.cluster)
    for choice in run.recording.choices:
        result, judgement = player.take(choice)
        recorder.record(choice, result, judgement)
    trace: Trace = recorder.trace(profile=profile, seed=seed)
    return trace
