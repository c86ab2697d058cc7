"""The sample specs, their mutants, and what the tests say about them in short."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.mutate.population import Choice, Population, population

if TYPE_CHECKING:
    from krafla.mutate.mutants import Mutant

SPECS = (Path(__file__).parent / "specs").resolve()


@cache
def mutants_of(room: str) -> Population:
    """Return the mutants of a room of the sample specs."""
    return population(SPECS, Choice(rooms=(room,)))


def named(room: str, start: str) -> Mutant:
    """Return the only mutant whose id begins so."""
    (found,) = [mutant for mutant in mutants_of(room).mutants if mutant.id.startswith(start)]
    return found


def changed(mutant: Mutant) -> list[str]:
    """Return the lines that a mutant takes away and puts in."""
    lines = mutant.diff(SPECS).splitlines()
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def copy_of_specs(folder: Path) -> Path:
    """Return a copy of the sample specs."""
    return Path(shutil.copytree(SPECS, folder / "specs")).resolve()
