"""Figures for pages: the shares of bars, and a line through points, both drawn without scripts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Curve", "Tick", "brief_number", "curve", "shares"]

WIDTH, HEIGHT = 560, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 44
# The units that a long number is told in.
_UNITS = ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K"))
# A label this near to the right edge ends there, so that nothing of it is cut.
_EDGE = 0.95


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across the figure: its place, its number, and where its label is anchored."""

    at: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points in a box of ``WIDTH`` by ``HEIGHT``, with the area below it.

    ``points`` has the place of each point, what it says, and where from and how wide it answers
    when it is pointed at.
    """

    line: str
    area: str
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    points: tuple[tuple[float, float, str, float, float], ...]

    width = WIDTH
    height = HEIGHT
    left = _LEFT
    right = WIDTH - _RIGHT
    top = _TOP
    bottom = HEIGHT - _BOTTOM


def shares(pairs: Sequence[tuple[str, int]], *, logarithmic: bool = False) -> list[float]:
    """Return the per cent of the longest bar that each count takes; 0 for none, never for some."""
    scale = math.log1p if logarithmic else float
    most = max((scale(count) for _, count in pairs), default=0) or 1
    return [round(max(0.3, 100 * scale(count) / most), 2) if count else 0 for _, count in pairs]


def brief_number(number: float) -> str:
    """Return a number in at most a few characters, as ``1.2K``."""
    for unit, letter in _UNITS:
        if number >= unit:
            return f"{number / unit:.1f}".removesuffix(".0") + letter
    return f"{number:g}"


def curve(
    points: Sequence[tuple[int, int]], names: tuple[str, str], *, first: int | None = None
) -> Curve:
    """Return the line through points, whose horizontal axis begins at ``first`` or the first point.

    ``names`` says what the two numbers of a point are. There is at least one point.
    """
    start = points[0][0] if first is None else first
    end = max(start + 1, points[-1][0])
    most = max(1, *(height for _, height in points)) * 1.05

    def x(value: float) -> float:
        return _LEFT + (value - start) / (end - start) * (WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return HEIGHT - _BOTTOM - value / most * (HEIGHT - _TOP - _BOTTOM)

    def reach(at: float) -> tuple[float, float]:
        half = (WIDTH - _LEFT - _RIGHT) / len(points) / 2
        start = max(_LEFT, at - half)
        return start, min(WIDTH, at + half) - start

    line = "".join(
        f"{'L' if number else 'M'}{x(one):.1f} {y(height):.1f}"
        for number, (one, height) in enumerate(points)
    )
    edge = f"L{x(points[-1][0]):.1f} {y(0):.1f}L{x(points[0][0]):.1f} {y(0):.1f}Z"
    columns = [
        Tick(
            x(start + one),
            f"{start + one:,}",
            "end" if one > _EDGE * (end - start) else "middle",
        )
        for one in _ticks(end - start, 5)
    ]
    return Curve(
        line,
        line + edge,
        tuple(Tick(y(one), brief_number(one), "end") for one in _ticks(most, 4)),
        tuple(columns),
        tuple(
            (x(one), y(height), f"{names[0]} {one:,}: {height:,} {names[1]}", *reach(x(one)))
            for one, height in points
        ),
    )


def _ticks(most: float, about: int) -> list[int]:
    """Return about so many round numbers from 0 to ``most``."""
    raw = most / about
    power = 10 ** math.floor(math.log10(raw))
    step = max(1, round(next(factor for factor in (1, 2, 5, 10) if factor * power >= raw) * power))
    return list(range(0, math.floor(most) + 1, step))
