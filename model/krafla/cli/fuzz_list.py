"""``krafla fuzz --faults list`` and ``--mutants list``: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.verdict import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["listed"]


def listed(system: str, *, is_of_faults: bool) -> ExitCode:
    """Print all faults, or all seeded bugs, of a simulation over machines, with what each is."""
    (_faults if is_of_faults else _seeded_bugs)(system)
    return ExitCode.HELD


def _faults(system: str) -> None:
    from krafla.fuzz.engine.machine_systems import fault_lines

    _print(fault_lines(system))


def _seeded_bugs(system: str) -> None:
    from krafla.fuzz.engine.seeded_bugs import MUTANTS

    _print(f"{bug.name:34} {bug.source:28} {bug.sentence}" for bug in MUTANTS[system])


def _print(lines: Iterator[str]) -> None:
    from krafla.cli import screen

    console = screen.stdout()
    for text in lines:
        screen.line(console, text)
