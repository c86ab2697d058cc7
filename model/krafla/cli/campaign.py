"""``krafla campaign``: fuzzing over many processes or machines, by Spark."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.protocols import BY_STEPS, OVER_MACHINES, Chaos, Profile, Steps, check_options
from krafla.verdict import ExitCode  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.fuzz.engine.run_source import RunSource
    from krafla.pipeline.campaign import CampaignPlan, Outcome

__all__ = ["command"]

_Protocol = Annotated[
    str,
    typer.Argument(
        metavar="PROTOCOL",
        help="What to fuzz: lease, reassignment, registration, metadata, together, raft, cluster.",
    ),
]
_Faults = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="raft, cluster: kinds of faults, or rooms of them (loss,disk), or all, or none; "
        "without it, each seed draws from those that break no promise of Raft.",
    ),
]
_Lockstep = Annotated[
    bool | None,
    typer.Option(
        "--lockstep/--no-lockstep",
        help="raft, cluster: have the specs judge every step, as krafla fuzz does.",
    ),
]
_Chunk = Annotated[
    int | None,
    typer.Option(
        min=1, max=10_000, help="Seeds that are committed together; 25, of raft, cluster 5."
    ),
]

_Master = Annotated[str, typer.Option(help="Spark's master: local[N], spark://HOST:PORT.")]


def command(
    protocol: _Protocol,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A directory for the results.")],
    seeds: Annotated[str, typer.Option(metavar="A..B", help="The first and the last seed.")],
    steps: Steps = None,
    profile: Profile = None,
    faults: _Faults = None,
    chaos: Chaos = None,
    lockstep: _Lockstep = None,
    chunk: _Chunk = None,
    master: _Master = "local[*]",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> ExitCode:
    r"""Run a campaign of simulated seeds in Spark, each judged as krafla fuzz judges it.

    Seed n is run n of krafla fuzz PROTOCOL --seed 0. Every seed is played once and counted once.
    Results are committed chunk by chunk: the same command after a kill goes on from there, and
    the digest at the end is the same for any number of processes and any interruption. What is
    found is shrunk, one run for each kind, and kept in OUT/found as a trace and a recording; of
    raft and cluster, as a run for krafla fuzz --replay. A seed that kills its process three times
    is left alone and counts as inconclusive.

    Needs Java 17 or 21 and the extra: pip install 'krafla[spark]'. With another master than a
    local one, krafla must be installed on its machines, and OUT on a disk that they share.

    Exit status: 0 if nothing was found and nothing missed: no action, no witness, and some run of
    raft and cluster made progress at its end; 1 if something was found; 2 if the campaign could
    not be run to its end; 3 if something was missed.

    \b
    Examples:
      krafla campaign lease --seeds 0..4999 found-today
      krafla campaign together --seeds 0..499 --profile whole found-whole
      krafla campaign cluster --seeds 0..199 --faults network,power-loss found-cluster
      krafla campaign raft --seeds 0..4999 --master spark://10.0.0.5:7077 /shared/found
      krafla pipeline report found-today

    With --json: {"schema": 1, "protocol", "verdict", "exit_code", "out", "digest", "counts",
    "actions", "witnesses", "faults", "hazards", "liveness", "totals", "findings", "doubts",
    "reproduce"}; what a protocol does not count is empty.
    """
    by_steps = {"--steps": steps, "--profile": profile}
    machines = {"--faults": faults, "--chaos": chaos, "--lockstep": lockstep}
    own: dict[str, dict[str, object]] = {key: {**by_steps} for key in BY_STEPS}
    own |= {key: {**machines} for key in OVER_MACHINES}
    check_options("campaign", protocol, own)
    from krafla.pipeline.needs import require_packages

    require_packages()
    from krafla.pipeline.campaign import CampaignPlan, parse_seeds

    first, last = parse_seeds(seeds)
    runs = (
        _machine_runs(protocol, faults, lockstep, chaos)
        if protocol in OVER_MACHINES
        else _game_runs(protocol, steps, profile)
    )
    plan = CampaignPlan(first, last, runs, chunk or runs.chunk)
    return _run(plan, out, master, as_json=as_json, quiet=quiet)


def _game_runs(protocol: str, steps: int | None, profiles: list[str] | None) -> RunSource:
    from krafla.fuzz.engine.campaign import DEFAULT_STEPS
    from krafla.fuzz.engine.choice_runs import GameRuns
    from krafla.fuzz.engine.profiles import profiles_chosen

    return GameRuns(steps or DEFAULT_STEPS, profiles_chosen(protocol, profiles))


def _machine_runs(
    system: str, faults: str | None, lockstep: bool | None, chaos: float | None
) -> RunSource:
    from krafla.fuzz.engine.machine_campaign import kinds_chosen
    from krafla.fuzz.engine.machine_runs import MachineRuns

    return MachineRuns(system, kinds_chosen(faults, system), bool(lockstep), chaos)


def _run(plan: CampaignPlan, out: Path, master: str, *, as_json: bool, quiet: bool) -> ExitCode:
    from krafla.cli import screen
    from krafla.pipeline.campaign import run_campaign
    from krafla.pipeline.session import session

    with screen.LiveLine(quiet=quiet) as live:
        live.show("starting Spark")
        with session(f"krafla campaign {plan.runs.protocol}", master) as spark:
            outcome = run_campaign(plan, out, spark, live.show)
    if as_json:
        sys.stdout.write(json.dumps(_document(outcome), indent=2) + "\n")
        return outcome.verdict.exit_code
    console = screen.stdout()
    for text in _lines(outcome):
        screen.line(console, text)
    word = (outcome.verdict.name, screen.VERDICT_STYLES[outcome.verdict])
    screen.line(console, word, f"  {_counts(outcome)}")
    for text in _closing(outcome):
        screen.line(console, f"  {text}")
    return outcome.verdict.exit_code


def _lines(outcome: Outcome) -> Iterator[str]:
    from krafla.pipeline.report import how_shrunk

    yield from outcome.coverage
    for one in outcome.findings:
        yield (
            f"{' '.join(one['kind'])}: {one['seeds']:,} seeds; seed {one['seed']}"
            f" ({one['profile']}) at step {one['steps']:,}, {how_shrunk(one)}"
        )
        yield from (f"  {text}" for text in one["detail"].splitlines())
        for play, name in zip(one["replay"], one["saved"], strict=True):
            yield f"  replay     {play} {outcome.out / 'found' / name}"


def _counts(outcome: Outcome) -> str:
    counts = outcome.counts
    return (
        f"{counts['seeds']:,} seeds: {counts['held']:,} held, {counts['violated']:,} violated,"
        f" {counts['inconclusive']:,} inconclusive; {outcome.summary}"
    )


def _closing(outcome: Outcome) -> Iterator[str]:
    yield from outcome.doubts
    yield f"digest     {outcome.digest}"
    yield f"results    {outcome.out}"
    yield f"reproduce  {outcome.reproduce} OUT"


def _document(outcome: Outcome) -> dict[str, Any]:
    return {
        "schema": 1,
        "protocol": outcome.protocol,
        "verdict": outcome.verdict.value,
        "exit_code": int(outcome.verdict.exit_code),
        "out": str(outcome.out),
        "digest": outcome.digest,
        "counts": outcome.counts,
        **outcome.tallies,
        "findings": list(outcome.findings),
        "doubts": list(outcome.doubts),
        "reproduce": f"{outcome.reproduce} OUT",
    }
