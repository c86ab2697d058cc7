"""``krafla fuzz``: simulated clusters with faults, every step judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli.protocols import BY_STEPS, OVER_MACHINES, Chaos, Profile, Steps, check_options
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Options = Mapping[str, object]

__all__ = ["command"]


_Protocol = Annotated[
    str,
    typer.Argument(
        metavar="PROTOCOL",
        help="What to fuzz: lease, raft, reassignment, registration, metadata, together, cluster.",
    ),
]
_Seed = Annotated[int, typer.Option(help="Where the randomness of every run comes from.")]
_Examples = Annotated[
    int | None, typer.Option(min=1, help="Stop after this many runs.", show_default=False)
]
_Seconds = Annotated[
    float | None,
    typer.Option(min=0, help="Start no run after this long; 20 if nothing else is said."),
]
_Workers = Annotated[
    int | None, typer.Option(min=1, help="raft, cluster: processes; no result depends on them; 1.")
]
_Faults = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="raft, cluster: kinds of faults, or rooms of them (loss,disk), or all, or none; "
        "without it, each seed draws from those that break no promise of Raft; list: show them.",
    ),
]
_Lockstep = Annotated[
    bool | None,
    typer.Option(
        "--lockstep/--no-lockstep",
        help="raft, cluster: have the spec judge every step of Raft, and of what is above it.",
    ),
]
_Replay = Annotated[
    Path | None, typer.Option(metavar="FILE", help="all but lease: play a run that was kept.")
]
_Mutants = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="raft, cluster: look for these seeded bugs, or for all; list: show them.",
    ),
]
_Save = Annotated[Path | None, typer.Option(metavar="DIR", help="Keep findings here.")]
_Shrinks = Annotated[
    bool, typer.Option("--shrink/--no-shrink", help="Make what is found as small as can be.")
]
_Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def command(
    protocol: _Protocol,
    seed: _Seed = 0,
    examples: _Examples = None,
    seconds: _Seconds = None,
    steps: Steps = None,
    profile: Profile = None,
    workers: _Workers = None,
    faults: _Faults = None,
    chaos: Chaos = None,
    lockstep: _Lockstep = None,
    replay: _Replay = None,
    mutants: _Mutants = None,
    save: _Save = None,
    shrinks: _Shrinks = True,
    as_json: _Json = False,
    quiet: _Quiet = False,
) -> ExitCode:
    r"""Fuzz the implementation: random runs with faults, each step judged.

    Judged step by step by their spec, under a seeded scheduler with faults: lease; reassignment, a
    partition that moves; registration, of controllers; metadata, controllers over a log; together,
    all of these on one log. What is found is shrunk, shown, and kept with --save.

    raft: a quorum on simulated machines, disks, clocks and networks; after 30 seconds of chaos a
    core is healed and must make progress. Each step is held to all that was ever true.
    cluster: controllers, brokers and operators above that. Besides: no answer tells of what may be
    lost, who steps back goes back to what is committed, the log keeps every rule of krafla audit.

    Exit status: 0 if all held, every action taken and every witness reached; 1: found; 2: could not
    run; 3: something was missed, raise --seconds; 130: Ctrl-C. --json: a document with "schema": 1.

    \b
    Examples:
      krafla fuzz lease --seed 7 --seconds 600 --save found
      krafla fuzz raft --faults network,power-loss --seed 7 --examples 100 --lockstep
      krafla fuzz raft --replay found/krafla-raft-7-3.json
      krafla fuzz cluster --seconds 60 --workers 2
    """
    by_steps = {"--steps": steps, "--profile": profile}
    raft = {"--workers": workers, "--faults": faults, "--chaos": chaos, "--lockstep": lockstep}
    _check_options(protocol, by_steps, raft | {"--mutants": mutants}, {"--replay": replay})
    from krafla.cli import fuzz_list, fuzz_raft, fuzz_steps

    if "list" in (faults, mutants):
        return fuzz_list.listed(protocol, is_of_faults=faults == "list")
    if replay is not None:
        _refuse_beside(
            "--replay", examples, seconds, mutants, workers, faults, lockstep, save, chaos
        )
        return _replayer(protocol)(replay, as_json=as_json)
    if protocol not in OVER_MACHINES:
        judged = fuzz_steps.campaign(protocol, seed, examples, seconds, steps, profile, shrinks)
        return fuzz_steps.run(judged, save=save, as_json=as_json, quiet=quiet)
    amount = seed, examples, seconds
    if mutants is not None:
        _refuse_beside("--mutants", workers, faults, lockstep, as_json or None, chaos)
        return fuzz_raft.seeded_bugs(protocol, mutants, amount, save, quiet=quiet)
    chosen = fuzz_raft.campaign(protocol, *amount, workers, faults, lockstep, shrinks, chaos)
    return fuzz_raft.run(chosen, save=save, as_json=as_json, quiet=quiet)


def _replayer(protocol: str) -> Callable[..., ExitCode]:
    from krafla.cli import fuzz_raft, fuzz_steps

    return fuzz_raft.replay if protocol in OVER_MACHINES else fuzz_steps.replayer(protocol)


def _check_options(protocol: str, steps: _Options, machines: _Options, kept: _Options) -> None:
    """Refuse a protocol that there is not, and options that are another protocol's."""
    own: dict[str, _Options] = {key: {**steps, **kept} for key in BY_STEPS}
    own["lease"] = steps
    own |= {key: {**machines, **kept} for key in OVER_MACHINES}
    check_options("fuzz", protocol, own)


_NOT_BESIDE = {
    "--replay": ("--examples", "--seconds", "--mutants", "--workers", "--faults", "--lockstep",
                 "--save", "--chaos"),
    "--mutants": ("--workers", "--faults", "--lockstep", "--json", "--chaos"),
}  # fmt: skip


def _refuse_beside(option: str, *values: object) -> None:
    """Refuse options that another one would not heed."""
    names = _NOT_BESIDE[option]
    given = [name for name, value in zip(names, values, strict=True) if value is not None]
    if given:
        raise KraflaError(f"{', '.join(given)}: not together with {option}")
