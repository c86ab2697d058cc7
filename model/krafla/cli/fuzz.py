"""``krafla fuzz``: simulated clusters with faults, every step judged by the spec."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from krafla.fuzz.campaign import Report

__all__ = ["command"]


def command(
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL", help="What to fuzz: lease.")],
    seed: Annotated[int, typer.Option(help="Where the randomness of every run comes from.")] = 0,
    examples: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many runs.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Start no run after this long; 20 if nothing else is said."),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps of a run.")] = 600,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="A kind of run, again for each; without it, a mixture of them."),
    ] = None,
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep findings here.")] = None,
    shrinks: Annotated[
        bool, typer.Option("--shrink/--no-shrink", help="Make what is found as small as can be.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> ExitCode:
    r"""Fuzz the implementation: random runs with faults, each step judged by its spec.

    A run is a cluster under a seeded scheduler, with a plan of faults drawn for it: messages
    lost, delayed and repeated, clocks that drift, crashes, failovers, two processes with one id.
    Every step must be a step of BrokerLease, lead to the same state, and keep every property.
    What is found is shrunk, shown, and kept with --save as a trace and as a recording.

    Exit status: 0 if the spec agreed to everything and every action was taken and every witness
    reached; 1 if it disagreed; 3 if something was missed: raise --seconds.

    \b
    Examples:
      krafla fuzz lease
      krafla fuzz lease --seed 7 --seconds 600 --save found
      krafla fuzz lease --profile self-fencing --examples 50 --json

    With --json: {"schema": 1, "verdict", "exit_code", "seed", "runs", "steps",
    "refused", "seconds", "states", "actions", "witnesses", "doubts", "failure", "reproduce"}.
    """
    if protocol != "lease":
        raise KraflaError(f"nothing is called {protocol!r} here; there is: lease")
    from krafla.cli import screen
    from krafla.fuzz import render
    from krafla.fuzz.campaign import Campaign, run_campaign
    from krafla.fuzz.profiles import DEFAULT_PROFILES

    profiles = tuple(profile or DEFAULT_PROFILES)
    with screen.LiveLine(quiet=quiet) as live:
        live.show("loading the spec")
        campaign = Campaign(seed, examples, seconds, steps, profiles, shrinks)
        report = run_campaign(campaign, live.show)
    kept = () if save is None or report.failure is None else render.save(report.failure, save)
    if as_json:
        document = render.document(report) | {"saved": [str(path) for path in kept]}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        _show(report, kept)
    return report.verdict.exit_code


def _show(report: Report, kept: tuple[Path, ...]) -> None:
    from krafla.cli import screen
    from krafla.fuzz import render

    console = screen.stdout()
    for text in render.text_lines(report):
        word, separator, rest = text.partition("  ")
        if word == report.verdict.name:
            screen.line(console, (word, screen.VERDICT_STYLES[report.verdict]), separator + rest)
        else:
            screen.line(console, text)
    for path in kept:
        screen.line(console, f"  saved      {path}")
