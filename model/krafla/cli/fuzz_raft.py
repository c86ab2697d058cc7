"""``krafla fuzz raft`` and ``cluster``: simulated machines with faults, held to the properties."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.verdict import ExitCode, KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krafla.fuzz.engine.machine_campaign import Campaign, Report
    from krafla.fuzz.engine.machine_replay import Recorded
    from krafla.fuzz.engine.machine_run import Played
    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.mutant_search import Hunt

__all__ = ["campaign", "replay", "run", "seeded_bugs"]


def campaign(
    system: str,
    seed: int,
    examples: int | None,
    seconds: float | None,
    workers: int | None,
    faults: str | None,
    lockstep: bool | None,
    shrinks: bool,
    chaos: float | None = None,
) -> Campaign:
    """Return the campaign that the options describe."""
    from krafla.fuzz.engine.machine_campaign import Campaign, kinds_chosen

    kinds = kinds_chosen(faults, system)
    return Campaign(
        seed, examples, seconds, workers or 1, kinds, bool(lockstep), shrinks, system, chaos
    )


def _made(folder: Path) -> Path:
    """Return a folder that is there now. Raises KraflaError if a file stands in its place."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise KraflaError(f"--save: {folder} is not a folder: a file stands there") from None
    return folder


def run(campaign: Campaign, *, save: Path | None, as_json: bool, quiet: bool) -> ExitCode:
    """Run a campaign, show what it came to, and keep the run that failed."""
    from krafla.cli import screen
    from krafla.fuzz.engine import machine_replay, machine_report
    from krafla.fuzz.engine.machine_campaign import run_campaign

    # What was found after hours is not to be lost for want of a folder.
    folder = Path() if save is None else _made(save)
    with screen.LiveLine(quiet=quiet) as live:
        live.show("starting")
        report = run_campaign(campaign, live.show)
    saved = ""
    if report.finding is not None:
        name = machine_replay.kept_name(campaign.system, campaign.seed, report.finding.example)
        shrunk = report.finding.shrunk
        recorded = machine_replay.record(shrunk, lockstep=campaign.lockstep)
        machine_replay.write(recorded, folder / name)
        saved = os.fspath(folder / name)
    if as_json:
        sys.stdout.write(json.dumps(machine_report.document(report, saved), indent=2) + "\n")
    else:
        _show(report, saved)
    if report.exit_code is ExitCode.INTERRUPTED:
        # What was found until then has been shown.
        raise KeyboardInterrupt
    return report.exit_code


def _show(report: Report, saved: str) -> None:
    from krafla.cli import screen
    from krafla.fuzz.engine import machine_report

    console = screen.stdout()
    for text in machine_report.text_lines(report, saved):
        word, separator, rest = text.partition("  ")
        if word == report.verdict.name:
            screen.line(console, (word, screen.VERDICT_STYLES[report.verdict]), separator + rest)
        else:
            screen.line(console, text)


