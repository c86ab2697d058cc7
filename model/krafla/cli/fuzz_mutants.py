"""``krafla fuzz --mutants``: the search for seeded bugs."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from krafla.cli import screen
from krafla.files import made_folder
from krafla.fuzz.engine import mutant_search
from krafla.fuzz.engine.mutant import find_mutant
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from krafla.fuzz.engine.mutant import Mutant
    from krafla.fuzz.engine.mutant_search import Search
    from krafla.fuzz.engine.system import System

__all__ = ["search_all"]


def search_all(
    system: System,
    names: str,
    amount: tuple[int, int | None, float | None],
    save: Path | None,
    *,
    quiet: bool,
) -> ExitCode:
    """Search for every seeded bug, or for those named, and print a table of what found them.

    ``amount`` has the seed, and the most examples and seconds for each bug. With ``save``, the run
    that found each is kept there. Ctrl-C leaves the results of the searches that have ended.
    """
    every = system.mutants
    chosen = every if names == "all" else [find_mutant(one, system) for one in names.split(",")]
    folder = None if save is None else made_folder(save, "--save")
    searches, is_whole = _searches(system, chosen, amount, quiet=quiet)
    console = screen.stdout()
    for text in mutant_search.table_lines(searches):
        screen.line(console, text)
    for text in _kept(searches, folder) if folder is not None else ():
        screen.line(console, text)
    if not is_whole:
        screen.line(console, f"  stopped after {len(searches)} of {len(chosen)} seeded bugs")
        raise KeyboardInterrupt
    alive = [each.mutant.name for each in searches if not each.detected]
    verdict = Verdict.VIOLATED if alive else Verdict.HELD
    told = f"not found: {', '.join(alive)}" if alive else "each was found"
    word = (verdict.name, screen.VERDICT_STYLES[verdict])
    screen.line(console, word, f"  {len(searches)} seeded bugs; {told}")
    # By examples: how many of them a number of seconds allows depends on the machine.
    most = max(each.examples for each in searches)
    given = f"--mutants {names} --seed {amount[0]} --examples {most}"
    screen.line(console, f"  reproduce  krafla fuzz {system.name} {given}")
    return verdict.exit_code


def _searches(
    system: System,
    chosen: Sequence[Mutant],
    amount: tuple[int, int | None, float | None],
    *,
    quiet: bool,
) -> tuple[list[Search], bool]:
    """Return the searches that ended, and whether all did, without Ctrl-C."""
    seed, examples, seconds = amount
    limits = (
        seed,
        mutant_search.EXAMPLES_MAXIMUM if examples is None else examples,
        mutant_search.SECONDS_MAXIMUM if seconds is None else seconds,
    )
    searches: list[Search] = []
    with screen.LiveLine(quiet=quiet) as live:
        for number, mutant in enumerate(chosen, start=1):
            live.show(f"{number}/{len(chosen)}  {mutant.name}")
            try:
                searches.append(mutant_search.search(mutant, system, *limits))
            except KeyboardInterrupt:
                return searches, False
    return searches, True


def _kept(searches: Iterable[Search], folder: Path) -> Iterator[str]:
    """Keep the runs that found seeded bugs; yield where, and the command that plays the first."""
    kept = [each.found.save(folder, each.mutant.name) for each in searches if each.found]
    if kept:
        yield f"  saved      {len(kept)} runs in {folder}, each with the name of its seeded bug"
        file = shlex.quote(os.fspath(folder / kept[0].saved[-1]))
        yield f"  replay     {kept[0].replay[-1]} {file}"
