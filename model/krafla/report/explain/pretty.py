"""A long text of TLA+ broken into lines at its brackets and commas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["pretty"]

_WIDTH = 76
# Strings are whole: a bracket in a string opens nothing.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|<<|>>|@@|[\[\](){},]|[^"<>@\[\](){},]+|.', re.DOTALL)
_OPENING = frozenset({"<<", "[", "(", "{"})
_CLOSING = frozenset({">>", "]", ")", "}"})


def pretty(text: str, width: int = _WIDTH) -> str:
    """Return the text in lines: a value that does not fit on one has a line for each member."""
    return "\n".join(_lines(_PIECE.findall(text), width, 0))


def _lines(pieces: list[str], width: int, indent: int) -> Iterator[str]:
    """Yield the lines of some pieces, the members of their first long bracket below each other."""
    line = " " * indent + "".join(pieces).strip()
    found = None if len(line) <= width else _bracket(pieces)
    if found is None:
        yield line
        return
    start, end = found
    yield " " * indent + "".join(pieces[: start + 1]).strip()
    for member in _members(pieces[start + 1 : end]):
        yield from _lines(member, width, indent + 2)
    yield from _lines(pieces[end:], width, indent)


def _bracket(pieces: list[str]) -> tuple[int, int] | None:
    """Return where the first bracket with something inside opens and closes."""
    opened: list[int] = []
    found = []
    for at, piece in enumerate(pieces):
        if piece in _OPENING:
            opened.append(at)
        elif piece in _CLOSING and opened:
            start = opened.pop()
            if at > start + 1 and not opened:
                found.append((start, at))
    return found[0] if found else None


def _members(pieces: list[str]) -> Iterator[list[str]]:
    """Yield what the commas (or ``@@``) outside of inner brackets separate, with the separator."""
    depth, member = 0, []
    for piece in pieces:
        depth += (piece in _OPENING) - (piece in _CLOSING)
        member.append(piece)
        if depth == 0 and piece in {",", "@@"}:
            yield member
            member = []
    if "".join(member).strip():
        yield member
