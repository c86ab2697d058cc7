"""``krafla campaign``: fuzzing over many processes or machines, by Spark."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.system_options import (
    Chaos,
    Faults,
    Lockstep,
    Profile,
    RequireCoverage,
    Steps,
    SystemName,
    chosen_system,
)
from krafla.counted import counted
from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.pipeline.campaign import CampaignPlan, CampaignResult

__all__ = ["command"]

_Chunk = Annotated[
    int | None,
    typer.Option(
        min=1, max=10_000, help="Seeds that are committed together; 25, of raft and stack 5."
    ),
]
_Master = Annotated[str, typer.Option(help="Spark's master: local[N], spark://HOST:PORT.")]


def command(
    system: SystemName,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A directory for the results.")],
    seeds: Annotated[str, typer.Option(metavar="A..B", help="The first and the last seed.")],
    steps: Steps = None,
    profile: Profile = None,
    faults: Faults = None,
    chaos: Chaos = None,
    lockstep: Lockstep = None,
    chunk: _Chunk = None,
    master: _Master = "local[*]",
    require_coverage: RequireCoverage = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Run a campaign of simulated seeds in Spark, each judged as krafla fuzz judges it.

    Seed n is run n of krafla fuzz SYSTEM --seed 0. Every seed is played once and counted once.
    Results are committed chunk by chunk: after a kill the same command goes on from there, and
    the digest at the end is the same for any number of processes and any interruption. One run of
    each kind of finding is shrunk and kept in OUT/found. A seed that kills its process three times
    is not run again and counts as inconclusive.

    Needs Java 17 or 21 and the extra: pip install 'krafla[spark]', or in a checkout
    .venv/bin/pip install -e '.[spark]'. With a master that is not local, krafla must be installed
    on its machines, and OUT must be on a disk that they share.

    Exit status: 0 if nothing was found; 1 if something was; 2 if the campaign could not be run to
    its end; 3 if a seed was not run, or with --require-coverage if something was missed: an
    action, a witness, of raft and stack also progress at the end of some run.

    \b
    Examples:
      krafla campaign lease --seeds 0..4999 found-today
      krafla campaign cluster --seeds 0..499 --profile two-and-two found
      krafla campaign stack --seeds 0..199 --faults network,power-loss found-stack
      krafla campaign raft --seeds 0..4999 --master spark://10.0.0.5:7077 /shared/found
      krafla pipeline report found-today

    With --json: {"schema": 1, "system", "verdict", "exit_code", "out", "digest", "counts",
    "actions", "witnesses", "faults", "hazards", "liveness", "totals", "findings", "doubts",
    "missed", "reproduce"}; a tally that the system does not count is empty.
    """
    chosen, options = chosen_system("campaign", system, steps, profile, faults, chaos, lockstep)
    from krafla.pipeline.needs import require_packages

    require_packages()
    from krafla.pipeline.campaign import SEED, CampaignPlan, parse_seeds

    first, last = parse_seeds(seeds)
    runs = chosen.runs(SEED, options)
    plan = CampaignPlan(first, last, runs, chunk or chosen.chunk)
    outcome = _outcome(plan, out, master, quiet=quiet)
    return _told(outcome.requiring_coverage() if require_coverage else outcome, as_json=as_json)


def _told(outcome: CampaignResult, *, as_json: bool) -> ExitCode:
    if as_json:
        sys.stdout.write(json.dumps(_document(outcome), indent=2) + "\n")
        return outcome.verdict.exit_code
    from krafla.cli import screen

    screen.show(_lines(outcome), outcome.verdict)
    return outcome.verdict.exit_code


def _outcome(plan: CampaignPlan, out: Path, master: str, *, quiet: bool) -> CampaignResult:
    from krafla.cli import screen
    from krafla.pipeline.campaign import run_campaign
    from krafla.pipeline.pool import session

    with screen.LiveLine(quiet=quiet) as live:
        live.show("starting Spark")
        with session(f"krafla campaign {plan.runs.name}", master) as spark:
            return run_campaign(plan, out, spark, live.show)


def _lines(outcome: CampaignResult) -> Iterator[str]:
    from krafla.pipeline.report import how_shrunk

    yield from outcome.coverage
    for one in outcome.findings:
        yield (
            f"{' '.join(one['kind'])}: {counted(one['seeds'], 'seed')}; seed {one['number']}"
            f" ({one['profile']}) at step {one['steps']:,}, {how_shrunk(one)}"
        )
        yield from (f"  {text}" for text in one["detail"].splitlines())
        for name in one["saved"]:
            yield f"  replay     krafla replay {outcome.out / 'found' / name}"
    counts = outcome.counts
    yield (
        f"{outcome.verdict.name}  {counted(counts['seeds'], 'seed')}: {counts['held']:,} held,"
        f" {counts['violated']:,} violated, {counts['inconclusive']:,} inconclusive;"
        f" {outcome.summary}"
    )
    yield from (f"  {doubt}" for doubt in outcome.doubts)
    if outcome.missed:
        yield f"  missed     {'; '.join(outcome.missed)}"
    yield f"  digest     {outcome.digest}"
    yield f"  results    {outcome.out}"
    yield f"  reproduce  {outcome.reproduce} OUT"


def _document(outcome: CampaignResult) -> dict[str, Any]:
    return {
        "schema": 1,
        "system": outcome.system,
        "verdict": outcome.verdict.value,
        "exit_code": int(outcome.verdict.exit_code),
        "out": str(outcome.out),
        "digest": outcome.digest,
        "counts": outcome.counts,
        **outcome.tallies,
        "findings": list(outcome.findings),
        "doubts": list(outcome.doubts),
        "missed": list(outcome.missed),
        "reproduce": f"{outcome.reproduce} OUT",
    }