def replay(path: Path, *, as_json: bool) -> ExitCode:
    """Play the run in a file again, and say whether it came to the same."""
    from krafla.fuzz.engine.machine_replay import read

    recorded = read(path)
    played = _play_again(recorded)
    same = played.digest == recorded.digest
    verdict = Verdict.HELD if played.violation is None else Verdict.VIOLATED
    if played.violation is None and not recorded.failed and not same:
        # A run that held before is another run now: this says nothing of the one in the file.
        verdict = Verdict.INCONCLUSIVE
    if as_json:
        document = {
            "schema": 1,
            "verdict": verdict.value,
            "exit_code": int(verdict.exit_code),
            "digest": played.digest,
            "same": same,
            "failed": None if played.violation is None else str(played.violation),
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        _show_replay(recorded, played, verdict, same=same)
    return verdict.exit_code


def _play_again(recorded: Recorded) -> Played:
    from contextlib import nullcontext

    from krafla.fuzz.engine.machine_replay import replay as play_recorded
    from krafla.fuzz.engine.seeded_bugs import find_mutant

    bug = find_mutant(recorded.mutant).applied() if recorded.mutant else nullcontext()
    with bug:
        return play_recorded(recorded)


def _show_replay(recorded: Recorded, played: Played, verdict: Verdict, *, same: bool) -> None:
    from krafla.cli import screen
    from krafla.fuzz.engine import machine_report

    console = screen.stdout()
    if recorded.mutant:
        screen.line(console, f"  with the seeded bug {recorded.mutant}")
    for text in machine_report.fault_lines(played):
        screen.line(console, text)
    if played.violation is not None:
        screen.line(console, f"  {played.violation}")
    end = f"{played.events:,} events, {played.simulated / 1e9:,.3f} simulated s"
    screen.line(console, (verdict.name, screen.VERDICT_STYLES[verdict]), f"  {end}")
    remark = (
        "the same run as in the file" if same else f"not the run in the file: {recorded.digest}"
    )
    screen.line(console, f"  digest     {played.digest}, {remark}")


def seeded_bugs(
    system: str,
    names: str,
    amount: tuple[int, int | None, float | None],
    save: Path | None,
    *,
    quiet: bool,
) -> ExitCode:
    """Look for every seeded bug, or for those named, and print a table of what found them.

    ``amount`` are the seed, and the most examples and seconds for each bug. With ``save``, the run
    that found each is kept there. Ctrl-C leaves what was found until then.
    """
    from krafla.cli import screen
    from krafla.fuzz.engine.mutant_search import table_lines
    from krafla.fuzz.engine.seeded_bugs import MUTANTS, find_mutant

    mutants = MUTANTS[system]
    chosen = mutants if names == "all" else tuple(find_mutant(n) for n in names.split(","))
    if save is not None:
        _made(save)
    console = screen.stdout()
    hunts, is_whole = _hunted(chosen, amount, quiet=quiet)
    for text in table_lines(hunts):
        screen.line(console, text)
    for text in _kept(system, hunts, save) if save is not None else ():
        screen.line(console, text)
    if not is_whole:
        screen.line(console, f"  stopped after {len(hunts)} of {len(chosen)} seeded bugs")
        raise KeyboardInterrupt
    alive = [each.mutant.name for each in hunts if not each.detected]
    verdict = Verdict.VIOLATED if alive else Verdict.HELD
    said = f"not found: {', '.join(alive)}" if alive else "each was found"
    screen.line(
        console,
        (verdict.name, screen.VERDICT_STYLES[verdict]),
        f"  {len(hunts)} seeded bugs; {said}",
    )
    # By examples: what a number of seconds comes to depends on the machine.
    most = max(each.examples for each in hunts)
    given = f"--mutants {names} --seed {amount[0]} --examples {most}"
    screen.line(console, f"  reproduce  krafla fuzz {system} {given}")
    return verdict.exit_code


def _hunted(
    chosen: Sequence[Mutant], amount: tuple[int, int | None, float | None], *, quiet: bool
) -> tuple[list[Hunt], bool]:
    """Look for seeded bugs; return what came of each, and whether nobody pressed Ctrl-C."""
    from krafla.cli import screen
    from krafla.fuzz.engine.mutant_search import EXAMPLES_MAXIMUM, SECONDS_MAXIMUM, hunt

    seed, examples, seconds = amount
    limits = (
        seed,
        EXAMPLES_MAXIMUM if examples is None else examples,
        SECONDS_MAXIMUM if seconds is None else seconds,
    )
    hunts: list[Hunt] = []
    with screen.LiveLine(quiet=quiet) as live:
        for number, mutant in enumerate(chosen, start=1):
            live.show(f"{number}/{len(chosen)}  {mutant.name}")
            try:
                hunts.append(hunt(mutant, *limits))
            except KeyboardInterrupt:
                return hunts, False
    return hunts, True


def _kept(system: str, hunts: Iterable[Hunt], folder: Path) -> Iterator[str]:
    """Keep the runs that found seeded bugs, each with its bug; yield where, and how to play one."""
    from krafla.fuzz.engine import machine_replay

    kept = []
    for each in hunts:
        if each.found is not None:
            path = folder / f"krafla-{system}-{each.mutant.name}.json"
            machine_replay.write(machine_replay.record(each.found, each.mutant.name), path)
            kept.append(path)
    if kept:
        yield f"  saved      {len(kept)} of them in {folder}, each with its seeded bug"
        yield f"  replay     krafla fuzz {system} --replay {shlex.quote(os.fspath(kept[0]))}"
