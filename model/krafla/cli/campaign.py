"""``krafla campaign``: fuzzing over many processes or machines, by Spark."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.campaign import Outcome

__all__ = ["command"]


def command(
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL", help="What to fuzz: lease.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A directory for the results.")],
    seeds: Annotated[str, typer.Option(metavar="A..B", help="The first and the last seed.")],
    steps: Annotated[int, typer.Option(min=1, help="Steps of a run.")] = 600,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="A kind of run, again for each; without it, a mixture of them."),
    ] = None,
    chunk: Annotated[
        int, typer.Option(min=1, max=10_000, help="Seeds that are committed together.")
    ] = 25,
    master: Annotated[
        str, typer.Option(help="Spark's master: local[N], spark://HOST:PORT.")
    ] = "local[*]",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> ExitCode:
    r"""Run a campaign of simulated seeds in Spark, each step judged by the spec.

    Seed n is run n of krafla fuzz lease --seed 0. Every seed is played once and counted once.
    Results are committed chunk by chunk: the same command after a kill goes on from there, and
    the digest at the end is the same for any number of processes and any interruption. What is
    found is shrunk, one run for each kind, and kept in OUT/found as a trace and a recording. A
    seed that kills its process three times is left alone and counts as inconclusive.

    Needs Java 17 or 21 and the extra: pip install 'krafla[spark]'. With another master than a
    local one, krafla must be installed on its machines, and OUT on a disk that they share.

    Exit status: 0 if the spec agreed to everything, every action was taken and every witness
    reached; 1 if it disagreed; 2 if the campaign could not be run to its end; 3 if something
    was missed.

    \b
    Examples:
      krafla campaign lease --seeds 0..4999 found-today
      krafla campaign lease --seeds 0..4999 --master spark://10.0.0.5:7077 /shared/found
      krafla pipeline report found-today

    With --json: {"schema": 1, "verdict", "exit_code", "out", "digest", "counts", "actions",
    "witnesses", "findings", "doubts", "reproduce"}.
    """
    if protocol != "lease":
        raise KraflaError(f"nothing is called {protocol!r} here; there is: lease")
    runs = steps, tuple(profile or ())
    return _run(out, seeds, runs, chunk, master, as_json=as_json, quiet=quiet)


def _run(
    out: Path,
    seeds: str,
    runs: tuple[int, tuple[str, ...]],
    chunk: int,
    master: str,
    *,
    as_json: bool,
    quiet: bool,
) -> ExitCode:
    from krafla.pipeline.needs import require_packages

    require_packages()
    from krafla.cli import screen
    from krafla.fuzz.profiles import DEFAULT_PROFILES, find_profile
    from krafla.fuzz.seeds import Runs
    from krafla.pipeline.campaign import CampaignPlan, parse_seeds, run_campaign
    from krafla.pipeline.session import session

    first, last = parse_seeds(seeds)
    profiles = runs[1] or DEFAULT_PROFILES
    for name in profiles:
        find_profile(name)
    plan = CampaignPlan(first, last, Runs(runs[0], profiles), chunk)
    with screen.LiveLine(quiet=quiet) as live:
        live.show("starting Spark")
        with session("krafla campaign lease", master) as spark:
            outcome = run_campaign(plan, out, spark, live.show)
    if as_json:
        sys.stdout.write(json.dumps(_document(outcome), indent=2) + "\n")
    else:
        console = screen.stdout()
        for text in _lines(outcome):
            screen.line(console, text)
        word = (outcome.verdict.name, screen.VERDICT_STYLES[outcome.verdict])
        screen.line(console, word, f"  {_counts(outcome)}")
        for text in _closing(outcome):
            screen.line(console, f"  {text}")
    return outcome.verdict.exit_code


def _lines(outcome: Outcome) -> Iterator[str]:
    for name, count in sorted(outcome.actions.items(), key=lambda one: (-one[1], one[0])):
        yield f"  {count:>11,}  {name}"
    for name, count in outcome.witnesses.items():
        yield f"  {f'{count:,} seeds' if count else 'never':>11}  {name}"
    for one in outcome.findings:
        shrunk = one["shrunk_steps"]
        how = "not shrunk" if shrunk is None else f"shrunk to {shrunk}"
        yield (
            f"{' '.join(one['kind'])}: {one['seeds']:,} seeds; seed {one['seed']}"
            f" ({one['profile']}) at step {one['steps']}, {how}"
        )
        yield from (f"  {text}" for text in one["detail"].splitlines())
        for name in one["saved"]:
            yield f"  saved      {outcome.out / 'found' / name}"


def _counts(outcome: Outcome) -> str:
    counts, actions, witnesses = outcome.counts, outcome.actions, outcome.witnesses
    return (
        f"{counts['seeds']:,} seeds: {counts['held']:,} held, {counts['violated']:,} violated,"
        f" {counts['inconclusive']:,} inconclusive; {counts['steps']:,} judged steps, about"
        f" {counts['states']:,} distinct states, actions {_seen(actions)}, witnesses"
        f" {_seen(witnesses)}"
    )


def _seen(counts: dict[str, int]) -> str:
    return f"{sum(1 for count in counts.values() if count)}/{len(counts)}"


def _closing(outcome: Outcome) -> Iterator[str]:
    yield from outcome.doubts
    yield f"digest     {outcome.digest}"
    yield f"results    {outcome.out}"
    yield f"reproduce  {outcome.reproduce} OUT"


def _document(outcome: Outcome) -> dict[str, Any]:
    return {
        "schema": 1,
        "verdict": outcome.verdict.value,
        "exit_code": int(outcome.verdict.exit_code),
        "out": str(outcome.out),
        "digest": outcome.digest,
        "counts": outcome.counts,
        "actions": outcome.actions,
        "witnesses": outcome.witnesses,
        "findings": list(outcome.findings),
        "doubts": list(outcome.doubts),
        "reproduce": f"{outcome.reproduce} OUT",
    }
