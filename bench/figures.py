"""What a benchmark measures: figures with their units and goals, printed, and kept for `run.py`."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

# Names the file to which a benchmark appends its figures, one JSON object a line.
FILE_VARIABLE = "KRAFLA_BENCH_FIGURES"
# By how much a figure may differ from run to run with nothing changed: docs/benchmarks.md.
NOISE = {"times": 0.2, "MiB": 0.1, "bytes": 0.1}
NOISE_OF_SPEED = 0.35
# With these units less is better; with all others more is.
LESS_IS_BETTER = {"s", "ms", "us", "MiB", "bytes"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: at least or at most what its goal says, if it has one."""

    name: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def is_met(self) -> bool:
        """Return whether the goal was met; no goal is always met."""
        return (self.least is None or self.value >= self.least) and (
            self.most is None or self.value <= self.most
        )

    @property
    def goal(self) -> str:
        """Return the goal as it is printed."""
        if self.least is not None:
            return f"at least {number(self.least)}"
        return "" if self.most is None else f"at most {number(self.most)}"

    @property
    def text(self) -> str:
        """Return value and unit as they are printed."""
        return f"{number(self.value)} {self.unit}"

    @property
    def noise(self) -> float:
        """Return by which share the figure differs between runs of the same code."""
        return NOISE.get(self.unit, NOISE_OF_SPEED)

    def is_better_than(self, before: float) -> bool:
        """Return whether the value is an improvement."""
        less = self.most is not None or (self.least is None and self.unit in LESS_IS_BETTER)
        return (self.value < before) if less else (self.value > before)


def number(value: float) -> str:
    """Return a number with three digits that count, and with commas."""
    places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{places}f}"


class Figures:
    """Takes the figures of one benchmark: prints each, and appends it to a file if there is one."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.taken: list[Figure] = []

    def add(
        self,
        name: str,
        value: float,
        unit: str,
        *,
        least: float | None = None,
        most: float | None = None,
    ) -> None:
        """Take a figure, which may have a goal."""
        figure = Figure(name, value, unit, least, most)
        self.taken.append(figure)
        goal = (
            f"  (goal: {figure.goal}: {'met' if figure.is_met else 'missed'})"
            if figure.goal
            else ""
        )
        print(f"  {name}: {figure.text}{goal}", flush=True)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(figure)) + "\n")


def benchmark(measure: Callable[[list[str], Figures], None]) -> int:
    """Run a benchmark: return 0 if every goal was met, 1 if not, 2 if it could not be run."""
    path = os.environ.get(FILE_VARIABLE)
    figures = Figures(Path(path) if path else None)
    try:
        measure(sys.argv[1:], figures)
    except KraflaError as error:
        print(f"could not be run: {error}", file=sys.stderr)
        return 2
    return 0 if all(figure.is_met for figure in figures.taken) else 1
