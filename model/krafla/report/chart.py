"""Figures for pages, drawn without scripts: bars, a line through points, columns of parts.

Every axis is linear and begins at 0, so that lengths can be compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Columns", "Curve", "Part", "Tick", "brief_number", "columns", "curve", "shares"]

WIDTH, HEIGHT = 560, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 44
# The units that a long number is told in.
_UNITS = ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K"))
# A label this near to the right edge ends there, so that nothing of it is cut.
_EDGE = 0.95
# The most that a character of a label takes, on a narrow screen, and the room between two labels.
_CHARACTER, _GAP = 9, 14
# Columns are no wider than this, and take this much of their share of the axis.
_COLUMN_MAX, _COLUMN_SHARE = 48, 0.8


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


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a column: the number of its series from 0, and its box."""

    series: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns side by side, each a pile of parts, in a box of ``WIDTH`` by ``HEIGHT``.

    ``told`` has what each column says, and where from and how wide it answers when it is pointed
    at.
    """

    parts: tuple[Part, ...]
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    told: tuple[tuple[str, float, float], ...]

    width = WIDTH
    height = HEIGHT
    left = _LEFT
    right = WIDTH - _RIGHT
    top = _TOP
    bottom = HEIGHT - _BOTTOM


def shares(pairs: Sequence[tuple[str, int]]) -> list[float]:
    """Return the per cent of the longest bar that each count takes; 0 for none, never for some."""
    most = max((count for _, count in pairs), default=0) or 1
    return [round(max(0.3, 100 * count / most), 2) if count else 0 for _, count in pairs]


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
        tuple(_rows(most)),
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
    step = max(
        1, round(next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw) * power)
    )
    return list(range(0, math.floor(most) + 1, step))


def columns(labels: Sequence[str], series: Sequence[tuple[str, Sequence[int]]]) -> Columns:
    """Return a column for each label, the counts of the series on top of each other.

    A series has a name and a count for each label. Labels that have no room are left out.
    """
    sums = [sum(counts[place] for _, counts in series) for place in range(len(labels))]
    most = max(1, *sums) * 1.05
    share = (WIDTH - _LEFT - _RIGHT) / len(labels)
    width = min(_COLUMN_MAX, share * _COLUMN_SHARE)
    scale = (HEIGHT - _TOP - _BOTTOM) / most
    parts, told = [], []
    for place, label in enumerate(labels):
        middle, floor = _LEFT + share * (place + 0.5), float(HEIGHT - _BOTTOM)
        for number, (_, counts) in enumerate(series):
            height = counts[place] * scale
            floor -= height
            if height:
                parts.append(Part(number, middle - width / 2, floor, width, height))
        words = ", ".join(f"{counts[place]:,} {name}" for name, counts in series)
        told.append((f"{label}: {words}", _LEFT + share * place, share))
    return Columns(
        tuple(parts),
        tuple(_rows(most)),
        tuple(_labels(labels, share)),
        tuple(told),
    )


def _labels(labels: Sequence[str], share: float) -> Iterator[Tick]:
    """Yield as many of the labels below columns as have room, evenly."""
    room = max(map(len, labels)) * _CHARACTER + _GAP
    for place in range(0, len(labels), math.ceil(room / share)):
        label, middle = labels[place], _LEFT + share * (place + 0.5)
        half = len(label) * _CHARACTER / 2
        if middle - half < 0:
            yield Tick(1, label, "start")
        elif middle + half > WIDTH:
            yield Tick(WIDTH - 1, label, "end")
        else:
            yield Tick(middle, label)


def _rows(most: float) -> Iterator[Tick]:
    """Yield the lines across a figure whose upper edge is ``most``."""
    for one in _ticks(most, 4):
        at = HEIGHT - _BOTTOM - one / most * (HEIGHT - _TOP - _BOTTOM)
        yield Tick(at, brief_number(one), "end")
