"""A campaign: runs from one seed until a finding or the end of the budget, and its verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.collector import uncollected
from krafla.fuzz.coverage import Coverage
from krafla.fuzz.play import Run, play_seed
from krafla.fuzz.profiles import DEFAULT_PROFILES, PROFILES_OF, find_profile
from krafla.fuzz.shrink import shrink
from krafla.manifest import on_these_specs
from krafla.oracle.jvm import start
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DEFAULT_SECONDS", "DEFAULT_STEPS", "Campaign", "Failure", "Report", "run_campaign"]

DEFAULT_SECONDS: Final = 20.0
DEFAULT_STEPS: Final = 600
# Measured: the optimising compiler of the JVM pays off from about here on.
_BRIEF_SECONDS: Final = 60.0
_BRIEF_STEPS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Campaign:
    """What to run. Without ``examples`` and ``seconds`` the budget is ``DEFAULT_SECONDS``.

    Run ``n`` depends on ``seed``, ``n``, ``steps`` and ``profiles`` only: the first runs of two
    campaigns are the same, whatever their budgets.
    """

    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    steps: int = DEFAULT_STEPS
    profiles: tuple[str, ...] = DEFAULT_PROFILES
    shrinks: bool = True

    @property
    def game(self) -> str:
        """Return the name of the simulation whose runs these are."""
        return find_profile(self.profiles[0]).game.name

    @property
    def seconds_max(self) -> float | None:
        """Return after how many seconds no further run starts."""
        unbounded = self.seconds is None and self.examples is None
        return DEFAULT_SECONDS if unbounded else self.seconds


@dataclass(frozen=True, slots=True)
class Failure:
    """The run that found something, and the smallest run with the same finding, if wanted."""

    example: int
    profile: str
    run: Run
    shrunk: Run
    seed: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a campaign came to."""

    campaign: Campaign
    coverage: Coverage
    examples: int
    seconds: float
    failure: Failure | None = None

    @property
    def verdict(self) -> Verdict:
        """Return held only if the spec agreed to every step, took every action, and was tested.

        A campaign that missed an action or a witness has not shown what it was to show.
        """
        if self.failure is not None:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if self.doubts else Verdict.HELD

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return why the campaign shows less than it should."""
        coverage = self.coverage
        doubts = []
        if not coverage.steps:
            doubts.append("no step was taken")
        if coverage.missed_actions:
            doubts.append(f"actions never taken: {', '.join(coverage.missed_actions)}")
        if coverage.missed_witnesses:
            doubts.append(f"witnesses never reached: {', '.join(coverage.missed_witnesses)}")
        return tuple(doubts)

    @property
    def reproduce(self) -> str:
        """Return the command that runs the same again."""
        campaign = self.campaign
        game = campaign.game
        command = f"krafla fuzz {game} --seed {campaign.seed} --examples {self.examples}"
        if campaign.steps != DEFAULT_STEPS:
            command += f" --steps {campaign.steps}"
        if campaign.profiles != PROFILES_OF[game]:
            command += "".join(f" --profile {name}" for name in campaign.profiles)
        return on_these_specs(command)


def run_campaign(campaign: Campaign, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Return what a campaign comes to; it ends with its first finding, shrunk."""
    start(brief=_is_brief(campaign))
    with uncollected():
        return _run(campaign, progress)


def _run(campaign: Campaign, progress: Callable[[str], None]) -> Report:
    coverage = Coverage()
    profiles = [find_profile(name) for name in campaign.profiles]
    began = time.monotonic()
    example = 0
    while not _is_spent(campaign, example, time.monotonic() - began):
        profile = profiles[example % len(profiles)]
        run = play_seed(profile, f"{campaign.seed} {example}", campaign.steps, coverage.observe)
        example += 1
        if run.finding is not None:
            shrunk = run
            if campaign.shrinks:
                shrunk = shrink(run, lambda steps: progress(f"found; shrinking: {steps} steps"))
            seed = f"{campaign.seed} {example - 1}"
            failure = Failure(example - 1, profile.name, run, shrunk, seed)
            return Report(campaign, coverage, example, time.monotonic() - began, failure)
        progress(_progress(coverage, example, time.monotonic() - began))
    return Report(campaign, coverage, example, time.monotonic() - began)


def _is_brief(campaign: Campaign) -> bool:
    """Return whether the JVM would not earn back what its optimising compiler costs."""
    if campaign.seconds_max is not None:
        return campaign.seconds_max < _BRIEF_SECONDS
    assert campaign.examples is not None, "a campaign has a budget"
    return campaign.examples * campaign.steps < _BRIEF_STEPS


def _is_spent(campaign: Campaign, examples: int, seconds: float) -> bool:
    if campaign.examples is not None and examples >= campaign.examples:
        return True
    return campaign.seconds_max is not None and seconds >= campaign.seconds_max


def _progress(coverage: Coverage, examples: int, seconds: float) -> str:
    taken = len(coverage.all_actions) - len(coverage.missed_actions)
    return (
        f"{examples:,} runs  {coverage.steps:,} steps  {coverage.steps / seconds:,.0f} steps/s  "
        f"actions {taken}/{len(coverage.all_actions)}  {coverage.states:,} states"
    )
