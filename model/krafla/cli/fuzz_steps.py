"""``krafla fuzz`` of what is simulated step by step: campaigns whose every step is judged."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING

from krafla.cli import screen
from krafla.fuzz.engine import report as render
from krafla.fuzz.engine.campaign import DEFAULT_STEPS, Campaign, run_campaign
from krafla.fuzz.engine.profiles import profiles_chosen
from krafla.fuzz.engine.replay import play_recording
from krafla.fuzz.engine.systems import GAMES
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from krafla.fuzz.engine.campaign import Report
    from krafla.fuzz.engine.systems import Game

__all__ = ["campaign", "replayer", "run"]


def campaign(
    protocol: str,
    seed: int,
    examples: int | None,
    seconds: float | None,
    steps: int | None,
    profiles: Sequence[str] | None,
    shrinks: bool,
) -> Campaign:
    """Return the campaign that the options describe."""
    chosen = profiles_chosen(protocol, profiles)
    return Campaign(seed, examples, seconds, steps or DEFAULT_STEPS, chosen, shrinks)


def run(campaign: Campaign, *, save: Path | None, as_json: bool, quiet: bool) -> ExitCode:
    """Run a campaign and show what it came to."""
    with screen.LiveLine(quiet=quiet) as live:
        live.show("loading the spec")
        report = run_campaign(campaign, live.show)
    kept = () if save is None or report.failure is None else render.save(report.failure, save)
    if as_json:
        document = render.document(report) | {"saved": [str(path) for path in kept]}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        _show(report, kept)
    if report.exit_code is ExitCode.INTERRUPTED:
        # What was done until then has been shown.
        raise KeyboardInterrupt
    return report.exit_code


def replayer(protocol: str) -> Callable[..., ExitCode]:
    """Return what plays a run of a simulation that was kept; takes its path, and ``as_json``."""
    return partial(_replay, GAMES[protocol])


def _replay(game: Game, path: Path, *, as_json: bool) -> ExitCode:
    """Play a run that was kept, and say what the spec says of it."""
    run = play_recording(path, game)
    verdict = Verdict.HELD if run.finding is None else Verdict.VIOLATED
    finding = "" if run.finding is None else str(run.finding)
    if as_json:
        document = {"schema": 1, "verdict": verdict.value, "exit_code": int(verdict.exit_code),
                    "steps": run.steps, "finding": finding or None}  # fmt: skip
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return verdict.exit_code
    console = screen.stdout()
    for text in (*render.step_lines(run), *finding.splitlines()):
        screen.line(console, text)
    word = (verdict.name, screen.VERDICT_STYLES[verdict])
    screen.line(console, word, f"  {path}: {run.steps:,} steps")
    return verdict.exit_code


def _show(report: Report, kept: tuple[Path, ...]) -> None:
    console = screen.stdout()
    for text in render.text_lines(report):
        word, separator, rest = text.partition("  ")
        if word == report.verdict.name:
            screen.line(console, (word, screen.VERDICT_STYLES[report.verdict]), separator + rest)
        else:
            screen.line(console, text)
    for path in kept:
        screen.line(console, f"  saved      {path}")
