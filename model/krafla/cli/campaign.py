"""``krafla campaign``: fuzzing over many processes or machines, by Spark."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.ci.reports import reported, tell
from krafla.cli.ci.traces import campaign_entries
from krafla.cli.options import Json, Quiet  # noqa: TC001 - typer reads the annotations
from krafla.cli.spark_options import (
    Conf,
    Master,
    Packages,
    Remote,
    running_spark,
)
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

    from krafla.fuzz.engine.system import RunOptions, System
    from krafla.pipeline.campaign.plan import CampaignPlan
    from krafla.pipeline.campaign.result import CampaignResult
    from krafla.pipeline.session import Session

__all__ = ["command"]

_Chunk = Annotated[
    int | None,
    typer.Option(min=1, max=10_000, help="Seeds of one task; by default 25, of raft and stack 5."),
]
_Learn = Annotated[
    bool, typer.Option("--learn", help="Breed half of the runs of later rounds from novel ones.")
]
_Found = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Where the files of findings go; by default OUT/found, if OUT is local."
    ),
]


@reported()
def command(
    system: SystemName,
    out: Annotated[
        str, typer.Argument(metavar="OUT", help="A directory or URI for the tables of results.")
    ],
    seeds: Annotated[str, typer.Option(metavar="A..B", help="The first and the last seed.")],
    steps: Steps = None,
    profile: Profile = None,
    faults: Faults = None,
    chaos: Chaos = None,
    lockstep: Lockstep = None,
    chunk: _Chunk = None,
    learn: _Learn = False,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    packages: Packages = "",
    found: _Found = None,
    require_coverage: RequireCoverage = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Run a campaign of simulated seeds in Spark, each judged as krafla fuzz judges it.

    Seed n is run n of krafla fuzz SYSTEM --seed 0. Every seed is played once and counted once.
    Results are tables in OUT, which is any storage that Spark can write to, and are committed
    wave by wave: after a kill the same command goes on from there, and the digest at the end is
    the same for any number of processes and any interruption. More seeds of the same campaign
    can be asked for later. One run of each kind of finding is shrunk and kept, in the table
    findings and as files. A seed that kills its process three times is skipped and named. With
    --learn seed n can be another run, bred from one of an earlier seed that did something new.

    Needs Java 17 or 21 and the extra: pip install 'krafla[spark]', in a checkout '.[spark]'.

    Exit status: 0 if nothing was found; 1 if something was; 2 if the campaign could not be run to
    its end; 3 if a seed has no result, or with --require-coverage if something was missed: an
    action, a witness, of raft and stack also progress at the end of some run.

    \b
    Examples:
      krafla campaign lease --seeds 0..4999 found-today
      krafla campaign cluster --seeds 0..499 --profile two-and-two --learn found
      krafla campaign stack --seeds 0..199 --faults network,power-loss found-stack
      krafla campaign raft --seeds 0..4999 --master spark://10.0.0.5:7077 s3a://ours/found
      krafla pipeline report found-today

    With --json: {"schema": 1, "system", "verdict", "exit_code", "out", "digest", "counts",
    "actions", "witnesses", "faults", "hazards", "liveness", "totals", "findings", "doubts",
    "missed", "reproduce"}; a tally that the system does not count is empty.
    """
    chosen, options = chosen_system("campaign", system, steps, profile, faults, chaos, lockstep)
    plan = replace(_plan(chosen, options, seeds, chunk), learns=learn)
    place = _place(out)
    folder = found or (place / "found" if isinstance(place, Path) else None)
    with running_spark(
        f"campaign {system}", master, remote, conf, packages, quiet=quiet, writes=out
    ) as spark:
        outcome = _outcome(plan, str(place), folder, spark)
    shown = outcome.requiring_coverage() if require_coverage else outcome
    return _told(shown, folder, as_json=as_json)


def _plan(system: System, options: RunOptions, seeds: str, chunk: int | None) -> CampaignPlan:
    from krafla.pipeline.needs import require_packages

    require_packages()
    # Only now: it imports those packages.
    from krafla.pipeline.campaign.plan import SEED, CampaignPlan, parse_seeds

    first, last = parse_seeds(seeds)
    return CampaignPlan(first, last, system.runs(SEED, options), chunk or system.chunk)


def _place(out: str) -> Path | str:
    """Return a folder here as a path, a place elsewhere as it was given."""
    return out if "://" in out or out.startswith("file:") else Path(out).absolute()


def _told(outcome: CampaignResult, folder: Path | None, *, as_json: bool) -> ExitCode:
    tell(campaign_entries, outcome)
    if as_json:
        sys.stdout.write(json.dumps(_document(outcome), indent=2) + "\n")
        return outcome.verdict.exit_code
    from krafla.cli import screen

    screen.show(_lines(outcome, folder), outcome.verdict)
    return outcome.verdict.exit_code


def _outcome(plan: CampaignPlan, out: str, folder: Path | None, spark: Session) -> CampaignResult:
    from krafla.pipeline.campaign.findings import save_findings
    from krafla.pipeline.campaign.run import run_campaign, store_of

    store = store_of(spark, out)
    outcome = run_campaign(plan, store, spark)
    if folder is not None and outcome.findings:
        save_findings(store, folder, outcome.load)
    return outcome


def _lines(outcome: CampaignResult, folder: Path | None) -> Iterator[str]:
    from krafla.pipeline.campaign.result import how_shrunk

    yield from outcome.coverage
    for one in outcome.findings:
        yield (
            f"{' '.join(one['kind'])}: {counted(one['seeds'], 'seed')}; seed {one['number']}"
            f" ({one['profile']}) at step {one['steps']:,}, {how_shrunk(one)}"
        )
        yield from (f"  {text}" for text in one["detail"].splitlines())
        for name in one["saved"]:
            yield (
                f"  saved      {name}, in the table findings"
                if folder is None
                else f"  replay     krafla replay {folder / name}"
            )
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
        "out": outcome.out,
        "digest": outcome.digest,
        "counts": outcome.counts,
        **outcome.tallies,
        "findings": list(outcome.findings),
        "doubts": list(outcome.doubts),
        "missed": list(outcome.missed),
        "reproduce": f"{outcome.reproduce} OUT",
    }
