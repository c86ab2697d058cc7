"""A report in chapters, to be rendered as a page or as Markdown: one content for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    *("BarFigure", "Block", "Case", "Cell", "Chapter", "ColumnFigure", "CommandLines", "Document"),
    *("Fold", "Grid", "Head", "LineFigure", "Note", "Panels"),
]

Cell: TypeAlias = str | int | None
"""What a table shows in a place; None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph. ``tone`` is empty, ``soft``, or a verdict, which colours it."""

    text: str
    tone: str = ""
    kind: ClassVar[str] = "note"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: its name, and what its cells are.

    A ``path`` may be broken anywhere; a ``verdict`` is coloured; ``prose`` has room.
    """

    name: str
    form: Literal["", "number", "path", "prose", "verdict"] = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a caption, which may be empty."""

    caption: str
    heads: tuple[Head, ...]
    rows: Sequence[Sequence[Cell]]
    kind: ClassVar[str] = "grid"


@dataclass(frozen=True, slots=True)
class BarFigure:
    """Counts by name as bars, each a part of the longest; ``share`` tells the per cent of all.

    A name that was never counted is marked.
    """

    caption: str
    pairs: Sequence[tuple[str, int]]
    share: bool = False
    kind: ClassVar[str] = "bars"

    @property
    def rows(self) -> list[tuple[str, int, str]]:
        """Return each name with its count, and its share of all counts in per cent."""
        whole = sum(count for _, count in self.pairs) or 1
        return [(name, count, f"{100 * count / whole:.1f}%") for name, count in self.pairs]


@dataclass(frozen=True, slots=True)
class LineFigure:
    """A line through points. ``names`` says what the numbers of a point are."""

    caption: str
    names: tuple[str, str]
    points: Sequence[tuple[int, int]]
    first: int | None = None
    kind: ClassVar[str] = "line"


@dataclass(frozen=True, slots=True)
class ColumnFigure:
    """Columns over labels. Each series has a name, a colour class and a count for each label."""

    caption: str
    axis: str
    labels: Sequence[str]
    series: Sequence[tuple[str, str, Sequence[int]]]
    kind: ClassVar[str] = "columns"

    @property
    def pairs(self) -> list[tuple[str, Sequence[int]]]:
        """Return the series without their colours."""
        return [(name, counts) for name, _, counts in self.series]


@dataclass(frozen=True, slots=True)
class CommandLines:
    """Commands for the shell, one a line."""

    lines: tuple[str, ...]
    kind: ClassVar[str] = "commands"


@dataclass(frozen=True, slots=True)
class Case:
    """Something that was found: its title, a sentence, notes, a text in lines, and commands.

    A line of the text is broken only if it ``wraps``: others may be drawn in columns.
    """

    title: str
    tone: str
    sentence: str = ""
    notes: tuple[str, ...] = ()
    text: str = ""
    commands: tuple[str, ...] = ()
    is_open: bool = False
    wraps: bool = False
    kind: ClassVar[str] = "case"


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that a page shows when they are asked for."""

    summary: str
    blocks: tuple[Block, ...]
    kind: ClassVar[str] = "fold"


@dataclass(frozen=True, slots=True)
class Panels:
    """Blocks side by side where there is room."""

    blocks: tuple[Block, ...]
    kind: ClassVar[str] = "panels"


Block: TypeAlias = (
    Note | Grid | BarFigure | LineFigure | ColumnFigure | CommandLines | Case | Fold | Panels
)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a report with a title, and an ``id`` that a link can name."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report. ``title`` says what was found, ``counts`` how much was looked at."""

    title: str
    verdict: str
    subject: str
    counts: tuple[tuple[str, int], ...]
    chapters: tuple[Chapter, ...]
