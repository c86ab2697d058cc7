"""A campaign: runs from one seed until a finding or the end of the budget, and its verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from krafla.collector import gc_paused
from krafla.fuzz.engine.coverage import Coverage
from krafla.fuzz.engine.profiles import DEFAULT_PROFILES, PROFILES_OF, find_profile
from krafla.fuzz.engine.run import Run, play_seed
from krafla.fuzz.engine.shrink import shrink
from krafla.manifest import on_these_specs
from krafla.oracle.jvm import start
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "BRIEF_STEPS",
    "DEFAULT_SECONDS",
    "DEFAULT_STEPS",
    "Campaign",
    "Failure",
    "Report",
    "doubts_of",
    "run_campaign",
]

DEFAULT_SECONDS: Final = 20.0
DEFAULT_STEPS: Final = 600
# Measured: the optimising compiler of the JVM pays off from about here on.
_BRIEF_SECONDS: Final = 60.0
BRIEF_STEPS: Final = 100_000
"""How many judged steps a process takes at least for which that compiler is worth its time."""


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
    """What a campaign came to, all of it or until it was interrupted."""

    campaign: Campaign
    coverage: Coverage
    examples: int
    seconds: float
    failure: Failure | None = None
    is_interrupted: bool = False

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
        interrupted = ("it was interrupted",) if self.is_interrupted else ()
        missed = coverage.missed_actions, coverage.missed_witnesses
        return interrupted + doubts_of(coverage.steps, *missed)

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit status that says the same, or that somebody ended it before a finding."""
        ended = self.is_interrupted and self.failure is None
        return ExitCode.INTERRUPTED if ended else self.verdict.exit_code

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


def doubts_of(steps: int, actions: Sequence[str], witnesses: Sequence[str]) -> tuple[str, ...]:
    """Return why runs show less than they should: no step, actions and witnesses missed."""
    doubts = () if steps else ("no step was taken",)
    missed = ("actions never taken", actions), ("witnesses never reached", witnesses)
    return (*doubts, *(f"{what}: {', '.join(names)}" for what, names in missed if names))


def run_campaign(campaign: Campaign, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Return what a campaign comes to; it ends with its first finding, shrunk.

    Ctrl-C ends it, too, with what was found so far.
    """
    start(brief=_is_brief(campaign))
    with gc_paused():
        return _run(campaign, progress)


def _run(campaign: Campaign, progress: Callable[[str], None]) -> Report:
    report = Report(campaign, Coverage(), 0, 0.0)
    began = time.monotonic()
    try:
        for later in _reports(campaign, report, began):
            report = later
            progress(_progress(report))
        if report.failure is not None and campaign.shrinks:
            run = report.failure.run
            shrunk = shrink(run, lambda steps: progress(f"found; shrinking: {steps} steps"))
            report = replace(report, failure=replace(report.failure, shrunk=shrunk))
    except KeyboardInterrupt:
        report = replace(report, is_interrupted=True)
    return replace(report, seconds=time.monotonic() - began)


def _reports(campaign: Campaign, report: Report, began: float) -> Iterator[Report]:
    """Yield what the campaign has come to after each run, until a finding or its end."""
    profiles = [find_profile(name) for name in campaign.profiles]
    while not _is_spent(campaign, report.examples, time.monotonic() - began):
        example = report.examples
        profile, seed = profiles[example % len(profiles)], f"{campaign.seed} {example}"
        run = play_seed(profile, seed, campaign.steps, report.coverage.observe)
        seconds = time.monotonic() - began
        report = replace(report, examples=example + 1, seconds=seconds)
        if run.finding is not None:
            # It is kept as it is if shrinking is interrupted.
            yield replace(report, failure=Failure(example, profile.name, run, run, seed))
            return
        yield report


def _is_brief(campaign: Campaign) -> bool:
    """Return whether the JVM would not earn back what its optimising compiler costs."""
    if campaign.seconds_max is not None:
        return campaign.seconds_max < _BRIEF_SECONDS
    assert campaign.examples is not None, "a campaign has a budget"
    return campaign.examples * campaign.steps < BRIEF_STEPS


def _is_spent(campaign: Campaign, examples: int, seconds: float) -> bool:
    if campaign.examples is not None and examples >= campaign.examples:
        return True
    return campaign.seconds_max is not None and seconds >= campaign.seconds_max


def _progress(report: Report) -> str:
    coverage = report.coverage
    taken = len(coverage.all_actions) - len(coverage.missed_actions)
    rate = coverage.steps / max(report.seconds, 1e-9)
    return (
        f"{report.examples:,} runs  {coverage.steps:,} steps  {rate:,.0f} steps/s  "
        f"actions {taken}/{len(coverage.all_actions)}  {coverage.states:,} states"
    )
