"""``krafla fuzz --faults list`` and ``--mutants list``: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["faults", "seeded_bugs"]


def faults(system: str) -> ExitCode:
    """Print every kind of fault, with what it leaves promised; ``*``: drawn by default."""
    from krafla.fuzz.systems import SYSTEMS
    from kraft.sim.quorum.kinds import ALL_PROMISES, KINDS

    _print(
        f"{'*' if kind.name in SYSTEMS[system].kinds else ' '} {kind.room:9} {kind.name:19} "
        f"{kind.sentence}"
        + ("" if kind.promised == ALL_PROMISES else f" What stays promised: {kind.promised}.")
        for kind in KINDS.values()
    )
    return ExitCode.HELD


def seeded_bugs(system: str) -> ExitCode:
    """Print every seeded bug of a simulation: its name, its source, what goes wrong."""
    from krafla.fuzz.seeded_bugs import MUTANTS

    _print(f"{bug.name:34} {bug.source:28} {bug.sentence}" for bug in MUTANTS[system])
    return ExitCode.HELD


def _print(lines: Iterator[str]) -> None:
    from krafla.cli import screen

    console = screen.stdout()
    for text in lines:
        screen.line(console, text)
