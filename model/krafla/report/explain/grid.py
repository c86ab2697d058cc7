"""A trace as a table that fits a terminal of 80 or 120 columns: a column for each node.

A step's action has a line of its own; below it, the changes of the nodes are side by side.
Messages, and changes too long for a column, have a whole line, after the name of their node.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.report.explain.view import StepView, TraceView

__all__ = ["MARK", "Grid", "grid_of"]

MARK = "<- "
"""The beginning of a remark that marks a step."""

_INDENT = 5
_BAR = "| "
# A narrower column would break every change into small pieces.
_WIDTH_MIN = 18
_WIDTH_MAX = 44
# The most lines of one column, so that the others are not empty for too long.
_CELL_LINES_MAX = 3


@dataclass(frozen=True, slots=True)
class Grid:
    """The columns side by side, by their index in the view, and their width."""

    view: TraceView
    columns: tuple[int, ...]
    width: int
    whole_width: int

    def head(self) -> str:
        """Return the line with the names of the columns."""
        names = [self.view.columns[index].name for index in self.columns]
        return self._row(names)

    def action(self, number: str, call: str, remarks: Sequence[str]) -> list[str]:
        """Return the lines of a step's action, without the remarks that do not fit.

        A remark that marks the step has a line of its own then.
        """
        lead, hanging = f"{number:>3} ", " " * (_INDENT + 3)
        lines = textwrap.wrap(
            call, self.whole_width - 1, initial_indent=lead, subsequent_indent=hanging,
            break_on_hyphens=False,
        )  # fmt: skip
        for remark in remarks:
            if len(lines[-1]) + 3 + len(remark) < self.whole_width:
                lines[-1] += f"   {remark}"
            elif remark.startswith(MARK):
                lines.append(f"{hanging}{remark}")
        return lines

    def rows(self, step: StepView) -> Iterator[str]:
        """Yield the lines of a step below its action."""
        cells: list[list[str]] = [[] for _ in self.columns]
        below: list[tuple[str, str]] = []
        for index, lines in enumerate(step.cells):
            for line in lines:
                broken = self._broken(line.text) if index in self.columns else []
                fits = all(len(one) < self.width for one in broken)
                if broken and fits and len(broken) <= _CELL_LINES_MAX:
                    cells[self.columns.index(index)] += broken
                else:
                    below.append((self.view.columns[index].name, line.text))
        for row in zip_longest(*cells, fillvalue=""):
            yield self._row(row)
        yield from self._below(below)

    def _row(self, texts: Sequence[str]) -> str:
        cells = "".join(f"{_BAR}{text:{self.width}}" for text in texts)
        return f"{'':{_INDENT}}{cells}".rstrip()

    def _broken(self, text: str) -> list[str]:
        """Return the lines of a change in a column, broken before its arrow if it is too long."""
        if len(text) <= self.width - 1:
            return [text]
        before, arrow, after = text.partition(" -> ")
        pieces = [before, f"{arrow.strip()} {after}"] if arrow else [text]
        found = []
        for number, piece in enumerate(pieces):
            hanging = "  " if number else ""
            found += textwrap.wrap(
                piece, self.width - 1, initial_indent=hanging, subsequent_indent="  ",
                break_on_hyphens=False, break_long_words=False,
            )  # fmt: skip
        return found

    def _below(self, lines: Sequence[tuple[str, str]]) -> Iterator[str]:
        last = ""
        label = max((len(name) for name, _ in lines), default=0) + 2
        for name, text in lines:
            shown = "" if name == last else name
            last = name
            lead = f"{'':{_INDENT}}{shown:{label}}"
            yield from textwrap.wrap(
                text, max(_WIDTH_MIN, self.whole_width - 1), initial_indent=lead,
                subsequent_indent=" " * (_INDENT + label + 2), break_on_hyphens=False,
            )  # fmt: skip


def grid_of(view: TraceView, used: Sequence[int], width: int) -> Grid | None:
    """Return the columns that fit side by side into a width; ``None`` if plain lines are better.

    ``used`` are the columns that changed. The column of the messages is never in the table: a
    message is too wide for it.
    """
    bag = view.layout.bag
    network = None if bag is None else view.layout.owner((bag,))[0]
    nodes = tuple(index for index in used if index != network)
    if len(nodes) < 2:
        return None
    each = (width - _INDENT) // len(nodes) - len(_BAR)
    if each < _WIDTH_MIN:
        return None
    return Grid(view, nodes, min(each, _WIDTH_MAX), width)
