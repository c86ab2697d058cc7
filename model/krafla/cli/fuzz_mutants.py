"""``krafla fuzz --mutants``: the search for seeded bugs."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from krafla.cli import screen
from krafla.files import made_folder
from krafla.fuzz.engine import mutant_search
from krafla.fuzz.engine.mutant import find_mutant
from krafla.manifest import on_these_specs
from krafla.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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
    """Keep the runs that found seeded bugs; yield where, and the command that plays the first."""
    kept = []
    for each in searches:
        if each.failure is not None:
            # The trace is made by playing the run again.
            with each.mutant.applied():
                kept.append(each.failure.save(folder, each.mutant.name))
    if kept:
        yield f"  saved      {len(kept)} runs in {folder}, each with the name of its seeded bug"
        file = shlex.quote(os.fspath(folder / kept[0].saved[-1]))
        yield f"  replay     {on_these_specs(f'krafla replay {file}')}"
