"""``krafla fuzz``: simulated clusters with faults, every step judged."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from krafla.cli.ci.reports import reported, tell
from krafla.cli.ci.traces import fuzz_entry, mutant_entries, replay_entry
from krafla.cli.fuzz_machine import fuzz_machine, is_machine, refuse_unknown
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
from krafla.manifest import on_these_specs
from krafla.project.at_hand import put_shipped_at_hand
from krafla.verdict import ExitCode, KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from krafla.fuzz.engine.mutant_search import Search
    from krafla.fuzz.engine.runs import Runs
    from krafla.fuzz.engine.system import System

__all__ = ["command"]

_WITH_MUTANTS = ("--examples", "--seconds", "--save", "--mutants")
# The options that a machine of krafla.testing does not have.
_FOR_SYSTEMS = (
    "--profile", "--workers", "--faults", "--chaos", "--lockstep", "--replay", "--mutants",
)  # fmt: skip

_Seed = Annotated[
    int, typer.Option(help="The seed of the random numbers: the same seed gives the same runs.")
]
_Examples = Annotated[
    int | None, typer.Option(min=1, help="Stop after this many runs.", show_default=False)
]
_Seconds = Annotated[
    float | None,
    typer.Option(
        min=0, help="Start no run after this many seconds (20 without --seconds and --examples)."
    ),
]
_Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of processes (default 1). It changes no result.")
]
_Replay = Annotated[Path | None, typer.Option(metavar="FILE", help="Play a run that was saved.")]
_Mutants = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Search for these seeded bugs of the implementation, or for all; list: show them.",
    ),
]
_Save = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Save a failing run here: by default the working folder, .krafla/found for a machine.",
    ),
]
_Shrinks = Annotated[
    bool, typer.Option("--shrink/--no-shrink", help="Make a failing run as small as possible.")
]
_Coverage = Annotated[
    bool,
    typer.Option("--coverage", help="Show how often each action, witness and fault was met."),
]


@reported(sarif=True)
def command(
    system: SystemName,
    seed: _Seed = 0,
    examples: _Examples = None,
    seconds: _Seconds = None,
    steps: Steps = None,
    profile: Profile = None,
    workers: _Workers = None,
    faults: Faults = None,
    chaos: Chaos = None,
    lockstep: Lockstep = None,
    replay: _Replay = None,
    mutants: _Mutants = None,
    save: _Save = None,
    shrinks: _Shrinks = True,
    coverage: _Coverage = False,
    require_coverage: RequireCoverage = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> ExitCode:
    r"""Fuzz an implementation: random runs with faults, each step judged.

    SYSTEM is one of Kafka's seven below, or your SpecMachine: its name in krafla.toml,
    module:Class or test_file.py::Class.

    Five systems of Kafka are driven by choices: lease (brokers and their sessions), metadata
    (controllers over one log), reassignment, registration (of controllers) and cluster (all of
    these). Two run on simulated computers, disks, clocks and networks: raft (a quorum) and stack
    (what is above it); after 30 seconds of faults a majority is healed and must make
    progress.

    A failing run is shrunk, shown, and saved: in the folder of --save, else in the working folder,
    or in .krafla/found for a machine. krafla replay plays it.

    Exit status: 0 if steps were judged or checked and nothing was found (what was missed is
    said in a line); 1: found, or with --mutants a seeded bug was not; 2: could not run; 3: no
    step was judged, or something was missed that --require-coverage asks for; 130: Ctrl-C.

    \b
    Examples:
      krafla fuzz stack --seconds 60
      krafla fuzz raft --faults network,power-loss --seed 7 --examples 100 --lockstep
      krafla fuzz tests/test_lock.py::LockMachine --seconds 60
    """
    if is_machine(system):
        others = (profile, workers, faults, chaos, lockstep, replay, mutants)
        how = (seed, examples, seconds, steps, shrinks)
        return _on_machine(system, how, others, save, (require_coverage, as_json, quiet))
    _mean_shipped(system)
    chosen, options = chosen_system("fuzz", system, steps, profile, faults, chaos, lockstep)
    beside = {
        "--examples": examples, "--seconds": seconds, "--workers": workers, "--save": save,
        "--mutants": mutants, "--require-coverage": require_coverage or None,
        **options.arguments, "--coverage": coverage or None, "--json": as_json or None,
    }  # fmt: skip
    if "list" in (faults, mutants, *(profile or ())):
        return _list(chosen, faults=faults, mutants=mutants)
    if replay is not None:
        _refuse_beside("--replay", beside, allowed=("--json",))
        return _replay(chosen, replay, as_json=as_json)
    if mutants is not None:
        _refuse_beside("--mutants", beside, allowed=_WITH_MUTANTS)
        return _search(chosen, mutants, (seed, examples, seconds), save, quiet=quiet)
    campaign = (examples, seconds, workers or 1, shrinks, require_coverage)
    return _run(chosen.runs(seed, options), campaign, save, coverage, as_json, quiet)


def _mean_shipped(word: str) -> None:
    """Make the shipped specs those that judge a system of Kafka, wherever it is fuzzed."""
    refuse_unknown(word)
    put_shipped_at_hand()


def _on_machine(
    word: str,
    how: tuple[Any, ...],
    others: tuple[object, ...],
    save: Path | None,
    flags: tuple[bool, bool, bool],
) -> ExitCode:
    """Run a machine of ``krafla.testing``; ``others`` are values of ``_FOR_SYSTEMS``."""
    given = [name for name, value in zip(_FOR_SYSTEMS, others, strict=True) if value is not None]
    if given:
        raise KraflaError(f"{', '.join(given)}: not for a machine of krafla.testing")
    from krafla.testing.machine_search import Search

    return fuzz_machine(word, Search(*how), save, *flags)


def _refuse_beside(option: str, values: Mapping[str, object], allowed: Iterable[str]) -> None:
    """Refuse options that have no effect beside another one."""
    given = [name for name, value in values.items() if value is not None and name not in allowed]
    if given:
        raise KraflaError(f"{', '.join(given)}: not together with {option}")


def _list(system: System, *, faults: str | None, mutants: str | None) -> ExitCode:
    """Print all faults, seeded bugs or profiles, with what each is."""
    from krafla.cli.screen import show

    if faults == "list":
        show(system.fault_lines())
    elif mutants == "list":
        show(_bug_lines(system))
    else:
        show(system.profile_lines())
    return ExitCode.HELD


def _bug_lines(system: System) -> Iterator[str]:
    """Yield each seeded bug: its name, its sentence, and where it comes from."""
    width = max(len(bug.name) for bug in system.mutants)
    for bug in system.mutants:
        yield f"{bug.name:{width}}  {bug.sentence} ({bug.source})"


def _replay(system: System, path: Path, *, as_json: bool) -> ExitCode:
    """Play a saved run again, and show what it shows."""
    from krafla.cli import screen
    from krafla.cli.account_view import show_account
    from krafla.fuzz.engine.run_file import replay_file

    replay = replay_file(path, system.name)
    tell(replay_entry, path, replay.verdict, replay.sentence, (), replay.failure)
    if as_json:
        sys.stdout.write(json.dumps(replay.document, indent=2) + "\n")
    else:
        console, verdict = screen.stdout(), replay.verdict
        word = (verdict.name, screen.VERDICT_STYLES[verdict])
        screen.line(console, word, f"  {path}: {replay.sentence}")
        if replay.failure is not None:
            show_account(console, replay.failure)
    return replay.verdict.exit_code


def _run(
    runs: Runs, how: tuple[Any, ...], save: Path | None, coverage: bool, as_json: bool, quiet: bool
) -> ExitCode:
    """Run a campaign, show its report, and save the run that failed."""
    from krafla.cli import screen
    from krafla.cli.account_view import run_commands
    from krafla.files import made_folder
    from krafla.fuzz.engine.campaign import Campaign, run_campaign

    # A missing folder must not cost hours of search.
    folder = Path() if save is None else made_folder(save, "--save")
    with screen.LiveLine(quiet=quiet) as live:
        live.show("starting")
        report = run_campaign(Campaign(runs, *how), live.show)
    kept, problem = None, None
    try:
        if report.failure is not None:
            kept = report.failure.save(folder)
            kept = replace(kept, saved=tuple(str(folder / name) for name in kept.saved))
    except KraflaError as error:
        # What was found is shown all the same.
        problem = error
    tell(fuzz_entry, report, () if kept is None else kept.saved)
    if as_json:
        sys.stdout.write(json.dumps(report.document(kept), indent=2) + "\n")
    else:
        console = screen.stdout()
        commands = () if kept is None else run_commands(kept.saved)
        lines = report.lines(console.width, coverage=coverage, commands=commands)
        screen.styled(console, lines, report.verdict)
    if problem is not None:
        screen.line(screen.stderr(), f"krafla: not saved (--save names another folder): {problem}")
    if report.exit_code is ExitCode.INTERRUPTED:
        # The findings up to the interrupt have been shown.
        raise KeyboardInterrupt
    return report.exit_code


def _search(
    system: System,
    names: str,
    amount: tuple[int, int | None, float | None],
    save: Path | None,
    *,
    quiet: bool,
) -> ExitCode:
    """Search for every seeded bug, or for those named, and print a table of what found them.

    ``amount`` has the seed, and the most examples and seconds for each bug. With ``save``, the run
    that found each is saved there. Ctrl-C leaves the results of the searches that have ended.
    """
    from krafla.cli import screen
    from krafla.files import made_folder
    from krafla.fuzz.engine import mutant_search
    from krafla.fuzz.engine.mutant import find_mutant

    every, (seed, examples, seconds) = system.mutants, amount
    chosen = every if names == "all" else [find_mutant(one, system) for one in names.split(",")]
    folder = None if save is None else made_folder(save, "--save")
    examples = mutant_search.EXAMPLES_MAXIMUM if examples is None else examples
    seconds = mutant_search.SECONDS_MAXIMUM if seconds is None else seconds
    searches: list[Search] = []
    with screen.LiveLine(quiet=quiet) as live, suppress(KeyboardInterrupt):
        for number, mutant in enumerate(chosen, start=1):
            live.show(f"{number}/{len(chosen)}  {mutant.name}")
            searches.append(mutant_search.search(mutant, system, seed, examples, seconds))
    tell(mutant_entries, system.name, searches)
    screen.show(mutant_search.table_lines(searches))
    screen.show(() if folder is None else _kept(searches, folder))
    if len(searches) < len(chosen):
        screen.show([f"  stopped after {len(searches)} of {len(chosen)} seeded bugs"])
        raise KeyboardInterrupt
    alive = [each.mutant.name for each in searches if each.failure is None]
    verdict = Verdict.VIOLATED if alive else Verdict.HELD
    told = f"not found: {', '.join(alive)}" if alive else "each was found"
    # By examples: how many of them a number of seconds allows depends on the machine.
    most = max(each.examples for each in searches)
    given = f"--mutants {names} --seed {seed} --examples {most}"
    last = f"{verdict.name}  {len(searches)} seeded bugs; {told}"
    screen.show((last, f"  reproduce  krafla fuzz {system.name} {given}"), verdict)
    return verdict.exit_code


def _kept(searches: Iterable[Search], folder: Path) -> Iterator[str]:
    """Save the runs that found seeded bugs; yield where, and the command that plays the first."""
    kept = []
    for each in searches:
        if each.failure is not None:
            # The trace is made by playing the run again.
            with each.mutant.applied():
                kept.append(each.failure.save(folder, each.mutant.name))
    if kept:
        runs = counted(len(kept), "run")
        yield f"  saved      {runs} in {folder}, each with the name of its seeded bug"
        file = shlex.quote(str(folder / kept[0].saved[-1]))
        yield f"  replay     {on_these_specs(f'krafla replay {file}')}"
