r"""Exact edits of a module's text: a stretch between two offsets becomes something else.

In TLA+ the column of a bullet (``/\`` or ``\/`` in a list) decides what belongs to it. So text
that holds bullets keeps its column when it is moved, if need be on a line of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from krafla.oracle.sources import Place

__all__ = ["Edit", "Kept", "Part", "Source", "one_line", "without_comments"]

_BULLET = re.compile(r"/\\|\\/")
# A comment to the end of its line, or one in brackets (those within it are not told apart).
_COMMENT = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Kept:
    """A stretch of the original text that stands in what replaces it."""

    start: int
    end: int


Part: TypeAlias = str | Kept


@dataclass(frozen=True, slots=True)
class Edit:
    """The text from ``start`` to ``end`` becomes the parts, one after the other."""

    start: int
    end: int
    parts: tuple[Part, ...]


class Source:
    """The text of one module, with the offsets of its places."""

    def __init__(self, text: str) -> None:
        self.text = text
        lengths = (len(line) for line in text.splitlines(keepends=True))
        self._starts = [0, *accumulate(lengths)]

    def start(self, place: Place) -> int:
        """Return the offset of a place's first character."""
        return self._starts[place.line - 1] + place.column - 1

    def end(self, place: Place) -> int:
        """Return the offset after a place's last character."""
        return self._starts[place.end_line - 1] + place.end_column

    def span(self, place: Place) -> Kept:
        """Return the stretch of text at a place."""
        return Kept(self.start(place), self.end(place))

    def at(self, place: Place) -> str:
        """Return the text at a place as it stands there."""
        return self.text[self.start(place) : self.end(place)]

    def edited(self, edit: Edit) -> str:
        """Return the module's text after an edit."""
        written = self.text[: edit.start]
        for part in edit.parts:
            if isinstance(part, str):
                written += part
            else:
                written = self._moved(written, part.start, part.end)
        line_end = self.text.find("\n", edit.end)
        line_end = len(self.text) if line_end < 0 else line_end
        written = self._moved(written, edit.end, line_end)
        return written + self.text[line_end:]

    def _moved(self, written: str, start: int, end: int) -> str:
        """Return the new text; what follows it moves, so that its bullets keep their column."""
        stretch = self.text[start:end]
        column, wanted = _column(written), _column(self.text[:start])
        if column != wanted and _BULLET.search(without_comments(stretch)):
            written += " " * (wanted - column) if column < wanted else "\n" + " " * wanted
        return written + stretch


def _column(text: str) -> int:
    return len(text) - (text.rfind("\n") + 1)


def without_comments(text: str) -> str:
    """Return TLA+ text of the same length, blank where comments were."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def one_line(text: str) -> str:
    """Return TLA+ text on one line, without comments."""
    return " ".join(without_comments(text).split())
