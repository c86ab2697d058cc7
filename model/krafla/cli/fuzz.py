"""``krafla fuzz``: simulated clusters with faults, every step judged."""

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
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL", help="What to fuzz: lease, raft.")],
    seed: Annotated[int, typer.Option(help="Where the randomness of every run comes from.")] = 0,
    examples: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many runs.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Start no run after this long; 20 if nothing else is said."),
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="lease: steps of a run; 600.")] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="lease: a kind of run, again for each; without it, a mixture of them."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="raft: processes; no result depends on them; 1.")
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="raft: kinds of faults, or rooms of them (loss,disk); default, all or none.",
        ),
    ] = None,
    lockstep: Annotated[
        bool | None,
        typer.Option("--lockstep/--no-lockstep", help="raft: have the spec judge every step."),
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="raft: play a run that was kept.")
    ] = None,
    mutants: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="raft: look for these seeded bugs, or for all."),
    ] = None,
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep findings here.")] = None,
    shrinks: Annotated[
        bool, typer.Option("--shrink/--no-shrink", help="Make what is found as small as can be.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> ExitCode:
    r"""Fuzz the implementation: random runs with faults, each step judged.

    lease: a cluster under a seeded scheduler, with a plan of faults drawn for it: messages lost,
    delayed and repeated, clocks that drift, crashes, failovers, two processes with one id. Every
    step must be a step of BrokerLease, lead to the same state, and keep every property. What is
    found is shrunk, shown, and kept with --save as a trace and as a recording.

    raft: a quorum on simulated machines, disks, clocks and networks. Sizes, speeds and faults are
    drawn for each run; after 30 seconds of chaos a core is healed and must make progress. After
    every event the properties of KRaftProperties and KRaftVotersProperties are checked, over all
    that was ever true in the run. What is found is kept as one file, and the command that replays
    it is printed. Each run has a digest: equal digests, equal runs, on any machine.

    Exit status: 0 if all held, every action of the spec was taken and every witness reached (raft:
    if --lockstep looked); 1 if something was found; 2 if it could not run; 3 if something was
    missed: raise --seconds; 130 after Ctrl-C.

    \b
    Examples:
      krafla fuzz lease
      krafla fuzz lease --seed 7 --seconds 600 --save found
      krafla fuzz lease --profile self-fencing --examples 50 --json
      krafla fuzz raft --seconds 600 --workers 2
      krafla fuzz raft --examples 20 --lockstep
      krafla fuzz raft --faults network,power-loss --seed 7 --examples 100
      krafla fuzz raft --replay krafla-raft-7-42.json
      krafla fuzz raft --mutants all

    With --json, lease: {"schema": 1, "verdict", "exit_code", "seed", "runs", "steps",
    "refused", "seconds", "states", "actions", "witnesses", "doubts", "failure", "reproduce"};
    raft: {"schema": 1, "verdict", "exit_code", "seed", "runs", "events", "simulated_seconds",
    "seconds", "acknowledged", "faults", "hazards", "liveness", "actions", "doubts", "digest",
    "failure", "saved", "reproduce"}.
    """
    own: dict[str, dict[str, object]] = {
        "lease": {"--steps": steps, "--profile": profile},
        "raft": {"--workers": workers, "--faults": faults, "--lockstep": lockstep,
                 "--replay": replay, "--mutants": mutants},
    }  # fmt: skip
    if protocol not in own:
        raise KraflaError(f"nothing is called {protocol!r} here; there are: lease, raft")
    for other, options in own.items():
        strange = [name for name, value in options.items() if value is not None]
        if other != protocol and strange:
            raise KraflaError(f"{', '.join(strange)}: only for `krafla fuzz {other}`")
    if protocol == "raft":
        from krafla.cli import fuzz_raft
        from krafla.fuzz.quorum.campaign import Campaign as RaftCampaign

        if replay is not None:
            return fuzz_raft.replay(replay, as_json=as_json)
        if mutants is not None:
            return fuzz_raft.seeded_bugs(
                mutants, seed=seed, seconds=seconds, examples=examples, quiet=quiet
            )
        kinds = fuzz_raft.kinds_chosen(faults)
        judged = bool(lockstep)
        raft = RaftCampaign(seed, examples, seconds, workers or 1, kinds, judged, shrinks)
        return fuzz_raft.run(raft, save=save, as_json=as_json, quiet=quiet)
    from krafla.cli import screen
    from krafla.fuzz import render
    from krafla.fuzz.campaign import DEFAULT_STEPS, Campaign, run_campaign
    from krafla.fuzz.profiles import DEFAULT_PROFILES

    profiles = tuple(profile or DEFAULT_PROFILES)
    with screen.LiveLine(quiet=quiet) as live:
        live.show("loading the spec")
        campaign = Campaign(seed, examples, seconds, steps or DEFAULT_STEPS, profiles, shrinks)
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
